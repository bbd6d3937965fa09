"""Spans of a trace: events that begin and end (B, E) or are complete (X), nested by time on each thread.

Traces often begin or stop in the middle, so an end without a beginning is skipped and counted, and a span that never
ends is closed at the last event of its thread.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from evidence.formats.base.gather import Gather
from evidence.formats.base.json_text.fields import mapped, scaled
from evidence.profile import amounts
from evidence.profile.errors import BadProfile, NotRecognised
from evidence.profile.limits import Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import SampleType, Stacks

TIME = (SampleType("time", "nanoseconds"),)
MICROSECOND = 1_000
NO_SPANS = "This trace has no CPU samples and no spans (B, E, X events), so there's nothing to draw."
PY_SPY, FILE = "py-spy", "\0"  # its category of events; our separator between a function and its file
SHOWN = 5
CUT = 0.01  # of all time: rounded times account for less
CUTS = "Spans of one thread overlap, and end here with the one that they began in: {} of theirs is left out."
Skipped = list[tuple[int, str]]


class Mark(NamedTuple):
    """A beginning or end on one thread: its time, its position in the file, its phase, its name."""

    at: int
    place: int
    phase: str
    name: str


class TraceSpan(NamedTuple):
    """What ran from ``start`` to ``-negative_end`` nanoseconds: of two that start together the longer sorts first."""

    start: int
    negative_end: int
    place: int
    name: str


class Thread:
    """The events of one thread: marks, complete spans, and when the last of them ends."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self.spans: list[TraceSpan] = []
        self.last: int | None = None

    def lasts(self, until: int) -> None:
        """Note that something on this thread ends then."""
        self.last = until if self.last is None else max(self.last, until)


class SpanReader:
    """Collects the spans of consecutive events; errors are raised when the spans are read."""

    def __init__(self) -> None:
        self._threads: dict[tuple[str, str], Thread] = defaultdict(Thread)
        self._titles: dict[tuple[str, str], str] = {}
        self._names: dict[str, str] = {}
        self._places: dict[str, SourceFunction] = {}
        self._skipped = Skipped()
        self._wrong: BadProfile | None = None

    def add(self, place: int, event: Mapping[str, Any]) -> None:
        """Take an event that may belong to a span, or name a thread."""
        phase = str(event.get("ph"))
        try:
            if phase in {"B", "E", "X"}:
                self._add(place, event, phase)
            elif phase == "M" and event.get("name") == "thread_name":
                args = mapped(event.get("args"), f"event {place}, args")
                self._titles[_thread(event)] = f"{str(args.get('name'))[:100]} ({event.get('tid')})"
        except BadProfile as error:
            self._wrong = self._wrong or error

    def _add(self, place: int, event: Mapping[str, Any], phase: str) -> None:
        where = f"event {place}"
        name = self._named(event)
        thread = self._threads[_thread(event)]
        at = scaled(event.get("ts"), where, times=MICROSECOND)
        if phase != "X":
            thread.marks.append(Mark(at, place, phase, name))
            thread.lasts(at)
            return
        lasted = scaled(_lasted(event), where, times=MICROSECOND)
        end = at + max(lasted, 0)
        if lasted < 0 or not {"dur", "tdur"} & set(event):
            self._skipped.append((place, f"{event.get('name')!r:.100}, which doesn't say how long it took"))
        thread.spans.append(TraceSpan(at, -end, place, name))
        thread.lasts(end)

    def _named(self, event: Mapping[str, Any]) -> str:
        """Return what identifies the function of a span; py-spy says in which file it is."""
        name, args = str(event.get("name") or ""), event.get("args")
        file = args.get("filename") if event.get("cat") == PY_SPY and isinstance(args, dict) else None
        key = f"{name}{FILE}{file}" if name and file and isinstance(file, str) else name
        if key not in self._names:
            self._names[key] = key
            if key != name:
                self._places[key] = SourceFunction(name, str(file))
        return self._names[key]

    def forget(self) -> None:
        """Drop all spans, which may be millions."""
        self._threads.clear()

    def read(self, *, limits: Limits, name: str) -> Stacks:
        """Read the self time of each span, over all threads. Raises ``BadProfile``, ``NotRecognised``."""
        if self._wrong:
            raise self._wrong
        if not self._threads:
            raise NotRecognised(NO_SPANS)
        gather = Gather(TIME, limits=limits)
        names = gather.names_of(self._places.values())
        shown = {key: names[place] for key, place in self._places.items()}
        labels: Counter[str] = Counter()
        cut = 0
        for key in list(self._threads):
            spans = _paired(self._threads.pop(key), self._skipped)
            cut += _cut(spans)
            for stack, value, place in _nested(spans, gather, shown):
                gather.add(stack, (value,), where=f"event {place}")
                labels[self._titles.get(key, f"thread {key[1]}")] += value
        about: dict[str, Any] = {"labels": {"thread": {key: [value] for key, value in labels.most_common(100)}}}
        if cut > CUT * labels.total():
            about["caution"] = CUTS.format(amounts.amount(cut, TIME[0].unit))
        if self._skipped:
            about |= {"skipped": len(self._skipped), "skipped_at": [list(one) for one in self._skipped[:SHOWN]]}
        return gather.stacks(name, about=about)


def _lasted(event: Mapping[str, Any]) -> Any:
    """Return how long a complete event took; some only give how long its thread ran (``tdur``)."""
    return event.get("dur", event.get("tdur", 0))


def _thread(event: Mapping[str, Any]) -> tuple[str, str]:
    return str(event.get("pid")), str(event.get("tid"))


def _paired(thread: Thread, skipped: Skipped) -> list[TraceSpan]:
    """Pair beginnings and ends into spans; an end closes the innermost beginning with its name."""
    opened: list[Mark] = []
    spans = thread.spans
    for mark in sorted(thread.marks):
        if mark.phase == "B":
            opened.append(mark)
        else:
            spans += _closed(mark, opened, skipped)
    return spans + [TraceSpan(mark.at, -(thread.last or 0), mark.place, mark.name) for mark in opened]


def _closed(end: Mark, opened: list[Mark], skipped: Skipped) -> Iterator[TraceSpan]:
    if not any(end.name in {"", mark.name} for mark in opened):
        skipped.append(
            (end.place, f"the end of {end.name.partition(FILE)[0] or 'a span'!r:.100}, which has no beginning")
        )
        return
    while opened:
        begun = opened.pop()
        yield TraceSpan(begun.at, -end.at, begun.place, begun.name)
        if end.name in {"", begun.name}:
            return


def _cut(spans: list[TraceSpan]) -> int:
    """Return for how many nanoseconds spans outlast the one that they began in; sorts them."""
    spans.sort()
    ends: list[int] = []
    cut = 0
    for span in spans:
        while ends and ends[-1] <= span.start:
            ends.pop()
        end = -span.negative_end
        if ends and end > ends[-1]:
            cut, end = cut + end - ends[-1], ends[-1]
        ends.append(end)
    return cut


def _nested(spans: list[TraceSpan], gather: Gather, shown: Mapping[str, str]) -> Iterator[tuple[list[int], int, int]]:
    """Yield what the open spans take until the next one begins or ends; a span ends no later than those around it.

    In order of time.
    """
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
        stack.append(gather.code(shown.get(span.name, span.name)))
        ends.append(min(-span.negative_end, ends[-1]) if ends else -span.negative_end)
