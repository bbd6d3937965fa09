"""A flame graph small enough for a list: its shape and colours, and names where they fit. Pillow is lazy."""

from __future__ import annotations

import io

from evidence.analysis import colours
from evidence.drawing import picture
from evidence.tree.calltree import CallTree

WIDTH, HEIGHT = 960, 320
LEAST, MOST = 5, 32  # rows


def png(tree: CallTree, *, type: int | None = None) -> bytes:
    """Return a PNG of 960 × 320 pixels with a transparent background, so that it suits both themes."""
    from PIL import Image, ImageDraw

    type = tree.default_type if type is None else type
    laid = picture.boxes(tree, type=type, width=WIDTH, row=1, rows=MOST)
    rows = min(MOST, max(LEAST, 1 + max((int(box.y) for box in laid), default=0)))
    row = HEIGHT / rows
    image = Image.new("RGBA", (WIDTH, HEIGHT))
    draw = ImageDraw.Draw(image)
    for box in laid:
        left, top = box.x, box.y * row
        gap = 1.5 if box.width > 4 else 0
        draw.rectangle((left, top, max(left, left + box.width - gap), top + row - min(1.5, row / 8)), box.colour)
        if row >= 22 and box.width > 60:
            said = picture.cut(draw, box.name, "label", box.width - 12)
            if len(said) > 2:
                draw.text((left + 6, top + row / 2 - 1), said, colours.INK[0], picture.font("label"), anchor="lm")
    kept = io.BytesIO()
    image.save(kept, "PNG", optimize=True)
    return kept.getvalue()
