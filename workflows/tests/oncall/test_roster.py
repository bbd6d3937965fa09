"""Who is on call now and next, computed from turns."""

from __future__ import annotations

import pytest

from workflows.models import PagerUser, Shift
from workflows.oncall import roster
from workflows.oncall.roster import RosterLine
from workflows.tests.oncall.pager import NINE, hours

USERS = {id: PagerUser(pager_id=id, name=id.capitalize()) for id in ("ann", "ben", "cat")}

Rota = list[tuple[str, float | None, float | None]]


def at(rota: Rota, hour: float) -> RosterLine:
    shifts = [
        Shift(user=user, start_at=None if start is None else hours(start), end_at=None if end is None else hours(end))
        for user, start, end in rota
    ]
    return roster.line(shifts, 0, USERS, at=hours(hour))


def said(line: RosterLine) -> str:
    """Write a line as ``Ann-1 Ben > 1: Cat-2``: who until when, and who from when on."""
    now = " ".join(f"{one.name}{_hour(one)}" for one in line.now) or "nobody"
    if line.next_at is None:
        return now
    then = " ".join(f"{one.name}{_hour(one)}" for one in line.next) or "nobody"
    return f"{now} > {(line.next_at - NINE).total_seconds() / 3600:g}: {then}"


def _hour(turn: roster.RosterTurn) -> str:
    return "" if turn.until is None else f"-{(turn.until - NINE).total_seconds() / 3600:g}"


@pytest.mark.parametrize(
    ("rota", "hour", "words"),
    [
        ([], 0, "nobody"),
        ([("ann", None, None)], 0, "Ann"),
        ([("ann", None, 0), ("ben", 0, 8)], -1, "Ann-0 > 0: Ben-8"),
        ([("ann", None, 0), ("ben", 0, 8)], 0, "Ben-8 > 8: nobody"),
        ([("ann", 1, 2)], 0, "nobody > 1: Ann-2"),
        # an override within someone's shift
        ([("ann", 0, 1), ("ben", 1, 2), ("ann", 2, 8)], 0.5, "Ann-1 > 1: Ben-2"),
        # turns that follow each other count as one
        ([("ann", 0, 1), ("ann", 1, 2), ("ben", 2, 3)], 0, "Ann-2 > 2: Ben-3"),
        # several people on one shift; one of them stays
        ([("ann", 0, 2), ("ben", 0, 1)], 0, "Ann-2 Ben-1 > 1: Ann-2"),
        # two overlapping turns of the same person
        ([("ann", 0, 2), ("ann", 1, 3)], 0, "Ann-3 > 3: nobody"),
    ],
)
def test_who_is_on_call_and_who_is_next(rota: Rota, hour: float, words: str) -> None:
    assert said(at(rota, hour)) == words
