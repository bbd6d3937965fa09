"""A flame graph as a standalone SVG: no scripts, no external styles, every frame's numbers in its title. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from evidence.analysis import colours
from evidence.drawing import picture, short_names
from evidence.profile import amounts
from evidence.tree.calltree import CallTree

WIDTH, MARGIN, ROW, HEAD = 1600, 20, 19, 84
CHARACTER = 7.3  # width in pixels of a character in the label's font


def svg(tree: CallTree, *, title: str, says: str, type: int | None = None) -> str:
    """Return an SVG of the widest boxes, root on top."""
    type = tree.default_type if type is None else type
    drawn = picture.boxes(tree, type=type, width=WIDTH - 2 * MARGIN, row=ROW)
    height = HEAD + MARGIN + ROW + max((round(box.y) for box in drawn), default=0)
    return "\n".join(_parts(tree, drawn, title=title, says=says.replace("`", ""), type=type, height=height))


def _parts(tree: CallTree, drawn: list[picture.Box], *, title: str, says: str, type: int, height: int) -> Iterator[str]:
    unit, whole = tree.sample_types[type].unit, tree.total(type) or 1
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        f' role="img" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12" fill="{colours.INK[0]}">'
    )
    yield f"<title>{_text(title)}</title><desc>{_text(says)}</desc>"
    yield f'<rect width="100%" height="100%" fill="{colours.PAPER[0]}"/>'
    yield f'<text x="{MARGIN}" y="32" font-size="20" font-weight="bold" font-family="sans-serif">{_text(title)}</text>'
    yield f'<text x="{MARGIN}" y="60" font-size="15" font-family="sans-serif">{_text(says)}</text>'
    for box in drawn:
        yield from _box(box, f"{amounts.amount(box.total, unit)}, {amounts.share(box.total / whole)}")
    yield "</svg>"


def _box(box: picture.Box, counts: str) -> Iterator[str]:
    x, y = MARGIN + box.x, HEAD + box.y
    wide = max(0.5, box.width - (0.7 if box.width > 3 else 0))
    yield f"<g><title>{_text(box.name)} ({counts})</title>"
    yield f'<rect x="{x:.1f}" y="{y:g}" width="{wide:.1f}" height="{ROW - 1}" fill="{box.colour}"/>'
    room = int((box.width - 8) / CHARACTER)
    if room >= 3:
        less = box.name if len(box.name) <= room else short_names.short(box.name)
        shown = less if len(less) <= room else less[: room - 1] + "…"
        yield f'<text x="{x + 4:.1f}" y="{y + 13:g}">{_text(shown)}</text>'
    yield "</g>"


def _text(text: str) -> str:
    """Escape a text for XML, without characters that XML does not allow."""
    kept = "".join(one if one >= " " and one not in "\ufffe\uffff" else " " for one in text)
    return escape(kept.encode("utf-8", "replace").decode())
