"""A flame graph as an SVG for an exported review: its widest boxes, each with its numbers as a tooltip."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from evidence.analysis import colours
from evidence.intake import stored_tree
from evidence.models import Evidence
from evidence.profile import amounts

if TYPE_CHECKING:
    from evidence.drawing.picture import Box
    from evidence.tree.calltree import CallTree

WIDTH, ROW, ROWS = 960, 20, 14
CHARACTER: Final = 6.7  # pixels per character of the label's font


def of(evidence: Evidence) -> str:
    """Draw a profile's tree; the caller has checked that it may be seen and can be drawn."""
    from evidence.drawing import picture

    tree = stored_tree.opened(evidence.tree)
    type = tree.default_type
    drawn = picture.boxes(tree, type=type, width=WIDTH, row=ROW, rows=ROWS)
    height = ROW + max((int(box.y) for box in drawn), default=0)
    boxes = "".join(_box(box, tree, type) for box in drawn)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Flame graph: {escape(evidence.title)}"'
        f' font-family="ui-monospace, Menlo, Consolas, monospace" font-size="11" fill="{colours.INK[0]}">{boxes}</svg>'
    )


def _box(box: Box, tree: CallTree, type: int) -> str:
    whole, unit = tree.total(type) or 1, tree.sample_types[type].unit
    title = escape(f"{box.name} ({amounts.amount(box.total, unit)}, {amounts.share(box.total / whole)})")
    wide = max(0.5, box.width - (0.8 if box.width > 3 else 0))
    room = int((box.width - 8) / CHARACTER)
    shown = box.name if len(box.name) <= room else f"{box.name[: room - 1]}…"
    label = f'<text x="{box.x + 4:.1f}" y="{box.y + 13:g}">{escape(shown)}</text>' if room >= 3 else ""
    return (
        f'<g><title>{title}</title><rect x="{box.x:.1f}" y="{box.y:g}" width="{wide:.1f}" height="{ROW - 1}"'
        f' fill="{box.colour}"/>{label}</g>'
    )
