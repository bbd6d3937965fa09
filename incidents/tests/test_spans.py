"""Durations in words."""

from __future__ import annotations

import pytest

from incidents.templatetags.firekind import span


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
