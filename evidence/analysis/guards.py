"""What to be careful about in a profile: numbers that are right and still mislead. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.analysis import layers
from evidence.profile import amounts
from evidence.profile.amounts import percent
from evidence.profile.stacks import SampleType
from evidence.tree.calltree import ROOT, CallTree

FEW = 100  # samples
COUNTS = SampleType("count", "events")  # of a file that says no unit: mostly samples, and as rough when there are few
IDLE_SHARE = 0.3  # of all
WALL = {"wall", "off_cpu"}
EXPLAINS = 0.25  # of the time that passed
HIDE = " Hide idle frames to see the rest."


def of(tree: CallTree, type: int, *, subject: str = "") -> Iterator[str]:
    """Yield what to be careful about; ``subject`` are words that may name the process which matters."""
    total, kind = tree.total(type), tree.sample_types[type]
    if is_rough(tree, type):
        yield f"Only {amounts.amount(_samples(tree, type) or 0, _counted_in(tree, type))}, so percentages are rough."
    yield from _few_of_subject(tree, type, subject)
    idle = _idle(tree, type)
    if total and idle / total >= IDLE_SHARE:
        yield f"{percent(idle / total)} of it is idle.{HIDE}"
    if kind.name in WALL and kind.unit in {"nanoseconds", "samples"}:
        are = "times, not samples" if kind.unit == "nanoseconds" else "samples"
        yield f"These are wall-clock {are}, so waiting counts too."
    yield from _sleeps(tree, type)
    if tree.about.get("rounded"):
        yield "The file has rounded values, so totals are a little off. `go tool pprof -raw` prints exact ones."
    if caution := tree.about.get("caution"):
        yield str(caution)
    if tree.about.get("estimated"):
        yield "Call paths are estimated from which function calls which. What each costs itself is exact."


def is_rough(tree: CallTree, type: int) -> bool:
    """Return whether there are so few samples that a digit after a whole percentage means nothing."""
    return 0 < (_samples(tree, type) or 0) < FEW


def _samples(tree: CallTree, type: int) -> int | None:
    """Return how many samples there are, or bare counts of something, where the profile counts them."""
    column = _column_of_samples(tree, type)
    if column is None and tree.sample_types[type] == COUNTS:
        column = type
    return None if column is None else tree.total(column)


def _counted_in(tree: CallTree, type: int) -> str:
    return "samples" if _column_of_samples(tree, type) is not None else COUNTS.unit


def _column_of_samples(tree: CallTree, type: int) -> int | None:
    """Return the sample type that counts the samples of ``type``: itself, its event's own, or the profile's first."""
    kinds = tree.sample_types
    counts = [at for at, one in enumerate(kinds) if one.unit == "samples"]
    own = [at for at in counts if at == type or kinds[at].name == f"{kinds[type].name} samples"]
    return next(iter([*own, *counts]), None)


def _few_of_subject(tree: CallTree, type: int, subject: str) -> Iterator[str]:
    """Warn when the process that a title names has next to no samples of its own."""
    words = {word.casefold() for word in re.findall(r"[\w.-]{3,}", subject)}
    low, high = int(tree.first[ROOT]), int(tree.first[1])
    samples = _column_of_samples(tree, type)
    column = type if samples is None else samples
    total = tree.total(column)
    for node in range(low, min(high, low + 1000)) if words and high - low > 1 else ():
        value, name = tree.total(column, node), tree.name_of(node)
        if name.casefold() in words and 0 < value < FEW and value < 0.1 * total:
            yield f"Only {value:,} of {total:,} samples {'is' if value == 1 else 'are'} of `{name}`: too few to trust."


def _idle(tree: CallTree, type: int) -> int:
    """Return what lies under frames that stand for idleness, each sample once, and threads' own time."""
    names = {code for code, name in enumerate(tree.names) if layers.is_idle(name, tree.hints[code])}
    idle = tree.search(lambda name: tree.by_name[name] in names, type=type).total if names else 0
    threads = [code for code, name in enumerate(tree.names) if layers.is_thread(name)]
    return idle + int(tree.self_[type, threads].sum()) if threads else idle


def _sleeps(tree: CallTree, type: int) -> Iterator[str]:
    """Warn when an on-CPU profile explains little of the time that passed."""
    kind, wall = tree.sample_types[type], int(tree.about.get("duration_ns") or 0)
    if wall and kind.unit == "nanoseconds" and kind.name in {"cpu", "cpu_time"} and tree.total(type) < EXPLAINS * wall:
        yield (
            f"It explains {percent(tree.total(type) / wall)} of the elapsed time; the rest was mostly waiting. "
            "An off-CPU profile would show on what."
        )
