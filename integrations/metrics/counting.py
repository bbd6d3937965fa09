"""What web processes count themselves: how soon doors answer, and how many live pages are open.

Prometheus's client keeps it in one file for each process, in a folder that they share, so that whichever process is
asked tells it for all of them. Nothing is counted, and the client is not loaded, until `begin`.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Final

from django.conf import settings

from incidents.live import live_stream

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"  # the client's own name for it, read as it is imported
BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
DOORS: Final = {"/slack/": "slack", "/pagerduty/": "pagerduty", "/api/": "api", "/v1development/": "otlp"}
NOT_COUNTED: Final = ("/health", "/ready", "/metrics", settings.STATIC_URL)
NAMES: Final = ("firekind_door_seconds", "firekind_door_answers", "firekind_live_streams")


class DoorCounts:
    """The counters of one process."""

    def __init__(self) -> None:
        from prometheus_client import Counter, Gauge, Histogram

        seconds, answers, streams = NAMES
        says = "From a request's headers until its answer was ready, by door. Slack waits 3 s, PagerDuty 5 s."
        self.seconds: Histogram = Histogram(seconds, says, ["door"], buckets=BUCKETS, registry=None)
        self.answers: Counter = Counter(
            answers, "Answers by door and class of status.", ["door", "status"], registry=None
        )
        self.streams: Gauge = Gauge(streams, "Live pages that are open.", registry=None, multiprocess_mode="livesum")


_counts: DoorCounts | None = None


def begin() -> None:
    """Count from now on, in this process's file of the shared folder."""
    global _counts  # noqa: PLW0603 (one for the process, as the client has it)
    os.environ[FOLDER] = str(folder())
    _counts = DoorCounts()
    live_stream.watchers.append(_counts.streams.set)


def folder() -> Path:
    """Make and return the folder that the web processes of this machine share."""
    made: Path = settings.FIREKIND.data_dir / "metrics" / socket.gethostname()
    made.mkdir(mode=0o700, parents=True, exist_ok=True)
    return made


def answered(path: str, *, status: int, seconds: float) -> None:
    """Count one answer, where counting was begun."""
    if _counts is None or path.startswith(NOT_COUNTED):
        return
    door = door_of(path)
    _counts.seconds.labels(door).observe(seconds)
    _counts.answers.labels(door, f"{status // 100}xx").inc()


def door_of(path: str) -> str:
    """Return the door that an address belongs to; pages are *web*."""
    return next((door for prefix, door in DOORS.items() if path.startswith(prefix)), "web")


def gather(registry: CollectorRegistry) -> None:
    """Have a registry tell what all web processes of this machine counted."""
    from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

    if _counts is None:
        return
    place = folder()
    for file in place.glob("gauge_live*_*.db"):
        pid = int(file.stem.rpartition("_")[2])
        if not _lives(pid):
            mark_process_dead(pid, str(place))  # type: ignore[no-untyped-call]  # the client leaves it untyped
    MultiProcessCollector(registry, str(place))  # type: ignore[no-untyped-call]  # the same


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's, so not one of ours
        return False
    return True
