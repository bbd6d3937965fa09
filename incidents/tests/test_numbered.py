"""A number with its moment is parsed as it was written, whatever the moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from incidents import numbered

# A Slack message on a timeline may be from any year since 2013, and so may its entry.
MOMENTS = st.integers(0, 7 * 10**9).map(lambda s: datetime.fromtimestamp(s, tz=UTC))


@given(st.integers(0, 10**12), MOMENTS)
def test_it_is_read_as_it_was_written_and_is_of_no_other_moment(n: int, at: datetime) -> None:
    borne = numbered.written(n, at)
    assert numbered.read(borne) == n
    assert numbered.fits(borne, at)
    assert not numbered.fits(borne, at + timedelta(microseconds=1))
