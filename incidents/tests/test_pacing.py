"""Laws of a replay's pace: whenever it is looked at, each step is taken once, in order, and never too early."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from incidents.drills import pacing
from incidents.drills.pacing import Pace, PastEntry

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
gaps = st.lists(st.tuples(st.integers(0, 20_000), st.booleans()), min_size=1, max_size=12)
paces = st.builds(
    Pace,
    speed=st.integers(1, 600),
    silence=st.integers(0, 300).map(lambda s: timedelta(seconds=s)),
    thinking=st.integers(1, 300).map(lambda s: timedelta(seconds=s)),
)
looks = st.lists(st.tuples(st.integers(0, 900), st.booleans()), max_size=40)


def past(told: list[tuple[int, bool]]) -> list[PastEntry]:
    """Return entries with these seconds between them, in the order they happened."""
    found, at = [], AT
    for n, (gap, decides) in enumerate(told, 1):
        at += timedelta(seconds=gap)
        found.append(PastEntry(n, at, decides))
    return found


@settings(max_examples=80, deadline=None)
@given(gaps, paces, looks)
def test_each_step_is_taken_once_in_order_and_not_before_its_moment(
    told: list[tuple[int, bool]], pace: Pace, looked: list[tuple[int, bool]]
) -> None:
    planned = pacing.steps(past(told), pace)
    shown, shown_at, now, taken = 0, AT, AT, list[tuple[int, bool]]()
    asked_at: dict[int, datetime] = {}
    for waited, pressed in [*looked, *((900, False) for _ in planned)]:
        now += timedelta(seconds=waited)
        found = list(pacing.due(planned, shown=shown, shown_at=shown_at, at=now))
        by_hand = not found and pressed
        if by_hand:
            found = [(step, now) for step in planned[shown : shown + 1]]
        for step, at in found:
            assert at <= now
            assert by_hand or at >= shown_at + step.after
            if step.asks:
                asked_at[step.n] = now
            elif step.n in asked_at and not by_hand:
                assert now - asked_at[step.n] >= pace.thinking
            shown_at = at
            taken.append((step.n, step.asks))
        shown += len(found)
        next_at = pacing.next_at(planned, shown=shown, shown_at=shown_at)
        assert (next_at is None) is (shown == len(planned))
        assert by_hand or next_at is None or next_at > now
    assert taken == [(step.n, step.asks) for step in planned]
    assert [n for n, asks in taken if not asks] == list(range(1, len(told) + 1))


@settings(max_examples=40, deadline=None)
@given(gaps, paces)
def test_silences_are_short_and_a_question_comes_before_a_decision(told: list[tuple[int, bool]], pace: Pace) -> None:
    entries = past(told)
    planned = pacing.steps(entries, pace)
    assert all(step.after <= max(pace.silence, pace.thinking) for step in planned)
    decisions = sum(one.decides for one in entries[1:])
    assert sum(step.asks for step in planned) <= decisions
    for before, step in pairwise(planned):
        assert not before.asks or (step.n == before.n and not step.asks)
    alone = [b for a, b in pairwise(entries) if b.decides and not (a.decides and b.at - a.at < pacing.AT_ONCE)]
    assert {step.n for step in planned if step.asks} == {one.n for one in alone}
