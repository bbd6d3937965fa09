"""What is said about two profiles side by side, compared with counting by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from evidence.analysis import compare, pair_guards
from evidence.analysis.compare import NotComparable
from evidence.profile.stacks import SampleType
from evidence.tests.test_calltree import NAMES, SAMPLES, Sample, folded, stacks_of
from evidence.tests.test_sentence import tree_of
from evidence.tree import calltree
from evidence.tree.calltree import CallTree


@given(SAMPLES)
def test_a_profile_compared_with_itself_moved_nowhere(samples: list[Sample]) -> None:
    tree = calltree.build(stacks_of(samples))
    merged = compare.merge([tree, tree], types=[0, 0], labels=["before", "after"])
    assert (merged.totals[0] == merged.totals[1]).all()
    assert len(merged) == len(tree)
    assert compare.moved(merged, least=0) == []


@given(SAMPLES, SAMPLES)
def test_each_side_of_a_merged_tree_is_that_profile(one: list[Sample], other: list[Sample]) -> None:
    trees = [calltree.build(stacks_of(side)) for side in (one, other)]
    merged = compare.merge(trees, types=[0, 0], labels=["a", "b"])
    stacks = merged.stacks()
    for side, tree in enumerate(trees):
        stacks.values[[0, side]] = stacks.values[[side, 0]]
        assert folded(stacks) == folded(tree.stacks())
        stacks.values[[0, side]] = stacks.values[[side, 0]]
        for name in NAMES:
            code = merged.by_name[name]
            assert merged.function_totals[side, code] == tree.function_totals[0, tree.by_name[name]]
            assert merged.self_[side, code] == tree.self_[0, tree.by_name[name]]


def test_the_most_particular_of_those_that_moved_is_named() -> None:
    before = calltree.build(stacks_of([([0, 1, 3], 35, 1), ([0, 1, 4], 25, 1), ([0, 2], 40, 1)]))
    after = calltree.build(stacks_of([([0, 1, 3], 6, 1), ([0, 1, 4], 34, 1), ([0, 2], 60, 1)]))
    merged = compare.merge([before, after], types=[0, 0], labels=["before", "after"])
    assert compare.says(merged) == "`connect` 35.0 % → 6.00 %; `poll` 40.0 % → 60.0 %"
    assert [one.name for one in compare.moved(merged)] == ["connect", "poll", "run", "read"]


def test_of_those_that_moved_alike_the_one_called_is_named_and_not_its_callers() -> None:
    before = calltree.build(stacks_of([([0, 5, 4, 2], 8, 1), ([0, 3], 46, 1), ([0, 1], 46, 1)]))
    after = calltree.build(stacks_of([([0, 5, 4, 2], 74, 1), ([0, 3], 13, 1), ([0, 1], 13, 1)]))
    merged = compare.merge([before, after], types=[0, 0], labels=["before", "after"])
    assert compare.says(merged) == "`poll` 8.00 % → 74.0 %; `connect` 46.0 % → 13.0 %"


WORK = [([0, 1], 500, 1), ([0, 2], 500, 1)]


def merged_of(before: list[Sample], after: list[Sample]) -> CallTree:
    trees = [calltree.build(stacks_of(side)) for side in (before, after)]
    return compare.merge(trees, types=[0, 0], labels=["before", "after"])


def test_the_same_shares_of_another_total_are_not_nothing() -> None:
    merged = merged_of(WORK, [(frames, 100 * value, count) for frames, value, count in WORK])
    assert compare.says(merged) == "No function's share changed by half a percentage point or more."
    assert [*pair_guards.totals(merged)] == [
        "The totals differ: 1.00 µs before, 100 µs after. Each share is of its own side's total."
    ]
    assert not [*pair_guards.totals(merged_of(WORK, WORK))]


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (WORK, [], "Nothing to compare: the profile after is empty."),
        ([], WORK, "Nothing to compare: the profile before is empty."),
        ([], [], "Nothing to compare: both profiles are empty."),
    ],
)
def test_an_empty_profile_is_not_one_in_which_everything_was_mended(
    before: list[Sample], after: list[Sample], says: str
) -> None:
    merged = merged_of(before, after)
    assert compare.says(merged) == says
    assert not [*pair_guards.totals(merged)]


def test_each_sample_type_is_compared_by_what_it_is_offered_as_also_where_two_have_one_name() -> None:
    kinds = (SampleType("alloc", "objects"), SampleType("alloc", "bytes"), SampleType("cpu", "nanoseconds"))
    one, other = (replace(calltree.build(stacks_of([([0], 1, 1)])), sample_types=some) for some in (kinds, kinds[::-1]))
    offered = compare.choices([one, other])
    assert [called for _, called in offered] == ["alloc/objects", "alloc/bytes", "cpu"]
    for place, called in offered:
        assert compare.same_type([one, other], called) == [place, 2 - place]


def test_profiles_of_different_units_are_refused_in_words() -> None:
    one, other = (calltree.build(stacks_of([([0], 1, 1)])) for _ in range(2))
    own, shared = one.sample_types
    other.sample_types = (SampleType("alloc_space", "bytes"), shared)
    assert (one.sample_types[one.default_type], shared.name) == (own, "samples")
    assert compare.same_type([one, other]) == compare.same_type([other, one]) == [1, 1]
    other.sample_types = other.sample_types[:1]
    with pytest.raises(NotComparable, match="one counts cpu in nanoseconds, the other has alloc_space in bytes"):
        compare.same_type([one, other])


def test_an_address_that_only_one_recording_names_is_not_what_moved() -> None:
    before = tree_of("main (w.py:11);A.run (w.py:4) 60\nmain (w.py:11);B.run (w.py:6) 40\n")
    native = "0x7f06c004524a (libc.so.6);main (w.py:11);"
    after = tree_of(f"{native}A.run (w.py:4) 20\n{native}B.run (w.py:6) 80\n")
    said = compare.says(compare.merge([before, after], types=[0, 0], labels=["before", "after"]))
    assert said == "`B.run (w.py:6)` 40.0 % → 80.0 %; `A.run (w.py:4)` 60.0 % → 20.0 %"
