"""One type against another: a table whose cells are shaded by their count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from insights.figures.figure import JOIN, FigureRow, TypeLook, Types, in_order

SHADES: Final = 5


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A cell: the row behind it, its shade, and whether both types are the same."""

    row: FigureRow | None
    shade: int
    is_same: bool


@dataclass(frozen=True, slots=True)
class MatrixChart:
    """All cells, by rows."""

    columns: tuple[TypeLook, ...]
    rows: tuple[tuple[TypeLook, tuple[MatrixCell, ...], int], ...]


def chart(rows: Sequence[FigureRow], types: Types) -> MatrixChart:
    """Lay out pairs: the keys of rows are both types."""
    pairs = {tuple(row.key.split(JOIN)): row for row in rows}
    firsts, lasts = (in_order({key[place] for key in pairs}, types) for place in (0, 1))
    most = max((len(row.counted) for row in rows), default=1)
    found = []
    for first in firsts:
        cells = tuple(_cell(pairs.get((first, last)), most, is_same=first == last) for last in lasts)
        found.append((_look(first, types), cells, sum(len(one.row.counted) for one in cells if one.row)))
    return MatrixChart(tuple(_look(slug, types) for slug in lasts), tuple(found))


def _cell(row: FigureRow | None, most: int, *, is_same: bool) -> MatrixCell:
    count = len(row.counted) if row else 0
    return MatrixCell(row, math.ceil(SHADES * count / most) if count else 0, is_same)


def _look(slug: str, types: Types) -> TypeLook:
    return types.get(slug) or TypeLook(slug, slug)
