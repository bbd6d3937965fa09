"""Verify the chain against the rows, link by link, and name the first thing that is wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from audit.models import Redaction, Seal
from audit.sealed import chain, rows
from audit.sealed.rows import KEPT, Kept, SealedRow

ROWS_AT_ONCE: Final = 2_000
LATE: Final = timedelta(minutes=1)
YOUNG: Final = timedelta(minutes=10)  # a seal is made within seconds; a long transaction may take minutes

Covered = dict[str, list[list[int]]]


class ChainBroken(Exception):
    """The chain does not verify; the message names the first link or row that is wrong."""


@dataclass(frozen=True, slots=True)
class LateSeal:
    """A seal made long after one of its rows: sealing was not running, or the end of the chain was remade."""

    seal: int
    table: str
    row: int
    waited: timedelta

    def __str__(self) -> str:
        return f"Seal {self.seal} was made {self.waited} after row {self.row} of {self.table}"


@dataclass(slots=True)
class Verified:
    """The result: how many links and rows were verified, how many rows are redacted, and the newest hash."""

    links: int = 0
    rows: int = 0
    redacted: int = 0
    head: str = chain.BEFORE_ALL
    late: list[LateSeal] = field(default_factory=list)

    def is_late(self, seal: Seal, kept: Kept, row: SealedRow) -> None:
        """Record a seal that is much younger than a row it covers, with the row that waited longest."""
        waited = seal.at - row.hashed[kept.at]
        if waited <= YOUNG:
            return
        if self.late and self.late[-1].seal == seal.n:
            if waited <= self.late[-1].waited:
                return
            self.late.pop()
        self.late.append(LateSeal(seal.n, kept.table, row.id, waited))


def verify(*, at: datetime, since: int = 1, heads: Collection[str] = ()) -> Verified:
    """Verify every link from number ``since`` on, and that no row is left out.

    ``heads`` are hashes that were kept elsewhere; they must be in the chain. Raises ``ChainBroken``.
    """
    so_far = Verified()
    covered: Covered = {name: [] for name in KEPT}
    for some in _batches(since):
        for one in some:
            _follows(one, so_far, since=since)
        for name, kept in KEPT.items():
            so_far.redacted += _rows_hold(kept, some, so_far)
            covered[name] += _joined(kept, [one for seal in some for one in seal.covers.get(name, ())])
    _nothing_left_out(covered, tops=_tops_before(since), at=at)
    _must_hold(heads)
    return so_far


def _must_hold(heads: Collection[str]) -> None:
    """Raise ``ChainBroken`` for a hash that no link has, naming the newest of those found: the rest is missing."""
    known = list(Seal.objects.filter(hash__in=heads).order_by("n"))
    gone = next((one for one in heads if one not in {seal.hash for seal in known}), None)
    if gone is None:
        return
    says = (
        f"No seal has the hash {gone[:12]}… that was kept elsewhere: the chain was cut off or rewritten, or a failover "
        "or a restore lost its end."
    )
    if known:
        newest = known[-1]
        says += f" Of the hashes given, the newest that is in it is of seal {newest.n}, {newest.at:%Y-%m-%d %H:%M} UTC."
    raise ChainBroken(says)


def _batches(since: int) -> Iterator[list[Seal]]:
    """Yield links in order, in batches that cover about ``ROWS_AT_ONCE`` rows."""
    batch: list[Seal] = []
    size = 0
    for one in Seal.objects.filter(n__gte=since).order_by("n").iterator(chunk_size=200):
        batch.append(one)
        size += one.rows + 1
        if size >= ROWS_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _follows(one: Seal, so_far: Verified, *, since: int) -> None:
    """Check that a link follows the previous one, and that its hash matches its content."""
    expected = since + so_far.links
    if one.n != expected:
        raise ChainBroken(f"Seal {expected} is missing.")
    if chain.mark(one.said()).hex() != one.hash or _names(one.covers) != one.rows:
        raise ChainBroken(f"Seal {one.n} was changed.")
    if one.previous != so_far.head and (so_far.links or one.n == 1):
        raise ChainBroken(f"Seal {one.n} does not follow seal {one.n - 1}: one of them was replaced.")
    so_far.links += 1
    so_far.rows += one.rows
    so_far.head = one.hash


def _names(covers: Covered) -> int:
    """Return how many rows a link covers; -1 if it names an unknown table."""
    if not covers.keys() <= KEPT.keys():
        return -1
    return sum(high - low + 1 for some in covers.values() for low, high in some)


def _rows_hold(kept: Kept, some: list[Seal], so_far: Verified) -> int:
    """Check that each row that these links cover exists unchanged; return how many are redacted."""
    found = rows.of_ids(kept, [id for one in some for id, _ in one.marked(kept.name)])
    for one in some:
        for id, mark in one.marked(kept.name):
            if id not in found:
                raise ChainBroken(f"Row {id} of {kept.table}, which seal {one.n} covers, is missing.")
            if not found[id].is_known_by(mark):
                raise ChainBroken(f"Row {id} of {kept.table} was changed after seal {one.n} was made.")
            so_far.is_late(one, kept, found[id])
    return _redacted(kept, [row for row in found.values() if row.remains])


def _redacted(kept: Kept, found: list[SealedRow]) -> int:
    """Check that each redacted row has its record, which says what is left of it; return how many there are."""
    known = Redaction.objects.filter(kept=kept.name, row__in=[row.id for row in found])
    left = {(one.row, one.was, one.remains) for one in known}
    for row in found:
        if (row.id, row.mark.hex(), row.remains) not in left:
            raise ChainBroken(f"Row {row.id} of {kept.table} was redacted without a record of it, or changed since.")
    return len(found)


def _joined(kept: Kept, covered: list[list[int]]) -> list[list[int]]:
    """Join consecutive ranges; raise ``ChainBroken`` for a row that is in two."""
    twice = chain.twice(covered)
    if twice is not None:
        raise ChainBroken(f"Row {twice} of {kept.table} is covered by two seals.")
    joined: list[list[int]] = []
    for low, high in sorted(covered):
        if joined and low == joined[-1][1] + 1:
            joined[-1][1] = high
        else:
            joined.append([low, high])
    return joined


def _nothing_left_out(covered: Covered, *, tops: Mapping[str, int], at: datetime) -> None:
    """Check that no row is sealed twice, and that every row older than a minute is sealed."""
    for name, kept in KEPT.items():
        gaps = chain.gaps(_joined(kept, covered[name]), above=tops.get(name, 0))
        for row in rows.in_gaps(kept, gaps, limit=1, before=at - LATE):
            raise ChainBroken(
                f"Row {row.id} of {kept.table} is over a minute old and not sealed. Verify again in a few seconds: the "
                "clock of the host that wrote it may be behind. After a restore, or where no worker ran, seal it with "
                "`manage.py audit seal` first. Otherwise it was inserted later."
            )


def _tops_before(since: int) -> Mapping[str, int]:
    before = Seal.objects.filter(n=since - 1).first()
    return before.tops if before else {}
