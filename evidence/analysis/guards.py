"""Guards: numbers in a profile that are right and still mislead. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

import numpy as np

from evidence.analysis import layers
from evidence.profile import amounts
from evidence.profile.amounts import percent
from evidence.profile.stacks import SampleType
from evidence.tree.calltree import ROOT, CallTree

FEW = 100  # samples
COUNTS = SampleType("count", "events")  # for a file without a unit: mostly samples, and as imprecise if there are few
IDLE_SHARE = 0.3  # of all
EACH = ("events", "contentions")  # counts of occurrences, alongside their duration
WALL = {"wall", "off_cpu"}
EXPLAINS = 0.25  # of the elapsed time
# Where the stacks of Go's mutex profile end: it charges a wait to the holder of the lock, at the release.
RELEASES = re.compile(r"((internal/)?sync\.\(\*(RW)?Mutex\)\.R?[uU]nlock(Slow)?|runtime\.unlock\w*)$")
HIDE = " Hide idle frames to see the rest."


def of(tree: CallTree, type: int, *, subject: str = "") -> Iterator[str]:
    """Yield the guards; ``subject`` is text that may name the process that matters."""
    total, kind = tree.total(type), tree.sample_types[type]
    if is_rough(tree, type):
        yield f"Only {amounts.amount(_samples(tree, type) or 0, _counted_in(tree, type))}, so percentages are rough."
    yield from _few_of_subject(tree, type, subject)
    idle = _idle(tree, type)
    if total and idle / total >= IDLE_SHARE:
        yield f"{amounts.first(percent(idle / total))} of it is idle.{HIDE}"
    if kind.name in WALL and kind.unit in {"nanoseconds", "samples"}:
        are = "times, not samples" if kind.unit == "nanoseconds" else "samples"
        yield f"These are wall-clock {are}, so waiting counts too."
    yield from _sleeps(tree, type)
    if is_of_holders(tree, type):
        yield "These are stacks that released a lock others waited for. Who waited is in a block profile."
    if tree.about.get("rounded"):
        yield "The file has rounded values, so totals are a little off. `go tool pprof -raw` prints exact ones."
    if caution := tree.about.get("caution"):
        yield str(caution)
    if tree.about.get("estimated"):
        yield "Call paths are estimated from which function calls which. What each costs itself is exact."


def is_of_holders(tree: CallTree, type: int) -> bool:
    """Return whether waits are charged to the holder of the lock, as in Go's mutex profile, and not to the waiter."""
    if tree.sample_types[type].name not in {"delay", "contentions"}:
        return False
    return tree.search(lambda name: RELEASES.match(name) is not None, type=type).share > 0.5


def is_rough(tree: CallTree, type: int) -> bool:
    """Return whether there are so few samples that digits after a whole percentage mean nothing."""
    return 0 < (_samples(tree, type) or 0) < FEW


def _samples(tree: CallTree, type: int) -> int | None:
    """Return how many samples there are, or bare counts of something, if the profile counts them."""
    column = _column_of_samples(tree, type)
    return None if column is None else tree.total(column)


def _counted_in(tree: CallTree, type: int) -> str:
    column = _column_of_samples(tree, type)
    return tree.sample_types[type if column is None else column].unit


def _column_of_samples(tree: CallTree, type: int) -> int | None:
    """Return the sample type that counts the samples of ``type``: itself, its event's own, or one that includes them.

    A recording may hold unrelated events: CPU samples do not count the waits for a lock.
    """
    kinds = tree.sample_types
    kind = kinds[type]
    if (
        kind.unit in {"samples", "contentions"}
        or kind == COUNTS
        or any(kind.name == f"{one.name}_{kind.unit}" for one in kinds)
    ):
        return type
    named = {f"{kind.name} samples", *(f"{kind.name}_{word}" for word in EACH)}
    named |= {"contentions"} if kind.name == "delay" else set()  # Go's name for both
    own = (at for at, one in enumerate(kinds) if one.name in named)
    others = (at for at, one in enumerate(kinds) if one.unit == "samples" and _counts_all_of(tree, at, type))
    return next(chain(own, others), None)


def _counts_all_of(tree: CallTree, column: int, type: int) -> bool:
    """Return whether one sample type counts something wherever the other does."""
    return not np.any((tree.totals[type] > 0) & (tree.totals[column] == 0))


def _few_of_subject(tree: CallTree, type: int, subject: str) -> Iterator[str]:
    """Warn if the process that a title names has next to no samples of its own."""
    words = {word.casefold() for word in re.findall(r"[\w.-]{3,}", subject)}
    low, high = int(tree.first[ROOT]), int(tree.first[1])
    column = _column_of_samples(tree, type)
    if column is None or not words or high - low < 2:
        return
    total, unit = tree.total(column), tree.sample_types[column].unit
    for node in range(low, min(high, low + 1000)):
        value, name = tree.total(column, node), tree.name_of(node)
        if name.casefold() in words and 0 < value < FEW and value < 0.1 * total:
            yield f"Only {value:,} of {total:,} {unit} {'is' if value == 1 else 'are'} of `{name}`: too few to trust."


def _idle(tree: CallTree, type: int) -> int:
    """Return what lies under idle frames, each sample once, and threads' own time."""
    names = {code for code, name in enumerate(tree.names) if layers.is_idle(name, tree.hints[code])}
    idle = tree.search(lambda name: tree.by_name[name] in names, type=type).total if names else 0
    threads = [code for code, name in enumerate(tree.names) if layers.is_thread(name)]
    return idle + int(tree.self_[type, threads].sum()) if threads else idle


def _sleeps(tree: CallTree, type: int) -> Iterator[str]:
    """Warn if an on-CPU profile explains little of the elapsed time."""
    kind, wall = tree.sample_types[type], int(tree.about.get("duration_ns") or 0)
    if wall and kind.unit == "nanoseconds" and kind.name in {"cpu", "cpu_time"} and tree.total(type) < EXPLAINS * wall:
        yield (
            f"It explains {percent(tree.total(type) / wall)} of the elapsed time; the rest was mostly waiting. "
            "An off-CPU profile would show on what."
        )
