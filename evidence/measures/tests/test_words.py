from __future__ import annotations

import pytest

from evidence.measures import words


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0"), (0.41234, "0.412"), (50.34, "50.3"), (2030, "2,030"), (73788, "73,788"), (-1234.5, "−1,234")],
)
def test_numbers_have_three_figures_and_whole_ones_all(value: float, said: str) -> None:
    assert words.number(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0 s"),
        (50.3e-6, "50.3 µs"),
        (12.1e-9, "12.1 ns"),
        (0.435, "435 ms"),
        (2.03, "2.03 s"),
        (0.9999999, "1.00 s"),
    ],
)
def test_times_have_the_unit_that_suits_them(value: float, said: str) -> None:
    assert words.seconds(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0 %"), (-0.077, "−7.7 %"), (0.021, "+2.1 %"), (2, "+200 %"), (-1, "−100 %"), (-0.99997, "−99.997 %")],
)
def test_a_change_keeps_its_sign_and_almost_all_is_not_all(value: float, said: str) -> None:
    assert words.share(value, sign=True) == said


@pytest.mark.parametrize(
    ("label", "said"),
    [("keep-alive", "with keep-alive"), ("without it", "without it"), ("after the fix", "after the fix")],
)
def test_a_side_is_called_so_that_it_reads(label: str, said: str) -> None:
    assert words.beside(label) == said


def test_few_things_are_listed_and_the_rest_counted() -> None:
    assert words.listed(["a", "b", "c", "d"]) == "a, b, c and 1 more"
