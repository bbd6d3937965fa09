"""Refresh the pager cache: read what is due, one reader at a time, and not while the pager is down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet

from incidents.claiming.glance import Moment, Sql
from incidents.claiming.shared_clock import clock
from incidents.written_rows import WrittenRows
from workflows import pager_account, ports
from workflows.models import PagerRead
from workflows.oncall import in_use, pager_cache
from workflows.oncall.pager_cache import What
from workflows.pager_port import Pager
from workflows.ports import VendorError

LEASE: Final = timedelta(minutes=2)  # after which a reader counts as dead
LONGEST: Final = timedelta(minutes=15)  # the longest a pager may ask us to wait; more comes from a clock that was ahead
SOON: Final = timedelta(minutes=2)  # how often everything is read while a policy names something unknown

READ: Final = WrittenRows(PagerRead, of="r")
# Returns no row if everything was read lately with these settings and no shift has begun or ended since.
MAY_BE_DUE: Final = f"""
    SELECT WHERE NOT EXISTS (SELECT FROM workflows_pagerread r
            WHERE r.connection = ANY (%(ours)s)
              AND abs(extract(epoch FROM r.shifts_at - %(at)s)) < %(shifts_s)s
              AND abs(extract(epoch FROM r.directory_at - %(at)s)) < %(directory_s)s
              AND NOT {pager_cache.HANDED_OVER.format(since="r.shifts_at")})
"""  # noqa: S608  # put together of constants


def may_be_due(now: Moment) -> Sql:
    """Return the statement that finds whether something of the pager may be due; ``keep`` decides what is."""
    pager = ports.pager()
    if pager is None:
        return Sql("SELECT WHERE false", {})
    spans = {f"{what}_s": every.total_seconds() for what, every in pager_cache.EVERY.items()}
    return Sql(MAY_BE_DUE, {"at": now.shared, "ours": ["", pager.connection], **spans})


def keep(*, at: datetime) -> bool:
    """Read what is due from the pager; return whether anything changed. A pager that is down is asked again later."""
    at = clock.at(at)  # so hosts agree when it was last read, and none reads again because its own clock differs
    if (pager := ports.pager()) is None or not _due(pager, at):
        return False
    with _alone(at) as may:
        return may and _read(pager, at)


def _due(pager: Pager, at: datetime) -> list[What]:
    """Return what is due, in two queries if nothing is."""
    read = READ.first("FROM workflows_pagerread r ORDER BY r.id LIMIT 1") or PagerRead()
    waits = read.ask_at is not None and at < read.ask_at < at + LONGEST
    failing = read.failing if waits else What.NOTHING
    shifts = pager_cache.is_old(What.SHIFTS, read, at=at) or pager_cache.has_handed_over(read, at=at)
    directory = pager_account.is_unread(pager, read, at=at) or _is_directory_old(read, at=at, look_closer=shifts)
    is_old = {What.DIRECTORY: directory, What.SHIFTS: shifts}
    return [what for what, old in is_old.items() if old and failing not in (what, What.EVERYTHING)]


def _is_directory_old(read: PagerRead, *, at: datetime, look_closer: bool) -> bool:
    """Return whether people and targets are due: every so often, and sooner when something unknown is named.

    Checking for unknown names takes many queries, so it happens only together with reading the shifts.
    """
    if pager_cache.is_old(What.DIRECTORY, read, at=at):
        return True
    return look_closer and pager_cache.is_old(What.DIRECTORY, read, at=at, than=SOON) and _is_anything_unknown()


def _is_anything_unknown() -> bool:
    return pager_cache.has_strangers() or in_use.is_anything_unknown()


def _read(pager: Pager, at: datetime) -> bool:
    changed = [_read_one(pager, what, at=at) for what in (What.DIRECTORY, What.SHIFTS)]
    return any(changed)


def _read_one(pager: Pager, what: What, *, at: datetime) -> bool:
    if what not in _due(pager, at):  # someone else has just read it, or the pager has just failed
        return False
    try:
        return pager_cache.READ[what](at=at)
    except VendorError:
        return False  # it is recorded, and what we know is kept


def _free(at: datetime) -> QuerySet[PagerRead]:
    """Return the row if no one is reading; a reader whose clock was ahead holds it no longer than others do."""
    return PagerRead.objects.exclude(reading_until__gt=at, reading_until__lt=at + 2 * LEASE)


@contextmanager
def _alone(at: datetime) -> Iterator[bool]:
    """Take the single reader's slot if it is free; it is a row, so that it holds across processes and vendor calls."""
    PagerRead.objects.get_or_create(pk=1)
    until = at + LEASE
    taken = bool(_free(at).filter(pk=1).update(reading_until=until))
    try:
        yield taken
    finally:
        if taken:
            PagerRead.objects.filter(pk=1, reading_until=until).update(reading_until=None)
