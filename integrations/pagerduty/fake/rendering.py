"""Who is on a schedule when: the turns of its layers with overrides applied, for both versions of schedules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from .records import Layer, Override, Schedule


@dataclass(frozen=True, slots=True)
class Span:
    """A person's time on call; no one's if `user` is empty. `source` is the id of the layer, shift or override."""

    user: str
    start: float
    end: float
    source: str
    kind: str = "schedule_rotation"
    rotation: str = ""

    def within(self, since: float, until: float) -> Span:
        """Return the part between two times."""
        return replace(self, start=max(self.start, since), end=min(self.end, until))

    def overlaps(self, since: float, until: float) -> bool:
        """Return whether any of it lies between two times; a window of zero length is a single time."""
        return self.start < max(until, since + 0.001) and self.end > since


def rendered(schedule: Schedule, since: float, until: float) -> list[Span]:
    """List who is on call between two times, in whole turns, earliest first."""
    turns = [span for layer in schedule.layers for span in turns_of(layer, schedule.time_zone, since, until)]
    spans = _shifts(schedule, turns) if schedule.v3 else _flat(schedule, turns)
    return sorted((s for s in spans if s.overlaps(since, until)), key=lambda s: (s.start, s.end, s.user))


def now_on(schedule: Schedule, at: float) -> list[str]:
    """List the ids of the people on call at a time."""
    return list(dict.fromkeys(span.user for span in rendered(schedule, at, at) if span.user))


def turns_of(layer: Layer, time_zone: str, since: float, until: float) -> Iterator[Span]:
    """Yield the turns of a layer between two times. Handovers keep their local time of day."""
    if not layer.users:
        return
    n = turn_at(layer, time_zone, since)
    while (start := boundary(layer, time_zone, n)) < max(until, since + 0.001):
        whole = Span("", start, boundary(layer, time_zone, n + 1), layer.id, rotation=layer.id)
        bounded = whole.within(layer.since or start, layer.until or whole.end)
        if bounded.start < bounded.end:
            users = layer.users if layer.every else [layer.users[n % len(layer.users)]]
            yield from (replace(bounded, user=user) for user in users)
        n += 1


def turn_at(layer: Layer, time_zone: str, at: float) -> int:
    """Return the number of the turn at a time; turn 0 begins at the layer's `start`."""
    zone = ZoneInfo(time_zone)
    walls = [datetime.fromtimestamp(t, zone).replace(tzinfo=None) for t in (layer.start, at)]
    n = math.floor((walls[1] - walls[0]).total_seconds() / layer.turn_s)
    # Around a daylight-saving change, wall-clock arithmetic may be one turn too early or too late.
    while boundary(layer, time_zone, n) > at:
        n -= 1
    while boundary(layer, time_zone, n + 1) <= at:
        n += 1
    return n


def boundary(layer: Layer, time_zone: str, n: int) -> float:
    """Return when turn `n` begins: `n` turns after the start, by local time."""
    zone = ZoneInfo(time_zone)
    return (datetime.fromtimestamp(layer.start, zone) + timedelta(seconds=n * layer.turn_s)).timestamp()


def _flat(schedule: Schedule, turns: list[Span]) -> list[Span]:
    """One person at a time: the newest override wins, then the layers from last to first."""
    kind = "schedule_rotation_override"
    over = [Span(o.user, o.start, o.end, o.id, kind) for o in reversed(schedule.overrides)]
    order = {layer.id: n for n, layer in enumerate(schedule.layers)}
    below = sorted(turns, key=lambda turn: -order[turn.source])
    taken: list[Span] = []
    for span in [*over, *below]:
        taken += _cut(span, taken)
    return taken


def _shifts(schedule: Schedule, turns: list[Span]) -> list[Span]:
    """Any number of people at once: every rotation separately, with its own overrides and shifts."""
    spans = [piece for turn in turns for piece in _replaced(turn, schedule.overrides)]
    return [*spans, *(Span(s.user, s.start, s.end, s.id, "custom_shift") for s in schedule.shifts)]


def _replaced(turn: Span, overrides: Iterable[Override]) -> Iterator[Span]:
    kind = "schedule_rotation_override"
    mine = [o for o in overrides if o.rotation == turn.rotation and o.replaced == turn.user]
    over = [
        replace(turn, user=o.user, source=o.id, kind=kind).within(o.start, o.end)
        for o in mine
        if turn.overlaps(o.start, o.end)
    ]
    yield from over
    yield from _cut(turn, over)


def _cut(span: Span, taken: Iterable[Span]) -> list[Span]:
    """Return the parts of a span that are not taken."""
    left = [span]
    for other in taken:
        left = [part for piece in left for part in _beside(piece, other)]
    return left


def _beside(span: Span, other: Span) -> Iterator[Span]:
    if other.start >= span.end or other.end <= span.start:
        yield span
        return
    if span.start < other.start:
        yield replace(span, end=other.start)
    if other.end < span.end:
        yield replace(span, start=other.end)


def gaps(spans: list[Span], since: float, until: float) -> list[Span]:
    """Return the times between two bounds when no one is on call."""
    return [gap for gap in _cut(Span("", since, until, ""), [s for s in spans if s.user]) if gap.start < gap.end]
