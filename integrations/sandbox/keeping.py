"""Saves a stand-in to a file: shortly after a change, and when the sandbox stops."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

log = logging.getLogger(__name__)

QUIET_S = 1.0
AT_LEAST_EVERY_S = 15.0


class Versioned(Protocol):
    """Something that can be saved: it counts its changes."""

    @property
    def version(self) -> int:
        """Return the number of the last change."""


@dataclass
class SnapshotKeeper:
    """Writes snapshots of a stand-in to a file; without a file it does nothing.

    `dump` returns a snapshot as plain values. `restore` loads one, and raises ValueError, KeyError or TypeError for
    anything else.
    """

    kept: Versioned
    file: Path | None
    dump: Callable[[], dict[str, Any]]
    restore: Callable[[dict[str, Any]], None]
    _written: int = -1

    def load(self) -> bool:
        """Load the saved state; return False if there is none that can be used."""
        if self.file is None or not self.file.exists():
            return False
        try:
            self.restore(json.loads(self.file.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError) as error:
            log.warning("What was kept in %s cannot be read (%s); starting afresh.", self.file.name, error)
            return False
        self._written = self.kept.version
        return True

    async def watch(self) -> None:
        """Save once changes have stopped for a moment, and now and then while they continue."""
        seen, since = self.kept.version, time.monotonic()
        while self.file is not None:
            await asyncio.sleep(QUIET_S)
            quiet = self.kept.version == seen
            overdue = time.monotonic() - since > AT_LEAST_EVERY_S
            if self.kept.version != self._written and (quiet or overdue):
                await asyncio.to_thread(self.save)
                since = time.monotonic()
            seen = self.kept.version

    def save(self) -> None:
        """Write a snapshot to the file atomically, so that a crash leaves the old one intact."""
        if self.file is None or self.kept.version == self._written:
            return
        version = self.kept.version
        text = json.dumps(self.dump())
        self.file.parent.mkdir(parents=True, exist_ok=True)
        partial = self.file.with_suffix(".part")
        partial.write_text(text, encoding="utf-8")
        partial.replace(self.file)
        self._written = version
