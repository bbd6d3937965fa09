"""Metrics that web processes count themselves: how fast doors answer, and how many live pages are open.

Each process keeps its counts in memory and, a second after they change, in its own small file. All web processes of a
machine share the folder of those files, so any of them can report the counts of all. If the disk is full or gone, only
these metrics are lost. When a process ends, its counts stay, because a counter must not fall, but its live pages do
not. A week later its counts are merged into one file for all processes that ended.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import socket
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
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
GATHERED_S: Final = 7 * 24 * 3600.0  # once its counts are this old, an ended process no longer has its own file
ENDED: Final = "ended.json"


@dataclass(slots=True)
class DoorCounts:
    """Counts of one or more processes.

    ``buckets`` counts answers by door and bucket; the last bucket has no upper bound.
    """

    buckets: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    streams: int = 0

    def add(self, other: DoorCounts) -> None:
        """Add another process's counts."""
        self.buckets.update(other.buckets)
        self.seconds.update(other.seconds)
        self.answers.update(other.answers)
        self.streams += other.streams

    def written(self) -> str:
        """Return the counts as JSON."""
        tables = {name: [[*_listed(key), n] for key, n in getattr(self, name).items()] for name in TABLES}
        return json.dumps(tables | {"streams": self.streams})


TABLES: Final = ("buckets", "seconds", "answers")


def _listed(key: str | tuple[str, Any]) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def read(text: str) -> DoorCounts:
    """Parse what `written` returned. Raises ValueError."""
    given = json.loads(text)
    found = DoorCounts(streams=given["streams"])
    for name in TABLES:
        table = getattr(found, name)
        for *key, n in given[name]:
            table[tuple(key) if len(key) > 1 else key[0]] = n
    return found


class Counting:
    """The counts of this process, and a thread that writes them to its file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.counts = DoorCounts()
        self._lock = threading.Lock()
        self._changed = threading.Event()
        before = _from(self._file)
        if before is not None:  # from an ended process with the same pid
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
        """Set how many live pages are open."""
        self.counts.streams = count
        self._changed.set()

    def write(self) -> None:
        """Write the counts to the file, atomically."""
        with self._lock:
            text = self.counts.written()
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _put(self._file, text)
        except OSError as error:
            log.warning("could not write down what was counted: %s", error.strerror)

    def _write_now_and_then(self) -> None:
        while self._changed.wait():
            time.sleep(PAUSE_S)
            self._changed.clear()
            self.write()

    def of_all(self) -> DoorCounts:
        """Return the counts of all web processes on this machine."""
        total = DoorCounts()
        with self._lock:
            total.add(self.counts)
        with _alone(self.folder) as is_alone:
            for one in _others(self.folder, but=self._file, gathers=is_alone):
                total.add(one)
        return total


_counting: list[Counting] = []


def begun() -> Counting | None:
    """Return this process's counts, created on the first call; None when metrics are off, or no thread can be had."""
    if not settings.FIREKIND.metrics_token:
        return None
    if not _counting:
        try:
            _counting.append(Counting(settings.FIREKIND.data_dir / "metrics" / socket.gethostname()))
        except RuntimeError:  # the answer to be counted must reach its caller all the same
            return None
        live_stream.watchers.append(_counting[0].streams)
    return _counting[0]


def answered(path: str, *, status: int, seconds: float) -> None:
    """Count one answer, if metrics are on."""
    counting = begun()
    if counting is not None and not path.startswith(NOT_COUNTED):
        counting.answered(door_of(path), status, seconds)


def door_of(path: str) -> str:
    """Return the door of a path; pages are *web*."""
    return next((door for prefix, door in DOORS.items() if path.startswith(prefix)), "web")


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Try to become the only process on this machine that merges files, without waiting; yield whether that worked."""
    with ExitStack() as held:
        try:
            lock = held.enter_context((folder / "lock").open("a"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True


def _others(folder: Path, *, but: Path, gathers: bool) -> list[DoorCounts]:
    found = {file: counts for file in folder.glob("*.json") if file != but and (counts := _from(file))}
    ended = [file for file in found if file.name != ENDED and not _lives(int(file.stem))]
    for file in ended:
        found[file].streams = 0
    if gathers and (old := [file for file in ended if _is_old(file)]):
        _gather(found.get(folder / ENDED), {file: found[file] for file in old}, into=folder / ENDED)
    return [*found.values()]


def _gather(before: DoorCounts | None, old: Mapping[Path, DoorCounts], *, into: Path) -> None:
    total = DoorCounts()
    for one in (before, *old.values()):
        if one is not None:
            total.add(one)
    try:
        _put(into, total.written())
        for file in old:
            file.unlink()
    except OSError as error:
        log.warning("could not gather what was counted: %s", error.strerror)


def _put(file: Path, text: str) -> None:
    on_its_way = file.with_suffix(".new")
    on_its_way.write_text(text, encoding="ascii")
    on_its_way.replace(file)


def _from(file: Path) -> DoorCounts | None:
    """Read a file of counts; None when it cannot be read."""
    try:
        return read(file.read_text(encoding="ascii"))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_old(file: Path) -> bool:
    return time.time() - file.stat().st_mtime > GATHERED_S


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):  # a process of another user is not one of ours
        return False
    return True
