"""Rows of the table of what moved, in words of one scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evidence.analysis.compare import Moved
    from evidence.analysis.scales import ComparisonScale
    from evidence.tree.calltree import CallTree


@dataclass(frozen=True, slots=True)
class MovedRow:
    """A function: its total and self on each side, by how much both changed, and which way its total went."""

    name: str
    cells: list[tuple[str, str]]
    change: str
    self_change: str
    grew: float = 0
    is_new: bool = False
    is_gone: bool = False


def row(merged: CallTree, one: Moved, *, shown: int, scale: ComparisonScale) -> MovedRow:
    """Return a function's values on every side, and its change from the first to the one that is shown."""
    code, wholes = merged.by_name[one.name], (merged.total(0), merged.total(shown))
    cells = [
        (scale.side(int(merged.function_totals[at, code]), whole), scale.side(int(merged.self_[at, code]), whole))
        for at, whole in enumerate(map(merged.total, range(len(merged.sample_types))))
    ]
    change, own = scale.change(one.total, wholes), scale.change(one.self_, wholes)
    return MovedRow(one.name, cells, change, own, one.by(scale), one.is_new, one.is_gone)


def whole(merged: CallTree, *, shown: int, scale: ComparisonScale) -> MovedRow | None:
    """Return the values of all functions together; for shares there is nothing to say."""
    if not scale.absolute:
        return None
    totals = [merged.total(at) for at in range(len(merged.sample_types))]
    change = scale.change((totals[0], totals[shown]), (totals[0], totals[shown]))
    return MovedRow("", [(scale.side(one, one), "") for one in totals], change, "", totals[shown] - totals[0])
