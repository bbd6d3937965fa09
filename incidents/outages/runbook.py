"""What people do by hand while Firekind cannot: the operator's text, kept in memory and reread when it changes."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

LOOK_S: Final = 5.0
LONGEST: Final = 2500  # characters that Slack shows in one block, with room for our own words
REST: Final = "---"  # a line with only this begins the part for people in Slack
BY_HAND: Final = (
    "Open a channel by hand, page people in PagerDuty, and write down what you decide, so that you can enter it here "
    "later."
)


@dataclass(frozen=True, slots=True)
class Runbook:
    """The whole text, and the part that anyone who opens the web may read."""

    text: str = BY_HAND
    public: str = BY_HAND


class RunbookFile:
    """A runbook's file. The last text is kept if the file cannot be read any more."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._looked_at = -LOOK_S
        self._changed_at: float | None = None
        self._read = Runbook()

    def current(self) -> Runbook:
        """Return the current text, checking every few seconds whether the file changed."""
        with self._lock:
            if self._path is not None and time.monotonic() - self._looked_at >= LOOK_S:
                self._looked_at = time.monotonic()
                self._look(self._path)
            return self._read

    def _look(self, path: Path) -> None:
        try:
            changed_at = path.stat().st_mtime
            if changed_at != self._changed_at:
                self._read = read(path.read_text(encoding="utf-8"))
                self._changed_at = changed_at
        except (OSError, UnicodeDecodeError) as error:
            log.warning("RUNBOOK_FILE cannot be read (%s); what it said before is shown", type(error).__name__)


def read(text: str) -> Runbook:
    """Parse a runbook: the text below a line of three dashes is only for people in Slack."""
    lines = text.strip()[:LONGEST].splitlines()
    cut = next((n for n, line in enumerate(lines) if line.strip() == REST), len(lines))
    public, rest = "\n".join(lines[:cut]).strip(), "\n".join(lines[cut + 1 :]).strip()
    return Runbook(text="\n\n".join(part for part in (public, rest) if part) or BY_HAND, public=public or BY_HAND)
