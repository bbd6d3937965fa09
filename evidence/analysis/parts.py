"""What a profile consists of besides its stacks: threads and labels, each with its part. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree

SHOWN = 12


@dataclass(frozen=True, slots=True)
class PartRow:
    """One thread or one label value, and what it counts."""

    name: str
    value: int
    share: float


@dataclass(frozen=True, slots=True)
class Part:
    """One way to split a profile; ``unit`` is what its values count, ``more`` rows are not shown."""

    title: str
    unit: str
    rows: tuple[PartRow, ...]
    more: int


def of(tree: CallTree, *, type: int) -> list[Part]:
    """Return the labels of one sample type, and the threads by samples, largest first; none with a single value."""
    labels = tree.about.get("labels", {})
    parts = [_threads(tree), *(_label(tree, key, values, type) for key, values in labels.items())]
    return [part for part in parts if part.rows]


def _threads(tree: CallTree) -> Part:
    threads = {str(name): int(count) for name, count in tree.about.get("threads", {}).items()}
    return _part("Threads", "samples", threads if len(threads) > 1 else {}, sum(threads.values()))


def _label(tree: CallTree, key: str, values: dict[str, list[int]], type: int) -> Part:
    counted = {str(value): int(totals[type]) for value, totals in values.items() if len(totals) > type and totals[type]}
    of = max(
        tree.total(type), sum(counted.values())
    )  # in a difference, one value may have grown by what another shrank
    return _part(f"Label {key}", tree.sample_types[type].unit, counted, of)


def _part(title: str, unit: str, counted: dict[str, int], total: int) -> Part:
    largest = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    rows = tuple(PartRow(name, value, value / total if total else 0.0) for name, value in largest[:SHOWN])
    return Part(title, unit, rows, len(largest) - len(rows))
