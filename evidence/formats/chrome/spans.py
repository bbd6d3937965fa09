"""Spans of a trace: what begins and ends (B, E) or is complete (X), nested by time on each thread.

Traces often begin or stop in the middle, so an end without a beginning is skipped and counted, and what is never
ended ends with the last event of its thread.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evidence.formats.base.fields import mapped, scaled
from evidence.formats.base.gather import Gather
from evidence.profile.errors import NotRecognised
from evidence.profile.limits import Limits
from evidence.profile.stacks import SampleType, Stacks

TIME = (SampleType("time", "nanoseconds"),)
MICROSECOND = 1_000
NO_SPANS = "This trace has no CPU samples and no spans (B, E, X events), so there's nothing to draw."
SHOWN = 5
Skipped = list[tuple[int, str]]


class Mark(NamedTuple):
    """One event of one thread: when, its place in the file, its phase, its name, how long it takes."""

    at: int
    place: int
    phase: str
    name: str
    duration: int


class TraceSpan(NamedTuple):
    """Something that ran from ``start`` to ``end`` nanoseconds."""

    start: int
    end: int
    place: int
    name: str


def read(events: Sequence[Mapping[str, Any]], *, limits: Limits, name: str) -> Stacks:
    """Read the time that each span takes itself, over all threads."""
    skipped = Skipped()
    threads = _threads(events, skipped)
    if not threads:
        raise NotRecognised(NO_SPANS)
    gather = Gather(TIME, limits=limits)
    titles = _titles(events)
    labels: Counter[str] = Counter()
    for thread, marks in threads.items():
        for stack, value, place in _nested(_paired(marks, skipped), gather):
            gather.add(stack, (value,), where=f"event {place}")
            labels[titles.get(thread, f"thread {thread[1]}")] += value
    about: dict[str, Any] = {"labels": {"thread": {key: [value] for key, value in labels.most_common(100)}}}
    if skipped:
        about |= {"skipped": len(skipped), "skipped_at": [list(one) for one in skipped[:SHOWN]]}
    return gather.stacks(name, about=about)


def _threads(events: Sequence[Mapping[str, Any]], skipped: Skipped) -> dict[tuple[str, str], list[Mark]]:
    threads: dict[tuple[str, str], list[Mark]] = defaultdict(list)
    for place, event in enumerate(events):
        phase = str(event.get("ph"))
        if phase in {"B", "E", "X"}:
            where = f"event {place}"
            at = scaled(event.get("ts"), where, times=MICROSECOND)
            duration = scaled(_lasted(event), where, times=MICROSECOND) if phase == "X" else 0
            if phase == "X" and not {"dur", "tdur"} & set(event):
                skipped.append((place, f"{event.get('name')!r:.100}, which doesn't say how long it took"))
            mark = Mark(at, place, phase, str(event.get("name") or ""), max(duration, 0))
            threads[_thread(event)].append(mark)
    return threads


def _lasted(event: Mapping[str, Any]) -> Any:
    """Return how long a complete event took; some say only for how long its thread ran (``tdur``)."""
    return event.get("dur", event.get("tdur", 0))


def _thread(event: Mapping[str, Any]) -> tuple[str, str]:
    return str(event.get("pid")), str(event.get("tid"))


def _titles(events: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """Return what threads are called, as far as the trace says so."""
    titles = {}
    for place, event in enumerate(events):
        if event.get("ph") == "M" and event.get("name") == "thread_name":
            args = mapped(event.get("args"), f"event {place}, args")
            titles[_thread(event)] = f"{str(args.get('name'))[:100]} ({event.get('tid')})"
    return titles


def _paired(marks: list[Mark], skipped: Skipped) -> list[TraceSpan]:
    """Make spans of what begins and ends; an end closes the innermost beginning of its name."""
    marks.sort()
    last = max(mark.at + mark.duration for mark in marks)
    opened: list[Mark] = []
    spans = []
    for mark in marks:
        if mark.phase == "X":
            spans.append(TraceSpan(mark.at, mark.at + mark.duration, mark.place, mark.name))
        elif mark.phase == "B":
            opened.append(mark)
        else:
            spans += _closed(mark, opened, skipped)
    return spans + [TraceSpan(mark.at, last, mark.place, mark.name) for mark in opened]


def _closed(end: Mark, opened: list[Mark], skipped: Skipped) -> Iterator[TraceSpan]:
    if not any(end.name in {"", mark.name} for mark in opened):
        skipped.append((end.place, f"the end of {end.name or 'a span'!r:.100}, which has no beginning"))
        return
    while opened:
        begun = opened.pop()
        yield TraceSpan(begun.at, end.at, begun.place, begun.name)
        if end.name in {"", begun.name}:
            return


def _nested(spans: list[TraceSpan], gather: Gather) -> Iterator[tuple[list[int], int, int]]:
    """Yield what the open spans take until the next one begins or ends; a span ends no later than those around it."""
    spans.sort(key=lambda span: (span.start, -span.end, span.place))
    stack: list[int] = []
    ends: list[int] = []
    now = 0
    for span in [*spans, None]:
        while ends and (span is None or ends[-1] <= span.start):
            if ends[-1] > now:
                yield stack, ends[-1] - now, span.place if span else len(spans)
            now = max(now, ends.pop())
            stack.pop()
        if span is None:
            return
        if ends and span.start > now:
            yield stack, span.start - now, span.place
        now = span.start
        stack.append(gather.code(span.name))
        ends.append(min(span.end, ends[-1]) if ends else span.end)
