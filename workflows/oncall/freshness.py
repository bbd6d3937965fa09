"""How fresh the pager cache is, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from workflows import ports
from workflows.models import PagerRead
from workflows.oncall import pager_cache
from workflows.planning.wording.marks import Words, joined, when

MINUTE: Final = timedelta(minutes=1)
LATE: Final = timedelta(minutes=3)  # it is read every 30 s, so by then reading has stopped

MISSING: Final = (
    "PagerDuty is not connected. Set PAGERDUTY_API_KEY and PAGERDUTY_FROM to see who is on call and page them."
)


@dataclass(frozen=True, slots=True)
class Freshness:
    """The state of the cache: fresh, late (no one reads), silent (no response), partly, never or missing."""

    state: str
    read_at: datetime | None = None
    failed_at: datetime | None = None
    says: str = ""
    ahead_at: datetime | None = None

    @property
    def is_known(self) -> bool:
        """Whether there is anything to show."""
        return self.read_at is not None

    def words(self, *, at: datetime) -> Words:
        """Say it in a sentence or two, with text marks for times, as cards use them."""
        return WORDS[self.state](self, at)

    def words_ahead(self, *, at: datetime) -> str:
        """Say how old the shifts more than a day ahead are, if they are older than the rest; else return nothing."""
        if self.state == "silent" or self.ahead_at is None or at - self.ahead_at < MINUTE:
            return ""
        return f" Shifts more than a day ahead were read {ago((at - self.ahead_at).total_seconds())}."


def of(*, at: datetime) -> Freshness:
    """Return the state of the cache."""
    if ports.pager() is None:
        return Freshness("missing")
    read = PagerRead.objects.first() or PagerRead()
    ahead_at = read.shifts_until and read.shifts_until - pager_cache.AHEAD
    return Freshness(_state(read, at), read.shifts_at, read.failed_at, read.says, ahead_at)


def _state(read: PagerRead, at: datetime) -> str:
    if read.shifts_at is None:
        return "never"
    if read.failed_at is not None:
        return "silent" if read.failing == PagerRead.What.EVERYTHING else "partly"
    return "late" if at - read.shifts_at > LATE else "fresh"


def ago(seconds: float) -> str:
    """Say how long ago something was, in its largest unit."""
    for unit, length, least in (("d", 86_400, 2), ("h", 3_600, 2), ("min", 60, 1)):
        if seconds >= least * length:
            return f"{int(seconds // length)} {unit} ago"
    return f"{int(max(0, seconds))} s ago"


def _fresh(one: Freshness, at: datetime) -> str:
    assert one.read_at is not None, "it was read"
    return f"Read from PagerDuty {ago((at - one.read_at).total_seconds())}."


def _late(one: Freshness, at: datetime) -> str:
    return f"{_fresh(one, at)} Updates have stopped: check that a worker is running."


def _silent(one: Freshness, at: datetime) -> Words:
    assert one.read_at is not None, "it was read"
    assert one.failed_at is not None, "it failed"
    since, known = (when(one.failed_at),), (when(one.read_at),)
    return joined("PagerDuty has not responded since ", since, ". Showing what was known at ", known, f". {one.says}")


def _partly(one: Freshness, at: datetime) -> Words:
    assert one.failed_at is not None, "it failed"
    since = (when(one.failed_at),)
    return joined(f"{_fresh(one, at)} Part of PagerDuty could not be read since ", since, f". {one.says}")


def _never(one: Freshness, at: datetime) -> Words:
    if one.failed_at is None:
        return "PagerDuty has not been read yet. It takes a few seconds once a worker is running."
    since = (when(one.failed_at),)
    return joined("PagerDuty has never been read; attempts have failed since ", since, f". {one.says}")


def _missing(one: Freshness, at: datetime) -> str:
    return MISSING


WORDS: Final = {
    "fresh": _fresh,
    "late": _late,
    "silent": _silent,
    "partly": _partly,
    "never": _never,
    "missing": _missing,
}
