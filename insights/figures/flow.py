"""Retypes drawn as a flow: a column of types before and after each retype, and bands between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from insights.figures.figure import JOIN, FigureRow, TypeLook, Types, in_order

DRAWN: Final = 2  # retypes of one incident
TALL, GAP, LEAST = 220.0, 26.0, 3.0  # pixels: all incidents of the fullest column, between types, the smallest type
LEFT, RIGHT, WIDE = 0.0, 100.0, 1.2  # per cent


@dataclass(frozen=True, slots=True)
class FlowNode:
    """A type in one column. ``x`` is in per cent, ``y`` and ``height`` in pixels."""

    look: TypeLook
    count: int
    x: float
    y: float
    height: float
    is_last: bool


@dataclass(frozen=True, slots=True)
class FlowBand:
    """A band between two types: its outline in a box of 100 by the chart's height."""

    row: FigureRow
    path: str


@dataclass(frozen=True, slots=True)
class FlowChart:
    """The whole chart; ``left_out`` counts retypes beyond the columns that are drawn."""

    nodes: tuple[FlowNode, ...]
    bands: tuple[FlowBand, ...]
    height: int
    left_out: int


def chart(rows: Sequence[FigureRow], types: Types) -> FlowChart:
    """Lay out the changes in rows whose keys are the number of the retype, the type before and the type after."""
    changes = {(int(turn), before, after): row for row in rows for turn, before, after in [row.key.split(JOIN)]}
    drawn = {key: row for key, row in changes.items() if key[0] <= DRAWN}
    columns = _columns(drawn)
    most = max(1, *(sum(column.values()) for column in columns))
    scale = TALL / most
    nodes: dict[tuple[int, str], FlowNode] = {}
    for place, column in enumerate(columns):
        x = LEFT + place * (RIGHT - WIDE) / max(1, len(columns) - 1)
        y = GAP
        for slug in in_order(column, types):
            height = max(LEAST, column[slug] * scale)
            look = types.get(slug) or TypeLook(slug, slug)
            is_last = place == len(columns) - 1
            nodes[place, slug] = FlowNode(look, column[slug], round(x, 2), round(y, 1), round(height, 1), is_last)
            y += height + GAP
    bottom = max((one.y + one.height for one in nodes.values()), default=0.0)
    left_out = sum(len(row.counted) for key, row in changes.items() if key not in drawn)
    return FlowChart(tuple(nodes.values()), tuple(_bands(drawn, nodes, scale, types)), round(bottom) + 4, left_out)


def _columns(changes: dict[tuple[int, str, str], FigureRow]) -> list[dict[str, int]]:
    """Count each column: what came in, or for the first column what went out."""
    columns: list[dict[str, int]] = [defaultdict(int) for _ in range(1 + max((key[0] for key in changes), default=0))]
    for (turn, before, after), row in changes.items():
        columns[turn][after] += len(row.counted)
        if turn == 1:
            columns[0][before] += len(row.counted)
    return columns


def _bands(
    changes: dict[tuple[int, str, str], FigureRow],
    nodes: dict[tuple[int, str], FlowNode],
    scale: float,
    types: Types,
) -> list[FlowBand]:
    """Stack bands at both of their ends in the order of the types, so that they cross as little as possible."""
    order = {slug: place for place, slug in enumerate(in_order({s for _, *both in changes for s in both}, types))}
    out: dict[tuple[int, str], float] = defaultdict(float)
    into: dict[tuple[int, str], float] = defaultdict(float)
    found = []
    for key in sorted(changes, key=lambda key: (key[0], order[key[1]], order[key[2]])):
        turn, before, after = key
        begin, end = nodes[turn - 1, before], nodes[turn, after]
        thick = max(1.5, len(changes[key].counted) * scale)
        top, bottom = begin.y + out[turn, before], end.y + into[turn, after]
        out[turn, before] += thick
        into[turn, after] += thick
        found.append(FlowBand(changes[key], _outline(begin.x + WIDE, top, end.x, bottom, thick)))
    return found


def _outline(x1: float, y1: float, x2: float, y2: float, thick: float) -> str:
    middle = (x1 + x2) / 2
    there = f"M{x1:.2f} {y1:.1f}C{middle:.2f} {y1:.1f} {middle:.2f} {y2:.1f} {x2:.2f} {y2:.1f}"
    back = f"V{y2 + thick:.1f}C{middle:.2f} {y2 + thick:.1f} {middle:.2f} {y1 + thick:.1f} {x1:.2f} {y1 + thick:.1f}Z"
    return there + back
