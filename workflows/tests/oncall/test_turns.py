"""A read of the near future laid over one of the far future: each is the truth on its side of the edge."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from workflows.oncall import turn_rows
from workflows.oncall.turn_rows import TurnRow
from workflows.pager_port import Turn
from workflows.tests.oncall.pager import NINE, hours

SINCE, EDGE, END = -1, 24, 48


@st.composite
def turns(draw: st.DrawFn) -> list[Turn]:
    """Draw turns of a few people; each person's own follow each other with gaps."""
    found = []
    for user in draw(st.sets(st.sampled_from("abc"))):
        marks = sorted(draw(st.sets(st.integers(-30, 60), max_size=6)))
        bounds = [*zip(marks[::2], marks[1::2], strict=False)]
        found += [Turn("S", 0, user, hours(start), hours(end)) for start, end in bounds]
        if len(marks) % 2:
            found.append(Turn("S", 0, user, hours(marks[-1]), None))
    return found


def read(rota: list[Turn], until: int, *, since: int = SINCE) -> set[TurnRow]:
    """What a pager returns for a window, as stored."""
    window = hours(since), hours(until)
    within = [t for t in rota if (not t.start or t.start < window[1]) and (not t.end or t.end > window[0])]
    return {turn_rows.of(turn, since=window[0], until=window[1]) for turn in within}


def on(found: set[TurnRow], hour: float) -> set[tuple[str, int, str]]:
    return turn_rows.on_call(found, at=NINE + timedelta(hours=hour))


@given(turns(), turns())
def test_before_the_edge_the_near_read_holds_and_from_it_on_the_far(old: list[Turn], new: list[Turn]) -> None:
    far, near = read(old, END), read(new, EDGE)
    laid = turn_rows.laid_over(far, near, edge=hours(EDGE))
    for half in range(2 * SINCE, 2 * END):
        assert on(laid, half / 2) == on(near if half < 2 * EDGE else far, half / 2), half / 2


@given(turns(), st.integers(0, 5))
def test_reading_the_same_rota_again_changes_nothing(rota: list[Turn], later: int) -> None:
    far = read(rota, END)
    laid = turn_rows.laid_over(far, read(rota, EDGE), edge=hours(EDGE))
    assert laid == far
    moved = turn_rows.laid_over(laid, read(rota, EDGE + later, since=SINCE + later), edge=hours(EDGE + later))
    assert {row[2:] for row in moved if row.start} <= {row[2:] for row in far}


@given(turns(), turns(), st.integers(0, 5))
def test_two_reads_agree_when_they_name_the_same_people_all_along(old: list[Turn], new: list[Turn], now: int) -> None:
    far, near = read(old, END), read(new, EDGE, since=SINCE + now)
    span = [hour / 2 for hour in range(2 * now, 2 * EDGE)]
    agree = turn_rows.agree(far, near, since=hours(now), until=hours(EDGE))
    assert agree == all(on(far, hour) == on(near, hour) for hour in span)
    assert turn_rows.agree(read(old, END), read(old, EDGE), since=hours(now), until=hours(EDGE))


def test_a_turn_over_the_edge_stays_one() -> None:
    rota = [Turn("S", 0, "a", hours(20), hours(30)), Turn("S", 0, "b", hours(30), hours(40))]
    laid = turn_rows.laid_over(read(rota, END), read(rota, EDGE), edge=hours(EDGE))
    assert sorted(laid) == [TurnRow("S", 0, "a", hours(20), hours(30)), TurnRow("S", 0, "b", hours(30), hours(40))]
