"""The days ahead in a rota: who is on call from when to when, where no one is, and what is not known yet. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import pairwise

from workflows.models import Shift, ShiftOverride


@dataclass(frozen=True, slots=True)
class RotaStretch:
    """A period in which the same people are on call; ``users`` are the pager's ids, empty if no one is.

    ``is_known`` is false past the end of what was read. Those ``overriding`` are on call by an override.
    """

    start: datetime
    end: datetime
    users: frozenset[str]
    is_known: bool = True
    overriding: frozenset[str] = frozenset()

    @property
    def is_gap(self) -> bool:
        """Whether it is known that no one is on call."""
        return self.is_known and not self.users

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.end - self.start).total_seconds()


@dataclass(frozen=True, slots=True)
class RotaDay:
    """A day in the viewer's zone, or the rest of today. ``begins`` says when each stretch that starts in it begins."""

    on: date
    start: datetime
    end: datetime
    stretches: tuple[RotaStretch, ...]
    begins: frozenset[datetime]


def ahead(
    shifts: Sequence[Shift],
    *,
    since: datetime,
    until: datetime,
    known_until: datetime,
    overrides: Sequence[ShiftOverride] = (),
) -> list[RotaStretch]:
    """Split the time between two moments into stretches, in order and without holes; neighbours differ."""
    moments = {
        known_until,
        *_edges(shifts),
        *_edges(overrides),
    }
    edges = sorted({since, until, *(moment for moment in moments if since < moment < until)})
    found: list[RotaStretch] = []
    for start, end in pairwise(edges):
        known = start < known_until
        users = _on(shifts, start) if known else frozenset()
        one = RotaStretch(start, end, users, known, users & _on(overrides, start))
        if found and replace(found[-1], end=end) == replace(one, start=found[-1].start):
            found[-1] = replace(found[-1], end=end)
        else:
            found.append(one)
    return found


def days(stretches: Sequence[RotaStretch], *, now: datetime, zone: tzinfo, count: int, skip: int = 0) -> list[RotaDay]:
    """Lay stretches out over this many days in a zone, starting today or ``skip`` days later."""
    made = []
    for start, end in pairwise(midnights(now, zone=zone, count=count, skip=skip)):
        first = max(start, now)
        cut = [
            replace(one, start=max(one.start, first), end=min(one.end, end))
            for one in stretches
            if one.start < end and one.end > first
        ]
        begins = frozenset(one.start for one in stretches if start <= one.start < end and one.start > now)
        made.append(RotaDay(start.astimezone(zone).date(), start, end, tuple(cut), begins))
    return made


def midnights(now: datetime, *, zone: tzinfo, count: int, skip: int = 0) -> list[datetime]:
    """Return when today and each following day begins, and when the last one ends, in UTC: a day may have 23 hours.

    The first ``skip`` days are left out.
    """
    today = now.astimezone(zone).date()
    begins = (datetime.combine(today + timedelta(days=n), time.min, tzinfo=zone) for n in range(skip, skip + count + 1))
    return [one.astimezone(UTC) for one in begins]


def gaps(stretches: Collection[RotaStretch]) -> Iterator[RotaStretch]:
    """Yield the stretches in which it is known that no one is on call."""
    return (one for one in stretches if one.is_gap)


def hues(rows: Sequence[Sequence[RotaStretch]], among: Sequence[str]) -> dict[frozenset[str], str]:
    """Give each set of people on call together a colour: successive sets differ, and all do while colours last."""
    beside: dict[frozenset[str], set[frozenset[str]]] = defaultdict(set)
    for stretches in rows:
        for one, other in pairwise(stretches):
            beside[one.users].add(other.users)
            beside[other.users].add(one.users)
    found: dict[frozenset[str], str] = {}
    used = Counter[str]()
    for users in sorted({one.users for stretches in rows for one in stretches if one.users}, key=sorted):
        taken = {found.get(one) for one in beside[users]}
        found[users] = min((hue for hue in among if hue not in taken), key=lambda hue: used[hue], default=among[0])
        used[found[users]] += 1
    return found


def bars(day: RotaDay, *, hue: Callable[[frozenset[str]], str]) -> list[tuple[float, float, str]]:
    """Return the bars of a day: each stretch's start and width in per cent, and its style."""
    whole = (day.end - day.start).total_seconds()
    return [
        (
            round(100 * (one.start - day.start).total_seconds() / whole, 2),
            round(100 * one.seconds / whole, 2),
            "unknown" if not one.is_known else hue(one.users) if one.users else "gap",
        )
        for one in day.stretches
    ]


def _edges(rows: Sequence[Shift | ShiftOverride]) -> Iterator[datetime]:
    return (moment for one in rows for moment in (one.start_at, one.end_at) if moment)


def _on(shifts: Sequence[Shift | ShiftOverride], at: datetime) -> frozenset[str]:
    return frozenset(
        one.user
        for one in shifts
        if (one.start_at is None or one.start_at <= at) and (one.end_at is None or one.end_at > at)
    )
