"""The picture of evidence, for where there is no page: drawn by a separate process, which frees its memory at exit."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evidence.intake import storage
from evidence.intake.storage import StorageError
from evidence.models import Evidence
from evidence.models.evidence import State
from evidence.reader import isolated

log = logging.getLogger(__name__)
TIMEOUT_S: Final = 60.0
ALT: Final = 1_000


class NoPicture(Exception):
    """There is no picture; the message tells people why. ``passing`` if there may be one later."""

    def __init__(self, says: str, *, passing: bool = False) -> None:
        super().__init__(says)
        self.passing = passing


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG with its file name, a title, and alt text."""

    name: str
    title: str
    alt: str
    content: bytes


def draw(incident_id: int, n: int) -> Picture:
    """Draw evidence ``n`` of an incident; raise ``NoPicture``."""
    evidence = Evidence.objects.filter(incident=incident_id, n=n, state=State.READY).exclude(tree="").first()
    if evidence is None:
        raise NoPicture("It was withdrawn, or isn't a profile.")
    try:
        tree = storage.store().local(evidence.tree)
    except StorageError as error:
        raise NoPicture(error.says, passing=True) from error
    try:
        with storage.refusals_told(), storage.room() as room:
            content = _drawn(tree, room, title=evidence.title, says=evidence.says)
    except StorageError as error:
        raise NoPicture(error.says, passing=True) from error
    alt = f"{evidence.title}: {evidence.says}".replace("`", "")
    return Picture(f"evidence-{n}.png", evidence.title, alt[:ALT], content)


def _drawn(tree: Path, room: Path, *, title: str, says: str) -> bytes:
    out = room / "picture.png"
    given = json.dumps({"tree": str(tree.resolve()), "out": str(out.resolve()), "title": title, "says": says})
    try:
        ended = isolated.run(b"d", given.encode(), room=room, timeout_s=TIMEOUT_S)
    except isolated.Late:
        raise NoPicture("Rendering took too long.") from None
    except isolated.Gone as error:
        ended = isolated.Ended(1, str(error))
    if ended.code or not out.exists():
        log.error("a picture could not be drawn: %s", ended.said)
        raise NoPicture("Couldn't render it. Check the worker's log.")
    return out.read_bytes()
