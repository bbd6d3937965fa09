"""A flame graph as a picture for chat: title, sentence, graph and legend, readable at half its size.

Pillow is imported lazily.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from evidence.analysis import colours, layers
from evidence.drawing import short_names
from evidence.profile import amounts
from evidence.tree.calltree import ROOT, CallTree

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

WIDTH, HEIGHT = 1600, 800
MARGIN, ROW, BUDGET = 40, 30, 2_500
SIZES = {"title": 42, "says": 31, "label": 19, "foot": 21}
SOFT, LINE = "#655d55", "#dcd7cf"
COMMON = 0.97  # callers that hold nearly everything are skipped if there are few rows
OFTEN = 6  # layers in the legend


@dataclass(frozen=True, slots=True)
class Box:
    """One rectangle of a picture: position and size in pixels, its colour, name and layer, and what it counts."""

    x: float
    y: float
    width: float
    colour: str
    name: str
    layer: int
    total: int


def png(tree: CallTree, *, title: str, says: str, type: int | None = None, foot: str = "") -> bytes:
    """Return a PNG of 1600 × 800 pixels: the widest boxes, root on top. ``says`` may contain `code`."""
    from PIL import Image, ImageDraw

    type = tree.default_type if type is None else type
    image = Image.new("RGB", (WIDTH, HEIGHT), colours.PAPER[0])
    draw = ImageDraw.Draw(image)
    top = _head(draw, title, says)
    rows = (HEIGHT - MARGIN - 52 - top) // ROW
    drawn = boxes(tree, type=type, width=WIDTH - 2 * MARGIN, row=ROW, rows=rows)
    for box in drawn:
        _box(draw, box, top)
    _foot(draw, drawn, foot or f"{amounts.amount(tree.total(type), tree.sample_types[type].unit)} in all")
    kept = io.BytesIO()
    image.quantize(colors=128, dither=Image.Dither.NONE).save(kept, "PNG", optimize=True)
    return kept.getvalue()


def boxes(tree: CallTree, *, type: int, width: int, row: int, rows: int | None = None) -> list[Box]:
    """Lay out the widest boxes on ``width`` pixels; if there are few rows, leave out what is on every stack."""
    from evidence.drawing import flamegraph

    root = ROOT if rows is None else _start(tree, type, rows)
    found = flamegraph.widest(tree, tree.totals[type], root=root, budget=BUDGET)
    scale = width / max(1, tree.total(type, root))
    mostly = layers.mostly(tree.names, format=tree.format)
    made = []
    columns = (found.node.tolist(), found.level.tolist(), found.x.tolist(), found.width.tolist())
    for node, level, x, total in zip(*columns, strict=True):
        if (rows is not None and level >= rows) or total * scale < 0.5:
            continue
        name = tree.name_of(node)
        layer = 0 if node == ROOT else _layer(name, tree.hints[tree.name[node]], mostly)
        colour = layers.LAYERS[layer].shades[colours.shade_of(name)][0]
        made.append(Box(x * scale, level * row, total * scale, colour, name, layer, total))
    return made


@cache
def _layer(name: str, hint: str, mostly: str) -> int:
    return layers.PLACE[layers.layer_of(name, hint, mostly=mostly)]


def _start(tree: CallTree, type: int, rows: int) -> int:
    """Return the root; in a deep tree, the last node that nearly everything passes through."""
    node = ROOT
    if len(tree.levels) - 2 <= rows:
        return node
    while True:
        low, high = int(tree.first[node]), int(tree.first[node + 1])
        wide = [one for one in range(low, min(high, low + 1000)) if tree.total(type, one) >= COMMON * tree.total(type)]
        if not wide:
            return node
        node = wide[0]


def _head(draw: ImageDraw, title: str, says: str) -> int:
    """Write title and sentence; return where the graph may begin."""
    draw.text((MARGIN, 30), cut(draw, title, "title", WIDTH - 2 * MARGIN), colours.INK[0], font("title"))
    y = 30 + 62
    for line in _lines(draw, says)[:3]:
        x = float(MARGIN)
        for text, code in line:
            fill = "#8f3d0f" if code else colours.INK[0]
            draw.text((x, y), text, fill, font("says"))
            x += draw.textlength(text, font("says"))
        y += 42
    return y + 20


def _lines(draw: ImageDraw, says: str) -> list[list[tuple[str, bool]]]:
    """Break a sentence into lines of words, each with whether it is code."""
    words = [(word, at % 2 == 1) for at, part in enumerate(says.split("`")) for word in re.findall(r"\S+\s*|\s+", part)]
    lines: list[list[tuple[str, bool]]] = [[]]
    left = float(WIDTH - 2 * MARGIN)
    for word, code in words:
        shown = cut(draw, word, "says", WIDTH - 2 * MARGIN)
        wide = draw.textlength(shown.rstrip(), font("says"))
        if wide > left and lines[-1]:
            lines.append([])
            left = float(WIDTH - 2 * MARGIN)
        lines[-1].append((shown, code))
        left -= draw.textlength(shown, font("says"))
    return lines


def _box(draw: ImageDraw, box: Box, top: int) -> None:
    left, right = MARGIN + box.x, MARGIN + box.x + box.width
    y = top + box.y
    gap = 1.5 if box.width > 4 else 0
    draw.rectangle((left, y, max(left, right - gap), y + ROW - 2), box.colour)
    if box.width > 46:
        text = cut(draw, box.name, "label", box.width - 14)
        if len(text) > 2:
            draw.text((left + 7, y + ROW / 2 - 1), text, colours.INK[0], font("label"), anchor="lm")


def cut(draw: ImageDraw, text: str, size: str, width: float) -> str:
    """Truncate a text to a width; of a long name, the most telling part comes first."""
    if draw.textlength(text, font(size)) <= width:
        return text
    short = short_names.short(text) if size == "label" else text
    if short != text and draw.textlength(short, font(size)) <= width:
        return short
    low, high = 0, len(short)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if draw.textlength(short[:middle] + "…", font(size)) <= width else (low, middle - 1)
    return short[:low] + "…" if low else ""


def _foot(draw: ImageDraw, drawn: list[Box], foot: str) -> None:
    """Write the legend, and on the right what the whole is."""
    y = HEIGHT - MARGIN - 14
    draw.line((MARGIN, y - 18, WIDTH - MARGIN, y - 18), LINE, 2)
    counts: Counter[int] = Counter()
    for box in drawn:
        counts[box.layer] += round(box.width)
    x = float(MARGIN)
    for layer in sorted(layer for layer, _ in counts.most_common(OFTEN + 1) if layer):
        kind = layers.LAYERS[layer]
        draw.rectangle((x, y + 3, x + 20, y + 23), kind.shades[2][0])
        draw.text((x + 29, y), kind.label, SOFT, font("foot"))
        x += 29 + draw.textlength(kind.label, font("foot")) + 30
    wide = draw.textlength(foot, font("foot"))
    draw.text((max(x, WIDTH - MARGIN - wide), y), foot, SOFT, font("foot"))


@cache
def font(size: str) -> FreeTypeFont | ImageFont | Any:
    """Return the free font that comes with Pillow, in one of our sizes."""
    from PIL import ImageFont

    return ImageFont.load_default(SIZES[size])
