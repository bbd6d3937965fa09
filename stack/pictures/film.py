"""An animation of a page, small enough for a README."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PIL import Image

from stack.errors import StackError

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

MOST_BYTES: Final = 1_000_000
AWAY: Final = (-99.0, -99.0)
# A pointer and a line of words over the page. Styles are set one by one, because the page's policy allows no others.
OVERLAY: Final = """({ words, x, y }) => {
  const make = (id, style) => {
    const node = document.getElementById(id) ?? document.documentElement.appendChild(document.createElement("div"));
    node.id = id;
    Object.assign(node.style, { position: "fixed", zIndex: 2147483647, pointerEvents: "none", ...style });
    return node;
  };
  make("film-words", {
    insetInline: 0, bottom: "14px", margin: "auto", width: "fit-content", padding: "9px 18px", borderRadius: "99px",
    background: "#241a14", color: "#fff", font: "600 17px system-ui, sans-serif", border: "1px solid #6b4a38",
    visibility: words ? "visible" : "hidden",
  }).textContent = words;
  make("film-pointer", {
    left: `${x}px`, top: `${y}px`, width: "22px", height: "22px", margin: "-11px", borderRadius: "50%",
    background: "rgb(232 119 58 / .55)", border: "2px solid #c2521b", visibility: x < 0 ? "hidden" : "visible",
  });
}"""


@dataclass(slots=True)
class Film:
    """The animation of one page so far: each frame, and how many milliseconds it stays."""

    page: Page
    words: str = ""
    pointer: tuple[float, float] = AWAY
    frames: list[Image.Image] = field(default_factory=list)
    stays_ms: list[int] = field(default_factory=list)

    def shoot(self, stays_ms: int) -> None:
        """Add what the page shows now, once its transitions have ended."""
        self.page.evaluate(OVERLAY, {"words": self.words, "x": self.pointer[0], "y": self.pointer[1]})
        shot = self.page.screenshot(animations="disabled", caret="initial")
        self.frames.append(Image.open(io.BytesIO(shot)).convert("RGB"))
        self.stays_ms.append(stays_ms)

    def points(self, control: Locator) -> None:
        """Move the pointer onto a control in three steps, and press it."""
        control.scroll_into_view_if_needed()
        box = control.bounding_box()
        assert box is not None, "the control is on the page"
        there = (box["x"] + min(box["width"] / 2, 90), box["y"] + box["height"] / 2)
        before = (there[0] + 160, there[1] + 120) if self.pointer == AWAY else self.pointer
        for part in (0.4, 0.8, 1):
            self.pointer = (before[0] + part * (there[0] - before[0]), before[1] + part * (there[1] - before[1]))
            self.shoot(90 if part < 1 else 450)
        control.click()

    def scrolls(self, down: int) -> None:
        """Scroll to this many pixels below the top, in four steps."""
        self.pointer = AWAY
        before = self.page.evaluate("scrollY")
        for part in (0.3, 0.7, 0.93, 1):
            self.page.evaluate("to => scrollTo(0, to)", before + part * (down - before))
            self.shoot(70)

    def write(self, path: Path) -> None:
        """Write it. Raises StackError if it is larger than a megabyte."""
        first, *others = self.frames
        first.save(
            path, save_all=True, append_images=others, duration=self.stays_ms, loop=0, quality=66, method=5,
            allow_mixed=True,
        )  # fmt: skip
        if path.stat().st_size >= MOST_BYTES:
            raise StackError(f"{path.name} takes {path.stat().st_size:,} bytes, and may take {MOST_BYTES:,}.")
