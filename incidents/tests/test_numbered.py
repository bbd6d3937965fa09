"""A number with its moment is read as it was written, of whatever moment it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from incidents import numbered

# A message of Slack's that is put on a timeline may be of any year since 2013, and so is its entry.
MOMENTS = st.integers(0, 7 * 10**9).map(lambda s: datetime.fromtimestamp(s, tz=UTC))


@given(st.integers(0, 10**12), MOMENTS)
def test_it_is_read_as_it_was_written_and_is_of_no_other_moment(n: int, at: datetime) -> None:
    borne = numbered.written(n, at)
    assert numbered.read(borne) == n
    assert numbered.fits(borne, at)
    assert not numbered.fits(borne, at + timedelta(microseconds=1))
