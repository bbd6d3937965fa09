"""How rows are serialised for hashing, and what ranges cover."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from audit.sealed import chain

ids = st.sets(st.integers(1, 60)).map(sorted)


def test_a_row_is_written_in_one_way_whatever_its_order_and_zone() -> None:
    at = datetime(2026, 11, 21, 6, 40, tzinfo=UTC)
    row = {"n": 1, "at": at, "by_name": "Zoë", "key": None}
    assert chain.written(row) == '{"at":"2026-11-21T06:40:00.000000+00:00","by_name":"Zoë","n":1}'.encode()
    elsewhere = {"at": at.astimezone(timezone(timedelta(hours=5))), "n": 1, "by_name": "Zoë"}
    assert chain.mark(elsewhere) == chain.mark(row)


@given(ids)
def test_ranges_hold_these_ids_and_no_others(some: list[int]) -> None:
    assert [one for low, high in chain.ranges(some) for one in range(low, high + 1)] == some


@given(ids, st.integers(0, 60))
def test_an_id_is_covered_or_in_a_gap_and_never_both(some: list[int], above: int) -> None:
    gaps = chain.gaps(chain.ranges(some), above=above)
    for one in range(above + 1, 70):
        assert any(low <= one <= high for low, high in gaps) is (one not in some)


@given(ids, ids)
def test_an_id_that_is_covered_twice_is_found(some: list[int], others: list[int]) -> None:
    found = chain.twice([*chain.ranges(some), *chain.ranges(others)])
    assert (found in set(some) & set(others)) if found is not None else not set(some) & set(others)
