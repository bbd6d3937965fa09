from __future__ import annotations

import math
from itertools import combinations
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.measures.benchmarks import significance

few = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=6)
many = st.lists(st.integers(0, 1000).map(float), min_size=1, max_size=60)


def brute(old: list[float], new: list[float]) -> float:
    """Count every way to deal the values out."""
    values = [*old, *new]

    def u(chosen: tuple[int, ...]) -> float:
        rest = [value for i, value in enumerate(values) if i not in chosen]
        return sum((values[i] > value) + (values[i] == value) / 2 for i in chosen for value in rest)

    seen = u(tuple(range(len(old))))
    every = [u(chosen) for chosen in combinations(range(len(values)), len(old))]
    below, above = sum(one <= seen for one in every), sum(one >= seen for one in every)
    return min(1.0, 2 * min(below, above) / len(every))


@given(few, few)
def test_p_is_what_counting_every_way_gives(old: list[float], new: list[float]) -> None:
    assert significance.mann_whitney(old, new) == pytest.approx(brute(old, new))


@given(many, many)
def test_p_is_a_probability_and_does_not_ask_which_side_is_old(old: list[float], new: list[float]) -> None:
    p = significance.mann_whitney(old, new)
    assert 0 <= p <= 1
    assert p == pytest.approx(significance.mann_whitney(new, old), abs=1e-12)


@given(many)
def test_nothing_differs_from_itself(values: list[float]) -> None:
    assert significance.mann_whitney(values, values) > 0.9


@given(st.lists(st.floats(-1e6, 1e6), min_size=6, max_size=80))
def test_the_interval_holds_the_median(values: list[float]) -> None:
    bounds = significance.interval(values)
    assert bounds is not None
    assert bounds[0] <= median(values) <= bounds[1]


# Printed by benchstat (golang.org/x/perf of 2026-09-08) for values 1 to n, and for samples such as these.
@pytest.mark.parametrize(
    ("n", "bounds"), [(5, None), (6, (1, 6)), (7, (1, 7)), (10, (2, 9)), (20, (6, 15)), (60, (22, 38))]
)
def test_intervals_are_benchstats(n: int, bounds: tuple[int, int] | None) -> None:
    assert significance.interval([float(i) for i in range(1, n + 1)]) == bounds


@pytest.mark.parametrize(
    ("old", "new", "p"),
    [
        ([1, 2, 3, 4, 5], [6, 7, 8, 9, 10], 0.008),
        ([1, 2, 3], [4, 5, 6], 0.1),
        ([1, 1, 1], [1, 1, 1], 1.0),
        (list(range(10)), list(range(10, 20)), 2 / math.comb(20, 10)),
    ],
)
def test_known_answers(old: list[float], new: list[float], p: float) -> None:
    assert significance.mann_whitney(old, new) == pytest.approx(p, abs=0.0005)


def test_large_samples_take_the_normal_approximation() -> None:
    old, new = [float(i) for i in range(60)], [i + 7.5 for i in range(60)]
    assert round(significance.mann_whitney(old, new), 3) == 0.027  # as benchstat prints it


def test_four_values_a_side_are_the_fewest_that_show_a_difference() -> None:
    assert significance.fewest() == 4
    assert significance.mann_whitney([1, 2, 3], [4, 5, 6]) > significance.ALPHA


@pytest.mark.parametrize(("values", "mean"), [([4.0, 9.0], 6.0), ([], None), ([3.0, 0.0], None)])
def test_a_geometric_mean_needs_values_above_zero(values: list[float], mean: float | None) -> None:
    found = significance.geometric_mean(values)
    assert found == mean if mean is None else found == pytest.approx(mean)
