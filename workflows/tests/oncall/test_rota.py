"""The days ahead of a rota: none is left out, and no one is made up."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TypeVar
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from workflows.models import Shift, ShiftOverride
from workflows.oncall import rota
from workflows.tests.oncall.pager import NINE, hours

moments = st.none() | st.integers(-30, 200).map(hours)


T = TypeVar("T", Shift, ShiftOverride)


def turns_of(row: type[T], *, at_most: int) -> st.SearchStrategy[list[T]]:
    """Draw some rows that end after they start, if they do both."""
    one = st.builds(row, user=st.sampled_from("abc"), start_at=moments, end_at=moments)
    return st.lists(
        one.filter(lambda one: one.start_at is None or one.end_at is None or one.start_at < one.end_at),
        max_size=at_most,
    )


shifts = turns_of(Shift, at_most=6)


@settings(max_examples=40)
@given(shifts, turns_of(ShiftOverride, at_most=3), st.integers(-5, 200), st.integers(0, 168))
def test_stretches_tell_every_moment_as_the_turns_do(
    found: list[Shift], over: list[ShiftOverride], known: int, hour: int
) -> None:
    since, until = NINE, hours(168)
    made = rota.ahead(found, since=since, until=until, known_until=hours(known), overrides=over)
    assert [made[0].start, made[-1].end] == [since, until]
    assert all(one.end == other.start for one, other in pairwise(made))
    assert all(told(one) != told(other) for one, other in pairwise(made))
    at = hours(hour) - timedelta(minutes=30) if hour else NINE
    [here] = [one for one in made if one.start <= at < one.end]
    assert here.is_known == (at < hours(known))
    assert here.users == (holding(found, at) if here.is_known else set())
    assert here.overriding == here.users & holding(over, at), "an override marks nobody who is not on call"


def told(one: rota.RotaStretch) -> tuple[object, ...]:
    """Return what a stretch says other than its time."""
    return one.users, one.is_known, one.overriding


def holding(rows: Sequence[Shift | ShiftOverride], at: datetime) -> set[str]:
    """Return whose turn it is at a moment."""
    return {s.user for s in rows if (not s.start_at or s.start_at <= at) and (not s.end_at or s.end_at > at)}


@settings(max_examples=25)
@given(shifts, st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"]))
def test_days_hold_all_that_is_ahead_of_now(found: list[Shift], zone: str) -> None:
    there = ZoneInfo(zone)
    until = rota.midnights(NINE, zone=there, count=7)[-1]
    made = rota.ahead(found, since=NINE, until=until, known_until=until)
    days = rota.days(made, now=NINE, zone=there, count=7)
    assert days[0].on == NINE.astimezone(there).date()
    assert sum(one.seconds for day in days for one in day.stretches) == (until - NINE).total_seconds()
    assert all(left >= 0 and left + width <= 100.01 for day in days for left, width, _ in rota.bars(day, hue=str))
    begun = [moment for day in days for moment in day.begins]
    assert sorted(begun) == [one.start for one in made if one.start > NINE]


@settings(max_examples=25)
@given(shifts, st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"]))
def test_the_next_week_goes_on_where_this_one_ends(found: list[Shift], zone: str) -> None:
    there = ZoneInfo(zone)
    until = rota.midnights(NINE, zone=there, count=14)[-1]
    made = rota.ahead(found, since=NINE, until=until, known_until=until)
    this, following = (rota.days(made, now=NINE, zone=there, count=7, skip=skip) for skip in (0, 7))
    assert following[0].start == this[-1].end
    assert [*this, *following] == rota.days(made, now=NINE, zone=there, count=14)


@settings(max_examples=60)
@given(st.lists(turns_of(Shift, at_most=6), max_size=4), st.integers(2, 7))
def test_whoever_takes_over_has_another_colour(rows: list[list[Shift]], colours: int) -> None:
    made = [rota.ahead(found, since=NINE, until=hours(200), known_until=hours(200)) for found in rows]
    everyone = {one.users for row in made for one in row if one.users}
    hues = rota.hues(made, [str(n) for n in range(colours)])
    assert set(hues) == everyone
    if len(everyone) <= colours:
        assert len(set(hues.values())) == len(everyone)
    followed = {
        users: {pair for row in made for pair in pairwise([one.users for one in row]) if users in pair}
        for users in everyone
    }
    if all(len(pairs) < colours for pairs in followed.values()):
        assert all(hues[one] != hues[other] for pairs in followed.values() for one, other in pairs if one and other)


def test_a_gap_is_known_and_has_nobody() -> None:
    one = Shift(user="a", start_at=hours(2), end_at=hours(4))
    made = rota.ahead([one], since=NINE, until=hours(9), known_until=hours(6))
    assert [(gap.start, gap.end) for gap in rota.gaps(made)] == [(NINE, hours(2)), (hours(4), hours(6))]
    assert [made[-1].is_known, made[-1].end] == [False, hours(9)]
