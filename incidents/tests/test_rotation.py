"""Taking turns: everyone has a turn in each round, and everyone is first at some time."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from incidents.claiming.rotation import in_turn

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
EVERY_S = 45


@pytest.mark.parametrize("at_once", [1, 3, 5, 10, 20])
@pytest.mark.parametrize("many", [1, 4, 5, 7, 10, 20, 33, 40])
def test_nobody_waits_for_longer_than_two_times_around_and_everybody_is_first_at_some_time(
    at_once: int, many: int
) -> None:
    waiting, looks = list(range(many)), math.ceil(many / at_once)
    turns = [
        in_turn(waiting, at_once=at_once, every_s=EVERY_S, at=NOON + timedelta(seconds=n * EVERY_S))
        for n in range((many + 2) * looks)
    ]
    assert {len(set(turn)) for turn in turns} == {min(at_once, many)}
    for n in range(len(turns) - 2 * looks):
        assert {one for turn in turns[n : n + 2 * looks] for one in turn} == {*waiting}
    assert {turn[0] for turn in turns} == {*waiting}, "where looks end at the first, the others have theirs"


def test_where_nobody_waits_it_is_nobodys_turn() -> None:
    assert in_turn([], at_once=3, every_s=EVERY_S, at=NOON) == []
