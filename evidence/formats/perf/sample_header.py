"""The line that opens a sample of ``perf script``: *comm pid/tid [cpu] time: period event: fields*. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

# Every part is bounded, so that no line makes matching slow. Groups: comm, time, period, event. A line without an event
# ends after its time, or after its process.
HEADER = re.compile(
    rb"[ \t]{0,80}(\S[^\n]{0,80}?)[ \t]{1,40}-?\d{1,10}(?:/-?\d{1,10})?(?:[ \t]{1,20}\[\d{1,6}\])?"
    rb"(?:[ \t]{1,40}(\d{1,12}\.\d{1,9}):)?"
    rb"(?:(?:[ \t]{1,40}(\d{1,18}))?[ \t]{1,40}((?!\d)\S{1,300}):(?=[ \t\r\n]|$)|[ \t\r]*$)"
)
_WHO = re.compile(rb"[ \t]{0,80}(\S[^\n]{0,80}?)[ \t]{1,40}-?\d{1,10}(?:/-?\d{1,10})?(?:[ \t]{1,20}\[\d{1,6}\])?$")
# Without a process, as `-F comm,ip,sym` prints it.
BARE = re.compile(rb"[ \t]{0,80}([^\s;:#(][^\n;:(]{0,15}?)[ \t\r]*$")
# Other records, as `--show-mmap-events` and similar options print them.
NO_SAMPLE = b"PERF_RECORD_"
_CLOCK = re.compile(r"(?:cpu|task)-clock(?::\w*)?$")
_CPU = re.compile(r"(?:cpu(?:_core|_atom)?/)?(?:(?:cpu-|ref-|bus-)?cycles|(?:cpu|task)-clock|instructions)\b")


def read(line: bytes) -> tuple[bytes, bytes | None, bytes | None, bytes] | None:
    """Return thread, time, period and event of a header with an event; None if it is not one.

    Most headers end with their event and are read from their end, which costs a third of the regular expression.
    """
    parts = line.rsplit(None, 3)
    if len(parts) == 4 and not parts[2].isdigit():
        parts = line.rsplit(None, 2)
    time, event = parts[1] if len(parts) > 2 else b"", parts[-1] if parts else b""
    if event[-1:] == b":" and time[-1:] == b":" and time[:-1].replace(b".", b"", 1).isdigit():
        period = parts[2] if len(parts) == 4 and len(parts[2]) < 19 else None
        return parts[0], time[:-1], period, event[:-1]
    found = HEADER.match(line)
    return (named(found[1]), found[2], found[3], found[4]) if found and found[4] else None


def are_in(head: bytes) -> bool:
    """Return whether samples have headers with their event or time."""
    headers = (HEADER.match(line) for line in head.split(b"\n") if not line.startswith(b"#"))
    return any(found and (found[2] or found[4]) for found in headers)


def comm(who: bytes) -> bytes | None:
    """Return the name in *comm pid/tid [cpu]*."""
    found = _WHO.match(who)
    return found[1] if found else None


def named(comm: bytes) -> bytes:
    """Write *comm pid* for a bare name; the process does not matter."""
    return comm + b" 0"


@lru_cache(maxsize=1 << 14)
def is_usual(name: bytes, event: bytes) -> bool:
    """Return whether the parts of a header belong to a sample, not to another record or something else."""
    return comm(named(name)) is not None and not event.startswith(NO_SAMPLE) and len(event.split()) == 1


def unit(event: str) -> str:
    """Return the unit of the printed period of ``event``: clocks tick in nanoseconds."""
    return "nanoseconds" if _CLOCK.match(event) else "events"


def counts_cpu(event: str) -> bool:
    """Return whether samples of ``event`` are taken while a processor works."""
    return bool(_CPU.match(event))
