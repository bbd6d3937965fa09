"""A number in words is the nearest one, halves upwards, and the page's scripts say the same."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evidence.measures import words as measured
from evidence.profile import amounts
from evidence.reader import printing

PARTS = st.tuples(st.integers(0, 4000), st.integers(1, 4000)).filter(lambda pair: pair[0] <= pair[1])


def nearest(said: str, value: float) -> Fraction:
    """Return a number rounded to as many digits as ``said`` has, as ``toFixed`` does."""
    digits = len(said.partition(".")[2])
    return Fraction((Fraction(value) * 10**digits + Fraction(1, 2)).__floor__(), 10**digits)


@given(pair=PARTS)
@example(pair=(49, 400))  # 12.25 %
@example(pair=(1, 800))  # 0.125 %
@example(pair=(5, 8))  # 62.5 %, and 62 % would be less
def test_a_share_is_rounded_as_everywhere(pair: tuple[int, int]) -> None:
    part = pair[0] / pair[1]
    for words in (amounts.share, amounts.percent, amounts.rough, amounts.points):
        said = re.fullmatch(r"[+±]?([\d.]+) (?:%|pp)", words(part))
        if said:  # else it says that there is less than any digit shows
            assert Fraction(said[1]) == nearest(said[1], 100 * part)


@given(part=st.integers(1, 10**9 - 1))
@example(part=1)
@example(part=10**9 - 1)
@example(part=999_500_000)
@example(part=995_000_000)
def test_what_is_there_is_not_said_to_be_nothing_nor_a_part_to_be_all(part: int) -> None:
    for words in (amounts.share, amounts.percent, amounts.rough, measured.share, printing.percent):
        said = words(part / 10**9)
        assert float(re.sub("[^0-9.]", "", said)) != 100, said
        assert re.search("[1-9]", said), said
    assert re.search("[1-9]", amounts.points(part / 10**9))
    assert re.search("[1-9]", amounts.points(-part / 10**9))


def test_all_and_nothing_are_said_as_they_are() -> None:
    for words in (amounts.share, amounts.percent, amounts.rough, measured.share, printing.percent):
        assert [words(part).replace(".00", "").strip() for part in (0, 1)] == ["0 %", "100 %"]


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (2_250, "thousandths of samples", "2.25 samples"),
        (1_000, "thousandths of samples", "1.00 samples"),
        (12_345_678_000, "millionths of samples", "12,346 samples"),
        (4, "thousandths of samples", "< 0.01 samples"),
        (0, "billionths of samples", "0 samples"),
    ],
)
def test_fractions_are_said_as_what_they_are_of(value: int, unit: str, words: str) -> None:
    assert amounts.amount(value, unit) == words


@given(st.integers(1, 1 << 62))
@example(1_125_000)  # 1.125 ms
@example(2_500_500)
def test_an_amount_is_rounded_as_everywhere(value: int) -> None:
    for unit, steps in (("nanoseconds", amounts.TIMES), ("bytes", amounts.SIZES)):
        number, word = amounts.amount(value, unit).split()
        size = next(size for size, called in steps if called == word)
        assert Fraction(number) == nearest(number, value / size)
