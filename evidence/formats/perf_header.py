"""The line that opens a sample of ``perf script``: *comm pid/tid [cpu] time: period event: fields*. Pure."""

from __future__ import annotations

import re

# Every part is bounded, so that no line makes the matching slow. Groups: comm, time, period, event. A line without
# an event ends after its time, or after its process.
HEADER = re.compile(
    rb"[ \t]{0,80}(\S[^\n]{0,80}?)[ \t]{1,40}-?\d{1,10}(?:/-?\d{1,10})?(?:[ \t]{1,20}\[\d{1,6}\])?"
    rb"(?:[ \t]{1,40}(\d{1,12}\.\d{1,9}):)?"
    rb"(?:(?:[ \t]{1,40}(\d{1,18}))?[ \t]{1,40}((?!\d)\S{1,300}):(?=[ \t\r\n]|$)|[ \t\r]*$)"
)
# Without a process, as `-F comm,ip,sym` prints it.
BARE = re.compile(rb"[ \t]{0,80}([^\s;:#(][^\n;:(]{0,15}?)[ \t\r]*$")
# Records beside samples, as `--show-mmap-events` and its like print them.
NO_SAMPLE = b"PERF_RECORD_"
_CLOCK = re.compile(r"(?:cpu|task)-clock(?::\w*)?$")
_CPU = re.compile(r"(?:cpu(?:_core|_atom)?/)?(?:(?:cpu-|ref-|bus-)?cycles|(?:cpu|task)-clock|instructions)\b")


def unit(event: str) -> str:
    """Name what the printed period of ``event`` counts: clocks tick in nanoseconds."""
    return "nanoseconds" if _CLOCK.match(event) else "events"


def counts_cpu(event: str) -> bool:
    """Say whether samples of ``event`` are taken while a processor works."""
    return bool(_CPU.match(event))
