"""Say in one sentence where a profile's cost is, from exact totals, and what to be careful about. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evidence.analysis import deltas, guards, layers
from evidence.profile import amounts
from evidence.profile.amounts import percent
from evidence.profile.stacks import Codes, Ints, SampleType
from evidence.tree import tree_boxes
from evidence.tree.calltree import ROOT, CallTree

NARROWS = 0.5  # a path is followed down while it keeps at least half of what came in
WORTH = 0.02  # of all: less is not worth a sentence
NEARLY_ALL = 0.97  # of all: what so much passes says little of where the cost is
HOT = 24
PROCESS_FIRST = "perf script"  # the format whose stacks begin with the name of a process
PARTS, PART = 2, 0.1  # functions that a function's cost is told to split into; the least share of it worth telling
Places = NDArray[np.int64]

# What an application is built on: reached in passing, and rarely what anyone can change.
PLUMBING_LAYERS = frozenset({"kernel", "runtime", "idle", "boundary", "root"})
PLUMBING = re.compile(
    r"^(_start|main|__main__|start_thread|__?clone3?|__libc_\w+|_?dl_\w+|\[?unknown\]?|\[[\w./+-]+\]|0x[0-9a-f]+|<module>.*"
    r"|mem(cpy|move|set|cmp|chr)\w*|__mem\w+|str(len|cmp|chr)\w*|_?_?(malloc|calloc|realloc|free|cfree|mmap|munmap)"
    r"|(std|core|alloc|tokio|hyper|futures\w*|tracing\w*|rayon)::.*|<(std|core|alloc|tokio|futures\w*|tracing\w*).*"
    r"|(runtime|sync|syscall|net|net/http|internal/[\w/]+|io|bufio|bytes|strings|strconv|sort|reflect|encoding/\w+|crypto/\w+"
    r"|fmt|time|context|testing|compress/\w+|hash/\w+|math|regexp)\.\(?[*\w].*"
    r"|L?(java|javax|jdk|sun|kotlin|scala|groovy)[./].*|node:.*"
    r"|\((anonymous|program|root|garbage collector)\)|(thread|process) \(?[0-9a-fA-Fx]+\)?:.*"
    r"|.*\((<frozen [\w.]+>|<string>|.*lib/python[\d.]+/(?!site-packages).*)\)?:?\d*\)?)$"
)
NAMELESS = re.compile(r"^(\[?unknown\]?|\[[\w./+-]+\]|0x[0-9a-f]+)$")


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
    warned = tuple(guards.of(tree, type, subject=subject))
    if delta := deltas.of(tree, type):
        return _changed(tree, delta, warned)
    if not total:
        return Sentence(f"It's empty: no {_counted(kind, tree)} at all.", guards=warned)
    code = dominant(tree, type)
    if code is None:
        return Sentence(_flat(tree, type), guards=warned)
    share, own = tree.function_totals[type, code] / total, tree.self_[type, code] / total
    caller = _caller(tree, type, code)
    text = f"{percent(share)} of {_counted(kind, tree)} {_pass(kind)} `{tree.names[code]}` (self {percent(own)})"
    text += f", called from `{caller}`" if caller else ""
    text += _below(tree, type, code) or _split(tree, type, code)
    return Sentence(f"{text}.", tree.names[code], float(share), float(own), caller, warned)


def _flat(tree: CallTree, type: int) -> str:
    """Say that nothing stands out of what is not on nearly every stack."""
    common = tree.function_totals[type].max(initial=0) >= NEARLY_ALL * tree.total(type)
    but = "apart from what nearly everything passes, " if common else ""
    none = f"none has {percent(WORTH)} of {_counted(tree.sample_types[type], tree)}"
    return f"No single function stands out: {but}{none}."


def _changed(tree: CallTree, delta: deltas.Delta, warned: tuple[str, ...]) -> Sentence:
    """Say by how much the whole changed and where, of a profile that is a difference."""
    plumbing = frozenset(code for code in range(len(tree.names)) if is_plumbing(tree, code))
    what = _counted(SampleType(delta.name, delta.unit), tree)
    change = deltas.net(tree, delta)
    sides = [amounts.amount(tree.total(side), delta.unit) for side in (delta.grew, delta.shrank)]
    text = f"A difference: {what} {deltas.signed(change, delta.unit)} net ({sides[0]} grew, {sides[1]} shrank)"
    found = {sign: deltas.most(tree, delta, sign=sign, leave_out=plumbing) for sign in (1, -1)}
    for sign, verb in ((-1, "shrank"), (1, "grew")) if change < 0 else ((1, "grew"), (-1, "shrank")):
        if one := found[sign]:
            text += f"; most {verb} in `{one[0]}` ({deltas.signed(one[1], delta.unit)})"
    first = found[-1 if change < 0 else 1] or found[1] or found[-1]
    return Sentence(f"{text}.", first[0] if first else "", guards=warned)


def dominant(tree: CallTree, type: int) -> int | None:
    """Return the function that the sentence is about, or None when none stands out.

    The heaviest path is followed from the root, and from the heaviest function of the application where the root
    itself branches, as long as it keeps at least half of what came in. The deepest function of the application on
    it is what somebody can change; the runtime and the kernel below it are how it costs.
    """
    path = _down(tree, type, np.array([ROOT]))
    named = _own(tree, type, path)
    if not named or _is_all(tree, type, named[-1]):
        start = _heaviest(tree, type, below=NEARLY_ALL)
        if start is not None:
            below = [start, *_down(tree, type, tree.nodes_of(start))]
            named = _own(tree, type, below) or named
    return next(reversed(named or [code for code in path if not _is_all(tree, type, code)]), _any(tree, type))


def _own(tree: CallTree, type: int, path: Sequence[int]) -> list[int]:
    """Return the functions of the application on a path, as far as they are worth a sentence."""
    least = WORTH * tree.total(type)
    return [code for code in path if tree.function_totals[type, code] >= least and not is_plumbing(tree, code)]


def _any(tree: CallTree, type: int) -> int | None:
    """Return the heaviest function of any kind that is not on nearly every stack, if it is worth a sentence."""
    own, totals = tree.self_[type], tree.function_totals[type]
    for code in np.lexsort((-own, -totals)).tolist():
        if totals[code] < WORTH * tree.total(type):
            return None
        if not _is_all(tree, type, code):
            return int(code)
    return None


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
        if share < NEARLY_ALL and not is_plumbing(tree, code):
            found.append(
                {"name": tree.names[code], "share": share, "self_share": float(tree.self_[type, code] / total)}
            )
    return found


def is_plumbing(tree: CallTree, code: int) -> bool:
    """Tell whether a function belongs to what applications are built on, or stands for a thread."""
    name, hint = tree.names[code], tree.hints[code]
    if PLUMBING.match(layers.bare(name)) or layers.is_thread(name):
        return True
    return layers.layer_of(name, hint) in PLUMBING_LAYERS


def _down(tree: CallTree, type: int, nodes: Places) -> list[int]:
    """Return the functions on the heaviest way down from some nodes, taken as one, while it keeps half of them."""
    path: list[int] = []
    while True:
        inside, _ = tree_boxes.children(tree.first, nodes.astype(np.int32))
        code, most = _most(tree.name[inside], tree.totals[type, inside])
        if most < max(1, NARROWS * int(tree.totals[type, nodes].sum(dtype=np.int64))):
            return path
        path.append(code)
        nodes = inside[tree.name[inside] == code]


def _up(tree: CallTree, type: int, nodes: Places) -> list[int]:
    """Return the functions on the heaviest way up from some nodes, while it keeps half of what they count."""
    path: list[int] = []
    weights = tree.totals[type, nodes].astype(np.int64)
    while True:
        above = tree.parent[nodes].astype(np.int64)
        there = above != ROOT
        code, most = _most(tree.name[above[there]], weights[there])
        if most < max(1, NARROWS * int(weights.sum())):
            return path
        path.append(code)
        on = there & (tree.name[above] == code)
        nodes, weights = above[on], weights[on]


def _most(codes: Codes, weights: Ints) -> tuple[int, int]:
    """Return the function that counts most, and how much; of equals the first by name."""
    if not len(codes):
        return 0, 0
    known, place = np.unique(codes, return_inverse=True)
    sums = np.zeros(len(known), dtype=np.int64)
    np.add.at(sums, place, weights.astype(np.int64))
    return int(known[np.argmax(sums)]), int(sums.max())


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
    return bool(alone and tree.function_totals[type, code] >= NEARLY_ALL * tree.total(type))


def _caller(tree: CallTree, type: int, code: int) -> str:
    """Return who mostly calls a function, past itself and past plumbing; empty when no function does."""
    processes = set(tree.name[tree.first[ROOT] : tree.first[1]].tolist()) if tree.format == PROCESS_FIRST else set()
    for above in _up(tree, type, tree.nodes_of(code)):
        if above != code and above not in processes and not is_plumbing(tree, above):
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
    kernel = {n for at, n in enumerate(tree.names) if layers.is_kernel(n, tree.hints[at])}
    inside = half.search(kernel.__contains__, type=type).total if kernel else 0
    return f"; {percent(inside / whole)} in the kernel" if inside >= NARROWS * total else ""


def _split(tree: CallTree, type: int, code: int) -> str:
    """Say what a function that does little itself calls most: the largest two functions, where each matters."""
    total, whole = int(tree.function_totals[type, code]), tree.total(type)
    if tree.self_[type, code] >= NARROWS * total:
        return ""
    inside, _ = tree_boxes.children(tree.first, tree.nodes_of(code).astype(np.int32))
    known, place = np.unique(tree.name[inside], return_inverse=True)
    sums = np.zeros(len(known), dtype=np.int64)
    np.add.at(sums, place, tree.totals[type, inside].astype(np.int64))
    most = [(int(known[at]), int(sums[at])) for at in np.argsort(-sums, kind="stable") if sums[at] >= PART * total]
    named = [(callee, value) for callee, value in most if callee != code and not NAMELESS.match(tree.names[callee])]
    said = [f"{percent(value / whole)} in `{tree.names[callee]}`" for callee, value in named[:PARTS]]
    return f"; below it, {' and '.join(said)}" if said else ""


def _counted(kind: SampleType, tree: CallTree) -> str:
    """Name what is counted: *CPU samples*, *CPU time*, *bytes allocated*."""
    kind = SampleType(kind.name, FRACTION.sub("", kind.unit))
    ticks = CPU_EVENT.match(kind.name)
    if ticks:
        where = f" of {ticks[1]}" if ticks[1] else ""
        return f"CPU {kind.unit.replace('nanoseconds', 'time').replace('events', 'cycles')}{where}"
    return KNOWN.get((kind.name, kind.unit)) or _plainly(_spaced(kind.name), kind)


def _spaced(name: str) -> str:
    """Write a name in words, except that of a tracepoint, which is looked up as it is: *sched:sched_switch*."""
    return name if ":" in name else name.replace("_", " ")


def _plainly(name: str, kind: SampleType) -> str:
    """Name what has no name of its own by its sample type and unit."""
    unit = kind.unit
    if name.endswith(f" {unit}"):
        return name
    if unit == "nanoseconds":
        return name if "time" in name else f"{name.removeprefix('samples')} time".lstrip()
    if unit in {"samples", "count"}:
        return "samples" if name in {"samples", ""} else f"{name} samples".replace("samples samples", "samples")
    if unit == "events":
        return "events" if name in {"count", "events"} else f"{kind.name} events"
    if unit == "objects":
        return name if name.endswith("s") else f"{name} objects"
    return name if unit == name else f"{unit} of {name}"


# What perf calls its clocks and cycle counters; the group names the kind of core of a hybrid processor.
CPU_EVENT = re.compile(r"^(?:(cpu_\w+)/)?(?:cpu-clock|task-clock|cycles|cpu-cycles)(?:[:/]\w*)?(?: samples)?$")
# Counts that are not whole are kept in fractions, which shares have nothing to do with.
FRACTION = re.compile(r"^(thousand|million|billion)ths of ")
KNOWN = {
    ("cpu", "nanoseconds"): "CPU time",
    ("cpu_time", "nanoseconds"): "CPU time",
    ("cpu", "samples"): "CPU samples",
    ("samples", "samples"): "samples",
    ("samples", "objects"): "samples",
    ("wall", "nanoseconds"): "wall time",
    ("off_cpu", "nanoseconds"): "off-CPU time",
    ("alloc_space", "bytes"): "allocated bytes",
    ("alloc_objects", "objects"): "allocations",
    ("inuse_space", "bytes"): "bytes in use",
    ("inuse_objects", "objects"): "objects in use",
    ("freed memory", "bytes"): "bytes of memory freed",
    ("Ir", "events"): "instructions",
    ("contentions", "contentions"): "contentions",
    ("delay", "nanoseconds"): "wait time",
    ("goroutine", "goroutines"): "goroutines",
    ("threadcreate", "threads"): "threads",
}


def _pass(kind: SampleType) -> str:
    return "is spent in" if kind.unit == "nanoseconds" else "pass through"


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
