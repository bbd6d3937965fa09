"""Stored on-call turns, with a read of the near future laid over one of the far future. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from workflows.pager_port import Turn


class TurnRow(NamedTuple):
    """Someone's turn; no start means since always, no end means forever."""

    subject: str
    level: int
    user: str
    start: datetime | None
    end: datetime | None

    def holds(self, at: datetime) -> bool:
        """Return whether it is their turn at a moment."""
        return (self.start is None or self.start <= at) and (self.end is None or self.end > at)


def of(turn: Turn, *, since: datetime, until: datetime) -> TurnRow:
    """Return a turn as stored. What lies outside the window is unknown, since a pager may cut turns off there."""
    start = turn.start if turn.start is not None and turn.start > since else None
    end = turn.end if turn.end is not None and turn.end < until else None
    return TurnRow(turn.subject, turn.level, turn.user, start, end)


def agree(one: Iterable[TurnRow], other: Iterable[TurnRow], *, since: datetime, until: datetime) -> bool:
    """Return whether two reads put the same people on call throughout, however they split their turns."""
    return _spans(one, since, until) == _spans(other, since, until)


def laid_over(far: Iterable[TurnRow], near: Iterable[TurnRow], *, edge: datetime) -> set[TurnRow]:
    """Combine two reads: ``near`` holds before ``edge``, ``far`` from there on.

    ``near`` was read up to the edge, so its last turns have no end; they continue into those of ``far``.
    """
    later = {_from(row, edge) for row in far if row.end is None or row.end > edge}
    going_on = {row[:3]: row for row in sorted(later, key=_by_end) if row.start == edge}
    met = {row[:3] for row in near if row.end is None}
    kept = {row for row in later if row.start != edge or row[:3] not in met}
    return kept | {_into(row, going_on.get(row[:3]), edge) for row in near}


def _spans(
    rows: Iterable[TurnRow], since: datetime, until: datetime
) -> dict[tuple[str, int, str], list[list[datetime]]]:
    """Return when each person is on call in a window, in order; turns that touch or overlap become one."""
    found: dict[tuple[str, int, str], list[list[datetime]]] = {}
    cut = ((row[:3], max(row.start or since, since), min(row.end or until, until)) for row in rows)
    for who, start, end in sorted(one for one in cut if one[1] < one[2]):
        spans = found.setdefault(who, [])
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    return found


def _from(row: TurnRow, edge: datetime) -> TurnRow:
    return row if row.start is not None and row.start >= edge else row._replace(start=edge)


def _into(row: TurnRow, later: TurnRow | None, edge: datetime) -> TurnRow:
    if row.end is not None:
        return row
    return row._replace(end=later.end if later is not None else edge)


def _by_end(row: TurnRow) -> tuple[bool, float]:
    """Sort the longest last: one without an end, else the latest."""
    return row.end is None, row.end.timestamp() if row.end else 0.0


def on_call(rows: Iterable[TurnRow], *, at: datetime) -> set[tuple[str, int, str]]:
    """Return who is on call for what at a moment."""
    return {(row.subject, row.level, row.user) for row in rows if row.holds(at)}
