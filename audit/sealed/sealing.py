"""Seal what was written since the last link: rows are written without a lock, and a link covers them within seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction

from audit.models import Seal
from audit.sealed import chain, rows
from audit.sealed.rows import KEPT, SealedRow

BATCH: Final = 500  # rows of each table in one link
NUMBERED_FOR: Final = timedelta(seconds=20)  # longer than it takes from a row's number to its transaction's id
LINKS: Final = 100  # made in one run; the rest is left for the next

_BEGIN: Final = """
    SELECT pg_try_advisory_xact_lock(hashtext('audit.seal')), pg_snapshot_xmin(pg_current_snapshot())::text::bigint
"""
_BEGUN: Final = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
_OPEN: Final = """
    SELECT n, at, covers, tops, horizon, settled, hash FROM audit_seal
     WHERE n >= (SELECT settled FROM audit_seal ORDER BY n DESC LIMIT 1) ORDER BY n
"""


def now() -> datetime:
    """Return the database's time: hosts' clocks differ, and links are compared by age."""
    at: datetime = _one("SELECT clock_timestamp()")[0]
    return at


def seal(*, at: datetime) -> int:
    """Seal what is not sealed yet and return the number of rows: 0 while another process is sealing.

    ``at`` is the database's time, as returned by ``now``.
    """
    total = 0
    for _ in range(LINKS):
        count, full = _link(at=at)
        total += count
        if not full:
            break
    return total


@transaction.atomic
def _link(*, at: datetime) -> tuple[int, bool]:
    """Make one link over new rows; return how many it covers, and whether there may be more."""
    ours, xmin = _one(_BEGIN)
    if not ours:
        return 0, False
    before = list(Seal.objects.raw(_OPEN))
    found = {name: rows.in_gaps(KEPT[name], _open(before, name), limit=BATCH) for name in sorted(KEPT)}
    count = sum(len(some) for some in found.values())
    if not count:
        return 0, False
    _following(before, found, xmin=xmin, at=at).save(force_insert=True)
    return count, any(len(some) == BATCH for some in found.values())


def _open(before: Sequence[Seal], name: str) -> list[chain.Range]:
    """Return the ids of a table that no link covers: above what is settled, between and after the links."""
    floor = before[0].tops.get(name, 0) if before and before[0].n == before[-1].settled else 0
    return chain.gaps((one for link in before for one in link.covers.get(name, ())), above=floor)


def _following(before: Sequence[Seal], found: Mapping[str, list[SealedRow]], *, xmin: int, at: datetime) -> Seal:
    last = before[-1] if before else None
    ids = {name: [row.id for row in some] for name, some in found.items()}
    tops = last.tops if last else {}
    made = Seal(
        n=last.n + 1 if last else 1,
        at=at,
        previous=last.hash if last else chain.BEFORE_ALL,
        covers={name: chain.ranges(some) for name, some in ids.items()},
        marks=b"".join(row.mark for some in found.values() for row in some),
        tops={name: max([tops.get(name, 0), *some]) for name, some in ids.items()},
        horizon=_one(_BEGUN)[0],
        settled=_settled(before, ids, xmin=xmin),
    )
    made.hash = chain.mark(made.said()).hex()
    return made


def _settled(before: Sequence[Seal], ids: Mapping[str, list[int]], *, xmin: int) -> int:
    """Return the newest link below whose tops every row that will ever exist is already sealed.

    Rows get their numbers before they become visible, so one may still appear below rows that are sealed already. A
    transaction takes such a number and, a moment later, its own id as it writes. So a transaction with a number below
    the link has its id within ``NUMBERED_FOR``, below the ``horizon`` of a link made after that. Once all of those
    transactions have ended, and we have looked since (``xmin`` was read before we looked, and we read as far as that),
    no more rows can appear. Only a link before that one is older than it, whatever their times say.
    """
    read_to = {name: some[-1] if len(some) == BATCH else chain.TOP for name, some in ids.items()}
    ended = [one for one in before if one.horizon <= xmin]
    over = [
        one.n
        for one in ended
        if one.at + NUMBERED_FOR <= ended[-1].at and all(top <= read_to[name] for name, top in one.tops.items())
    ]
    return max([*over, before[-1].settled if before else 0])


def _one(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()
