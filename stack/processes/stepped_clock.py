"""A clock that is off by what a file says, for the processes of a chaos run.

It shifts what Firekind and Slack's library read: ``timezone.now`` and ``time.time``. PostgreSQL, Celery's own
``expires`` and timers that only measure durations keep the machine's clock.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

SETTING: Final = "FIREKIND_CHAOS_CLOCK"
KINDS: Final = ("web", "worker", "evidence")
OFFSET: Final = struct.Struct("d")


def make(path: Path) -> None:
    """Write a file with which every clock is right."""
    path.write_bytes(OFFSET.pack(0.0) * len(KINDS))


def step(path: Path, kind: str, offset_s: float) -> None:
    """Set the clock of one kind of running process off by this many seconds."""
    with path.open("r+b") as file:
        file.seek(OFFSET.size * KINDS.index(kind))
        file.write(OFFSET.pack(offset_s))


def install(argv: Sequence[str]) -> None:
    """Make this process use the clock of the file that the setting names, if any; `argv` says what kind it is."""
    path, kind = os.environ.get(SETTING), _kind(argv)
    if not path or not kind:
        return
    from django.utils import timezone

    handle, at = os.open(path, os.O_RDONLY), OFFSET.size * KINDS.index(kind)
    true_now, true_time = timezone.now, time.time

    def offset_s() -> float:
        return float(OFFSET.unpack(os.pread(handle, OFFSET.size, at))[0])

    def now() -> datetime:
        return true_now() + timedelta(seconds=offset_s())

    timezone.now = now
    time.time = lambda: true_time() + offset_s()


def _kind(argv: Sequence[str]) -> str:
    words = " ".join(argv)
    if "config.worker" in words:
        return "evidence" if "evidence" in words else "worker"
    return "web" if "config.asgi" in words else ""
