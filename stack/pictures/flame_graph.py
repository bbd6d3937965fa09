"""The picture of a profile: a flame graph with its sentence, a search with its exact share, and the functions below."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stack.story import profiles
from stack.story.stage import Stage

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZE: Final = {"width": 1120, "height": 940}
STORY: Final = "pause"
FILE: Final = "ext4.perf.gz"
TITLE: Final = "The process on both kinds of cores, memory file on ext4 (reconstruction)"
SEARCHED: Final = "/ext4_.*writepages/"


def take(stage: Stage, sit: Callable[..., Page], *, place: Path) -> None:
    """Have a profile sent, open it, search in it, and save what is shown."""
    stage.declares("samuel", "/incident declare internal: Snapshots pause for seconds", where="platform")
    body = profiles.make(STORY, FILE)
    stage.desk.api("kofi").send(stage.codename, body, title=TITLE, file_name=FILE, phase="during")
    stage.reads(1)
    for scheme, name in (("light", "evidence"), ("dark", "evidence-dark")):
        page = sit("kofi", viewport=SIZE, color_scheme=scheme)
        page.goto(f"/incidents/{stage.codename}/evidence/1/")
        page.get_by_role("searchbox").first.fill(SEARCHED)
        page.get_by_text("matched:").first.wait_for()
        page.evaluate("document.activeElement.blur()")
        page.screenshot(path=place / f"{name}.png")
