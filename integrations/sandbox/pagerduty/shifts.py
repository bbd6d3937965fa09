"""Who is on call today and tomorrow, as bars on a two-day timeline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from integrations.pagerduty import fake
from integrations.pagerduty.fake import rendering
from integrations.pagerduty.fake.records import Account, Override, Schedule
from integrations.pagerduty.fake.rendering import Span

DAYS: Final = 2
AHEAD_S: Final = 14 * 86_400.0


@dataclass(frozen=True, slots=True)
class ShownDays:
    """The time span that is shown, in the viewer's time zone."""

    zone: ZoneInfo
    since: float
    until: float
    now: float

    @classmethod
    def around(cls, now: float, zone: str) -> ShownDays:
        """Return today and tomorrow."""
        known = ZoneInfo(zone)
        today = datetime.fromtimestamp(now, known).replace(hour=0, minute=0, second=0, microsecond=0)
        return cls(known, today.timestamp(), (today + timedelta(days=DAYS)).timestamp(), now)

    def share(self, at: float) -> float:
        """Return the position of a time on the line, in per cent."""
        along = (min(max(at, self.since), self.until) - self.since) / (self.until - self.since)
        return round(100 * along, 3)

    def local(self, at: float) -> datetime:
        """Return a time as local wall-clock time."""
        return datetime.fromtimestamp(at, self.zone)

    def says(self, at: float) -> str:
        """Return a time in words, with its day unless that is today."""
        there, here = self.local(at), self.local(self.now)
        days = (there.date() - here.date()).days
        day = {0: "", 1: "tomorrow ", -1: "yesterday "}.get(days, there.strftime("%a %-d %b "))
        return f"{day}{there:%H:%M}"

    def ticks(self) -> list[tuple[float, str]]:
        """List the marks on the line, one every six hours."""
        start = self.local(self.since)
        moments = (start + timedelta(hours=h) for h in range(0, DAYS * 24, 6))
        return [(self.share(at.timestamp()), f"{at:%H:%M}") for at in moments]

    def days(self) -> list[tuple[float, str]]:
        """List the start of each day, with its name."""
        starts = (self.local(self.since) + timedelta(days=n) for n in range(DAYS))
        return [(self.share(at.timestamp()), f"{at:%A %-d %B}") for at in starts]


@dataclass(frozen=True, slots=True)
class Bar:
    """One turn on the line: its start and width in per cent, and its row."""

    user: str
    name: str
    left: float
    width: float
    lane: int
    over: bool
    says: str


@dataclass(frozen=True, slots=True)
class On:
    """A person on call, and until when; no time means no end in sight."""

    user: str
    name: str
    until: str


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """One schedule: who is on it now and next, and its bars."""

    schedule: Schedule
    now: list[On]
    later: list[On]
    bars: list[Bar]
    lanes: int
    overrides: list[Override]


def row(account: fake.FakeAccount, schedule: Schedule, window: ShownDays) -> ScheduleRow:
    """Return what to show of one schedule."""
    spans = rendering.rendered(schedule, window.since, window.now + AHEAD_S)
    taken = [s for s in spans if s.user]
    now = [s for s in taken if s.start <= window.now < s.end]
    soon = min((s.start for s in taken if s.start > window.now), default=None)
    shown = [s for s in taken if s.overlaps(window.since, window.until)]
    bars = _bars(account.account, shown, window)
    coming = [o for o in [*schedule.overrides, *schedule.shifts] if o.end > window.now]
    return ScheduleRow(
        schedule,
        now=[On(s.user, _name(account.account, s.user), window.says(s.end)) for s in now],
        later=[On(s.user, _name(account.account, s.user), window.says(s.start)) for s in taken if s.start == soon],
        bars=bars,
        lanes=1 + max((bar.lane for bar in bars), default=0),
        overrides=sorted(coming, key=lambda o: o.start),
    )


def _bars(account: Account, spans: Iterable[Span], window: ShownDays) -> list[Bar]:
    """Put overlapping bars into rows, one below the other."""
    ends: list[float] = []
    bars = []
    for span in spans:
        lane = next((n for n, end in enumerate(ends) if end <= span.start), len(ends))
        ends[lane : lane + 1] = [span.end]
        left = window.share(span.start)
        name = _name(account, span.user)
        over = span.kind != "schedule_rotation"
        says = f"{name}, {window.says(span.start)} to {window.says(span.end)}{', takes over' if over else ''}"
        bars.append(Bar(span.user, name, left, round(window.share(span.end) - left, 3), lane, over, says))
    return bars


def _name(account: Account, user: str) -> str:
    found = account.users.get(user)
    return found.name if found else "Somebody"
