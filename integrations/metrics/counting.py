"""What web processes count themselves: how soon doors answer, and how many live pages are open.

Each keeps its counts in memory and, a second after they changed, in a small file of its own in a folder that all web
processes of a machine share; so whichever is asked tells them for all. A disk that is full or gone costs figures and
nothing else. What a process counted stays when it ends, as counters must not fall; its live pages do not.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from incidents.live import live_stream

log = logging.getLogger(__name__)
BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
DOORS: Final = {
    "/slack/": "slack",
    "/pagerduty/": "pagerduty",
    "/tracker/": "tracker",
    "/api/": "api",
    "/v1development/": "otlp",
}
NOT_COUNTED: Final = ("/health", "/ready", "/metrics", settings.STATIC_URL)
PAUSE_S: Final = 1.0
FORGOTTEN_S: Final = 7 * 24 * 3600.0  # after that, what a process that ended has counted is left out


@dataclass(slots=True)
class DoorCounts:
    """Counts of one process, or of several: buckets of seconds by place, of a door; the last is for all above."""

    buckets: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    streams: int = 0

    def add(self, other: DoorCounts) -> None:
        """Add what another process counted."""
        self.buckets.update(other.buckets)
        self.seconds.update(other.seconds)
        self.answers.update(other.answers)
        self.streams += other.streams

    def written(self) -> str:
        """Return it as JSON."""
        tables = {name: [[*_listed(key), n] for key, n in getattr(self, name).items()] for name in TABLES}
        return json.dumps(tables | {"streams": self.streams})


TABLES: Final = ("buckets", "seconds", "answers")


def _listed(key: str | tuple[str, Any]) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def read(text: str) -> DoorCounts:
    """Read what `written` wrote. Raises ValueError."""
    given = json.loads(text)
    found = DoorCounts(streams=given["streams"])
    for name in TABLES:
        table = getattr(found, name)
        for *key, n in given[name]:
            table[tuple(key) if len(key) > 1 else key[0]] = n
    return found


class Counting:
    """Counts in this process; the thread that writes them down is started by the first of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.counts = DoorCounts()
        self._lock = threading.Lock()
        self._changed = threading.Event()
        before = _from(self._file)
        if before is not None:  # another's that had our number, and ended
            self.counts = before
            self.counts.streams = 0
        threading.Thread(target=self._write_now_and_then, name="counts", daemon=True).start()

    @property
    def _file(self) -> Path:
        return self.folder / f"{os.getpid()}.json"

    def answered(self, door: str, status: int, seconds: float) -> None:
        """Count one answer."""
        with self._lock:
            self.counts.buckets[door, bisect_left(BUCKETS, seconds)] += 1
            self.counts.seconds[door] += seconds  # type: ignore[assignment]  # a Counter of floats
            self.counts.answers[door, f"{status // 100}xx"] += 1
        self._changed.set()

    def streams(self, count: int) -> None:
        """Note how many live pages are open."""
        self.counts.streams = count
        self._changed.set()

    def write(self) -> None:
        """Write the counts down, whole or not at all."""
        with self._lock:
            text = self.counts.written()
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            on_its_way = self._file.with_suffix(".new")
            on_its_way.write_text(text, encoding="ascii")
            on_its_way.replace(self._file)
        except OSError as error:
            log.warning("could not write down what was counted: %s", error.strerror)

    def _write_now_and_then(self) -> None:
        while self._changed.wait():
            time.sleep(PAUSE_S)
            self._changed.clear()
            self.write()

    def of_all(self) -> DoorCounts:
        """Return what all web processes of this machine counted."""
        total = DoorCounts()
        with self._lock:
            total.add(self.counts)
        for one in _others(self.folder, but=self._file):
            total.add(one)
        return total


_counting: list[Counting] = []


def begun() -> Counting | None:
    """Return what counts in this process, begun with the first that asks; None where there are no metrics."""
    if not settings.FIREKIND.metrics_token:
        return None
    if not _counting:
        _counting.append(Counting(settings.FIREKIND.data_dir / "metrics" / socket.gethostname()))
        live_stream.watchers.append(_counting[0].streams)
    return _counting[0]


def answered(path: str, *, status: int, seconds: float) -> None:
    """Count one answer, where there are metrics."""
    counting = begun()
    if counting is not None and not path.startswith(NOT_COUNTED):
        counting.answered(door_of(path), status, seconds)


def door_of(path: str) -> str:
    """Return the door that an address belongs to; pages are *web*."""
    return next((door for prefix, door in DOORS.items() if path.startswith(prefix)), "web")


def _others(folder: Path, *, but: Path) -> Iterator[DoorCounts]:
    for file in folder.glob("*.json"):
        found = None if file == but else _from(file)
        if found is not None:
            if not _lives(int(file.stem)):
                found.streams = 0
            yield found


def _from(file: Path) -> DoorCounts | None:
    """Read a file of counts; None when it is old, or cannot be read."""
    try:
        if time.time() - file.stat().st_mtime > FORGOTTEN_S:
            return None
        return read(file.read_text(encoding="ascii"))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):  # somebody else's is none of ours
        return False
    return True
