"""Say in one sentence where a profile's cost is, from exact totals, and what to be careful about. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evidence import amounts, layers
from evidence.calltree import ROOT, CallTree
from evidence.stacks import SampleType

NARROWS = 0.5  # a path is followed down while it keeps at least half of what came in
WORTH = 0.02  # of all: less is not worth a sentence
FEW = 100
IDLE_SHARE = 0.3
EXPLAINS = 0.25
HOT = 24

# What an application is built on: reached in passing, and rarely what anyone can change.
PLUMBING_LAYERS = frozenset({"kernel", "runtime", "idle", "boundary", "root"})
PLUMBING = re.compile(
    r"^(_start|main|__main__|start_thread|__?clone3?|__libc_\w+|_?dl_\w+|\[?unknown\]?|\[[\w./+-]+\]|0x[0-9a-f]+|<module>.*"
    r"|mem(cpy|move|set|cmp|chr)\w*|__mem\w+|str(len|cmp|chr)\w*|_?_?(malloc|calloc|realloc|free|cfree|mmap|munmap)"
    r"|(std|core|alloc|tokio|hyper|futures\w*|tracing\w*|rayon)::.*|<(std|core|alloc|tokio|futures\w*|tracing\w*).*"
    r"|(runtime|sync|syscall|net|net/http|internal/[\w/]+|io|bufio|bytes|strings|strconv|sort|reflect|encoding/\w+|crypto/\w+"
    r"|fmt|time|context|testing|compress/\w+|hash/\w+|math|regexp)\.\(?[*\w].*"
    r"|L?(java|javax|jdk|sun|kotlin|scala|groovy)[./].*|node:.*"
    r"|\((anonymous|program|root|garbage collector)\)"
    r"|.*\((<frozen [\w.]+>|<string>|.*lib/python[\d.]+/(?!site-packages).*)\)?:?\d*\)?)$"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is said of a sample type: ``text`` for people, and the function it is about with its shares of all."""

    text: str
    function: str = ""
    share: float = 0.0
    self_share: float = 0.0
    caller: str = ""
    guards: tuple[str, ...] = ()


def of(tree: CallTree, *, type: int | None = None, subject: str = "") -> Sentence:
    """Say where the cost is; ``subject`` are words (a title, a service) that may name the process that matters."""
    type = tree.default_type if type is None else type
    total = tree.total(type)
    kind = tree.sample_types[type]
    guards = tuple(_guards(tree, type, subject))
    if not total:
        return Sentence(f"There is nothing in it: no {_counted(kind, tree)} at all.", guards=guards)
    code = dominant(tree, type)
    if code is None:
        return Sentence(
            f"No function stands out: none holds {WORTH:.0%} of {_counted(kind, tree)} by itself.".replace("%", " %"),
            guards=guards,
        )
    share, own = tree.function_totals[type, code] / total, tree.self_[type, code] / total
    caller = _caller(tree, type, code)
    text = f"{percent(share)} of {_counted(kind, tree)} {_pass(kind)} `{tree.names[code]}` (self {percent(own)})"
    text += f", called from `{caller}`" if caller else ""
    text += _below(tree, type, code)
    return Sentence(f"{text}.", tree.names[code], float(share), float(own), caller, guards)


def dominant(tree: CallTree, type: int) -> int | None:
    """Return the function that the sentence is about, or None when none stands out.

    The heaviest path is followed from the root, and from the heaviest function of the application where the root
    itself branches, as long as it keeps at least half of what came in. The deepest function of the application on
    it is what somebody can change; the runtime and the kernel below it are how it costs.
    """
    total = tree.total(type)
    path = _followed(tree, type, ROOT)
    named = [code for code in path if not is_plumbing(tree, code)]
    if not named or _is_all(tree, type, named[-1]):
        start = _heaviest(tree, type, below=0.97)
        if start is not None:
            half = tree.callees(start)
            named = [code for code in _followed(half, type, ROOT) if not is_plumbing(tree, code)] or named or [start]
    if not named:
        named = [code for code in path if not _is_all(tree, type, code)][-1:]
    best = named[-1] if named else None
    return best if best is not None and tree.function_totals[type, best] >= WORTH * total else None


def hot(tree: CallTree, *, type: int | None = None) -> list[dict[str, float | str]]:
    """Return the functions by which a profile is found again: name, share, self_share; plumbing left out."""
    type = tree.default_type if type is None else type
    total = tree.total(type)
    if not total:
        return []
    order = np.argsort(-tree.function_totals[type], kind="stable")[: HOT * 20]
    found: list[dict[str, float | str]] = []
    for code in order.tolist():
        share = float(tree.function_totals[type, code] / total)
        if share < WORTH or len(found) == HOT:
            break
        if share < 0.97 and not is_plumbing(tree, code):
            found.append(
                {"name": tree.names[code], "share": share, "self_share": float(tree.self_[type, code] / total)}
            )
    return found


def is_plumbing(tree: CallTree, code: int) -> bool:
    """Tell whether a function belongs to what applications are built on, or stands for a thread."""
    name, hint = tree.names[code], tree.hints[code]
    if PLUMBING.match(layers.SUFFIX.sub("", name)) or layers.is_thread(name):
        return True
    return layers.layer_of(name, hint) in PLUMBING_LAYERS


def percent(share: float) -> str:
    """Write a share as people read it: whole above ten, one decimal below, never a false zero."""
    value = 100 * share
    if 0 < value < 0.1:
        return "under 0.1 %"
    return f"{value:.0f} %" if value >= 9.95 or value == 0 else f"{value:.1f} %".replace(".0 %", " %")


def _followed(tree: CallTree, type: int, node: int) -> list[int]:
    path: list[int] = []
    while True:
        low, high = int(tree.first[node]), int(tree.first[node + 1])
        if low == high:
            return path
        heaviest = low + int(np.argmax(tree.totals[type, low:high]))
        if int(tree.totals[type, heaviest]) < NARROWS * tree.total(type, node):
            return path
        path.append(int(tree.name[heaviest]))
        node = heaviest


def _heaviest(tree: CallTree, type: int, *, below: float) -> int | None:
    """Return the heaviest function of the application that is not on nearly every stack."""
    most = below * tree.total(type)
    for code in np.argsort(-tree.function_totals[type], kind="stable").tolist():
        value = tree.function_totals[type, code]
        if value < WORTH * tree.total(type):
            return None
        if value <= most and not is_plumbing(tree, code):
            return int(code)
    return None


def _is_all(tree: CallTree, type: int, code: int) -> bool:
    alone = tree.self_[type, code] < 0.5 * tree.function_totals[type, code]
    return bool(alone and tree.function_totals[type, code] >= 0.97 * tree.total(type))


def _caller(tree: CallTree, type: int, code: int) -> str:
    """Return who mostly calls a function, past itself and past plumbing; empty when nobody does."""
    half = tree.callers(code)
    if not len(half) > 1:
        return ""
    node = int(half.first[ROOT])
    for above in _followed(half, type, node):
        if above != code and not is_plumbing(tree, above):
            return tree.names[above]
    return ""


def _below(tree: CallTree, type: int, code: int) -> str:
    """Say in which plumbing most of a function's cost ends: one function of it, or the kernel as a whole."""
    total, whole = int(tree.function_totals[type, code]), tree.total(type)
    if tree.self_[type, code] >= NARROWS * total:
        return ""
    half = tree.callees(code)
    place = int(np.argmax(half.self_[type]))
    value = int(half.self_[type, place])
    if place != code and value >= NARROWS * total:
        return f"; {percent(value / whole)} end in `{tree.names[place]}`"
    kernel = {n for at, n in enumerate(tree.names) if layers.layer_of(n, tree.hints[at]) == "kernel"}
    inside = half.search(kernel.__contains__, type=type).total if kernel else 0
    return f"; {percent(inside / whole)} in the kernel" if inside >= NARROWS * total else ""


def _counted(kind: SampleType, tree: CallTree) -> str:
    """Name what is counted: *CPU samples*, *CPU time*, *bytes allocated*."""
    name, unit = kind.name.replace("_", " "), kind.unit
    ticks = CPU_EVENT.match(kind.name)
    if ticks:
        where = f" of {ticks[1]}" if ticks[1] else ""
        return f"CPU {unit.replace('nanoseconds', 'time').replace('events', 'cycles')}{where}"
    known = KNOWN.get((kind.name, unit))
    if known:
        return known
    if unit == "nanoseconds":
        return name if "time" in name else f"{name.removeprefix('samples')} time".lstrip()
    if unit in {"samples", "count"}:
        return "samples" if name in {"samples", ""} else f"{name} samples".replace("samples samples", "samples")
    if unit == "events":
        return f"{kind.name} events"
    return name if unit in {name, "objects"} else f"{unit} of {name}"


# What perf calls its clocks and cycle counters; the group names the kind of core of a hybrid processor.
CPU_EVENT = re.compile(r"^(?:(cpu_\w+)/)?(?:cpu-clock|task-clock|cycles|cpu-cycles)(?:[:/]\w*)?(?: samples)?$")
KNOWN = {
    ("cpu", "nanoseconds"): "CPU time",
    ("cpu", "samples"): "CPU samples",
    ("samples", "samples"): "samples",
    ("samples", "objects"): "samples",
    ("wall", "nanoseconds"): "wall time",
    ("off_cpu", "nanoseconds"): "off-CPU time",
    ("alloc_space", "bytes"): "allocated bytes",
    ("alloc_objects", "objects"): "allocations",
    ("inuse_space", "bytes"): "bytes in use",
    ("inuse_objects", "objects"): "objects in use",
    ("contentions", "contentions"): "contentions",
    ("delay", "nanoseconds"): "time waited for locks",
    ("goroutine", "goroutines"): "goroutines",
    ("threadcreate", "threads"): "threads",
}


def _pass(kind: SampleType) -> str:
    return "is spent in" if kind.unit == "nanoseconds" else "pass through"


def _guards(tree: CallTree, type: int, subject: str) -> Iterable[str]:
    total, kind = tree.total(type), tree.sample_types[type]
    samples = _samples(tree, type)
    if samples is not None and 0 < samples < FEW:
        yield f"Only {amounts.amount(samples, 'samples')}: the shares are rough."
    yield from _few_of_subject(tree, type, subject)
    idle = _idle(tree, type)
    if total and idle / total >= IDLE_SHARE:
        yield f"{percent(idle / total)} of it is idle: look at the rest, or hide idle."
    if kind.unit == "nanoseconds" and kind.name in {"wall", "off_cpu"}:
        yield "These are times, not samples; waiting counts too."
    yield from _sleeps(tree, type)
    yield from _differs(tree, type)


def _samples(tree: CallTree, type: int) -> int | None:
    """Return how many samples there are, where the profile counts them."""
    column = _column_of_samples(tree, type)
    return None if column is None else tree.total(column)


def _column_of_samples(tree: CallTree, type: int) -> int | None:
    """Return the sample type that counts the samples of ``type``: itself, its event's own, or the profile's first."""
    kinds = tree.sample_types
    counts = [at for at, one in enumerate(kinds) if one.unit == "samples"]
    own = [at for at in counts if at == type or kinds[at].name == f"{kinds[type].name} samples"]
    return next(iter([*own, *counts]), None)


def _few_of_subject(tree: CallTree, type: int, subject: str) -> Iterable[str]:
    """Warn when the process that a title names has next to no samples of its own."""
    words = {word.casefold() for word in re.findall(r"[\w.-]{3,}", subject)}
    low, high = int(tree.first[ROOT]), int(tree.first[1])
    samples = _column_of_samples(tree, type)
    column = type if samples is None else samples
    total = tree.total(column)
    for node in range(low, min(high, low + 1000)) if words and high - low > 1 else ():
        value, name = tree.total(column, node), tree.name_of(node)
        if name.casefold() in words and 0 < value < FEW and value < 0.1 * total:
            yield f"Only {value:,} of {total:,} samples {'is' if value == 1 else 'are'} of `{name}`: they say little."


def _idle(tree: CallTree, type: int) -> int:
    """Return what lies under frames that stand for idleness, each sample once, and threads' own time."""
    names = {code for code, name in enumerate(tree.names) if layers.is_idle(name, tree.hints[code])}
    idle = tree.search(lambda name: tree.by_name[name] in names, type=type).total if names else 0
    threads = [code for code, name in enumerate(tree.names) if layers.is_thread(name)]
    return idle + int(tree.self_[type, threads].sum()) if threads else idle


def _sleeps(tree: CallTree, type: int) -> Iterable[str]:
    """Warn when an on-CPU profile explains little of the time that passed."""
    kind, wall = tree.sample_types[type], int(tree.about.get("duration_ns") or 0)
    if wall and kind.unit == "nanoseconds" and kind.name == "cpu" and tree.total(type) < EXPLAINS * wall:
        yield (
            f"It explains {percent(tree.total(type) / wall)} of the time that passed: mostly it slept or waited. "
            "An off-CPU profile would say for what."
        )


def _differs(tree: CallTree, type: int) -> Iterable[str]:
    """Warn when the profile is a difference, whose values below zero count as none."""
    negative = [int(one) for one in tree.about.get("negative", [])]
    if len(negative) > type and negative[type]:
        away = amounts.amount(-negative[type], tree.sample_types[type].unit)
        yield f"It is a difference, and only what grew is shown: {away} that it takes away are left out."


def plain(sentence: Sentence) -> dict[str, str | float | Sequence[str]]:
    """Return a sentence as plain values, for storage."""
    return {
        "text": sentence.text,
        "function": sentence.function,
        "share": sentence.share,
        "self_share": sentence.self_share,
        "caller": sentence.caller,
        "guards": list(sentence.guards),
    }
