"""Guards for comparing two profiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.analysis import compare, guards, pair_guards
from evidence.profile.stacks import SampleType
from evidence.tests.test_calltree import SAMPLES, Sample, stacks_of
from evidence.tests.test_sentence import tree_of
from evidence.tree import calltree
from evidence.tree.calltree import CallTree

CHECKOUT = "checkout.serve;checkout.handle_order;checkout.charge_card 900\ncheckout.serve;checkout.read_basket 929\n"
S = 1_000_000_000
TIME, COUNT = SampleType("cpu", "nanoseconds"), SampleType("samples", "samples")
SHOP = "main;net/http.(*conn).serve;shop.Price 700\nmain;walk 500\nmain;std::vec::push 200\n"
NONE = "These profiles share no functions; they are probably of different programs."
HARDLY = "These profiles share hardly any functions; they are probably of different programs."


def every(milliseconds: int) -> dict[str, Any]:
    return {"name": "cpu", "unit": "nanoseconds", "value": milliseconds * 1_000_000}


def unlike(before: CallTree, after: CallTree) -> str:
    return pair_guards.unlike(compare.merge([before, after], types=[0, 0], labels=["before", "after"]))


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (SHOP, CHECKOUT, NONE),
        ("main;a.serve;a.find 60\n", "main;b.draw;b.line 70\n", HARDLY),  # every program has a main
        ("main.main;a.serve 60\n", "main.main;b.draw 70\n", HARDLY),  # and every Go program has this one
        ("a.serve;a.find 990\na.serve;lib.join 10\n", "b.draw;b.line 980\nb.draw;lib.join 20\n", HARDLY),
        ("a.serve;a.find 500\na.serve;a.join 500\n", "a.serve;a.find_fast 10\n", ""),  # a fix renames what was slow
        ("a.serve;a.find 950\na.rest 50\n", "a.rest 50\n", ""),  # and a fix may leave next to nothing of it
        (CHECKOUT, SHOP + CHECKOUT, ""),  # one process, and the machine that it runs on
        ("main;memcpy 7\n", "main;memcpy 9\n", ""),  # nothing of an application on either side
        (SHOP, "main 0\n", ""),  # an empty profile is reported as such
    ],
)
def test_two_programs_are_told_from_one_that_changed(before: str, after: str, says: str) -> None:
    assert unlike(tree_of(before), tree_of(after)) == says
    assert unlike(tree_of(after), tree_of(before)) == says


@given(SAMPLES, st.integers(1, 1000))
def test_a_profile_is_like_itself_and_like_a_scaled_copy(samples: list[Sample], times: int) -> None:
    one = calltree.build(stacks_of(samples))
    scaled = calltree.build(stacks_of([(frames, value * times, count) for frames, value, count in samples]))
    assert unlike(one, one) == unlike(one, scaled) == unlike(scaled, one) == ""


@given(SAMPLES, SAMPLES)
def test_which_one_is_before_does_not_matter(one: list[Sample], other: list[Sample]) -> None:
    trees = [calltree.build(stacks_of(side)) for side in (one, other)]
    assert unlike(*trees) == unlike(*reversed(trees))


@pytest.mark.parametrize(
    ("before", "after", "kind", "says"),
    [
        ({"duration_ns": 10 * S}, {"duration_ns": 30 * S}, TIME, "Before was recorded for 10.0 s, after for 30.0 s:"),
        ({"duration_ns": 30 * S}, {"duration_ns": 10 * S}, TIME, "Before was recorded for 30.0 s, after for 10.0 s:"),
        ({"duration_ns": 30 * S}, {"duration_ns": 31 * S}, TIME, ""),  # no one stops a recording to the second
        ({"duration_ns": 30 * S}, {}, TIME, ""),
        (
            {"period": every(10)},
            {"period": every(2)},
            COUNT,
            "A sample stands for 10.0 ms before and for 2.00 ms after:",
        ),
        ({"period": every(10)}, {"period": every(2)}, TIME, ""),  # the times already include what a sample stands for
        ({"period": every(10)}, {"period": every(10)}, COUNT, ""),
        ({"period": every(10)}, {}, COUNT, ""),
    ],
)
def test_amounts_of_recordings_that_differ_in_length_or_rate_are_said_to_be(
    before: dict[str, Any], after: dict[str, Any], kind: SampleType, says: str
) -> None:
    trees = [replace(tree_of(SHOP), about=about, sample_types=(kind,)) for about in (before, after)]
    found = [*pair_guards.recorded(*trees, types=(0, 0))]
    assert [one[: len(says)] for one in found] == ([says] if says else [])


def test_the_sentence_of_a_comparison_says_it_first() -> None:
    merged = compare.merge([tree_of(SHOP), tree_of(CHECKOUT)], types=[0, 0], labels=["before", "after"])
    assert compare.says(merged).startswith(f"{NONE} `")


def test_warnings_of_either_side_come_along_and_say_whose_they_are() -> None:
    few, idle = "Only 18 samples, so percentages are rough.", "50 % of it is idle."
    assert [*pair_guards.of_sides([few], [])] == [f"Before: {few}"]
    assert [*pair_guards.of_sides([], [few])] == [f"After: {few}"]
    assert [*pair_guards.of_sides([few], [idle + guards.HIDE, few])] == [f"Both: {few}", f"After: {idle}"]


@pytest.mark.parametrize("times", [1.8, 1.93, 2, 3.5])
def test_a_recording_about_twice_as_long_is_not_told_as_slower_without_a_word(times: float) -> None:
    short, long = tree_of("main;work 1000\n"), tree_of(f"main;work {int(1000 * times)}\n")
    for sides, larger in (([short, long], "After"), ([long, short], "Before")):
        merged = compare.merge(sides, types=[0, 0], labels=["before", "after"])
        (said,) = pair_guards.totals(merged, absolute=True)
        assert said.startswith(f"{larger} counts ")
        assert "compare shares" in said
