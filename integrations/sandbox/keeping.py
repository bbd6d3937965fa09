"""Keeps the workspace in a file: a moment after the last change, and when the sandbox stops."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from pathlib import Path

from integrations.slack import fake

log = logging.getLogger(__name__)

QUIET_S = 1.0
AT_LEAST_EVERY_S = 15.0


class Keeper:
    """Writes snapshots. With no file it does nothing."""

    def __init__(self, slack: fake.FakeSlack, file: Path | None) -> None:
        self._slack = slack
        self._file = file
        self._written = -1

    def load(self) -> bool:
        """Put the workspace back as it was; returns False if nothing usable was kept."""
        if self._file is None or not self._file.exists():
            return False
        try:
            fake.snapshot.restore(self._slack, self._file.read_text(encoding="utf-8"))
        except (ValueError, KeyError, TypeError) as error:
            log.warning("The kept workspace cannot be read (%s); starting with a fresh one.", error)
            return False
        self._written = self._slack.version
        return True

    async def watch(self) -> None:
        """Write after changes have stopped for a moment, and now and then while they do not."""
        seen, since = self._slack.version, time.monotonic()
        while self._file is not None:
            await asyncio.sleep(QUIET_S)
            quiet = self._slack.version == seen
            overdue = time.monotonic() - since > AT_LEAST_EVERY_S
            if self._slack.version != self._written and (quiet or overdue):
                await asyncio.to_thread(self.save)
                since = time.monotonic()
            seen = self._slack.version

    def save(self) -> None:
        """Write the workspace to its file, in one step so that a crash leaves the old one whole."""
        if self._file is None or self._slack.version == self._written:
            return
        version = self._slack.version
        text = json.dumps(fake.snapshot.dump(self._slack))
        self._file.parent.mkdir(parents=True, exist_ok=True)
        partial = self._file.with_suffix(".part")
        partial.write_text(text, encoding="utf-8")
        partial.replace(self._file)
        self._written = version
