"""Durations in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from incidents.templatetags.firekind import lasting, span

BEGAN = datetime(datetime.now(UTC).year, 11, 30, 23, 40, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (59, "under a minute"),
        (60, "1 min"),
        (3_599, "59 min"),
        (3_600, "1 h"),
        (6_600, "1 h 50 min"),
        (86_399, "23 h 59 min"),
        (86_400, "1 d"),
        (2 * 86_400 + 7 * 3_600, "2 d 7 h"),
        (11 * 86_400, "11 d"),
    ],
)
def test_a_length_is_said_in_its_two_largest_units_each_with_its_name(seconds: int, words: str) -> None:
    assert span(seconds) == words


@pytest.mark.parametrize(
    ("lasted", "words"),
    [(None, ""), (5, ""), (10 * 60, " to 23:50:05"), (30 * 60, " to 1 Dec, 00:10"), (86_400, " to 1 Dec, 23:40")],
)
def test_a_span_names_what_is_new_at_its_end(lasted: int | None, words: str) -> None:
    """Screen readers get the seconds of an hour; the day is there as soon as it is another one."""
    end = None if lasted is None else BEGAN + timedelta(seconds=lasted)
    with timezone.override(UTC):
        assert strip_tags(lasting(end, BEGAN)) == words
