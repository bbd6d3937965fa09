"""The laws of call trees, compared with walking every sample by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.profile.stacks import SampleType, Stacks
from evidence.tree import calltree
from evidence.tree.calltree import CallTree

NAMES = ["main", "run", "poll", "connect", "read", "é"]
SAMPLES = st.lists(
    st.tuples(st.lists(st.integers(0, len(NAMES) - 1), max_size=7), st.integers(0, 2**40), st.integers(0, 3)),
    max_size=30,
)
Sample = tuple[list[int], int, int]


def stacks_of(samples: list[Sample]) -> Stacks:
    lengths = [len(frames) for frames, _, _ in samples]
    return Stacks(
        "made",
        (SampleType("cpu", "nanoseconds"), SampleType("samples", "samples")),
        list(NAMES),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array([code for frames, _, _ in samples for code in frames], dtype=np.int32),
        np.array([[one[1] for one in samples], [one[2] for one in samples]], dtype=np.int64),
    )


def folded(stacks: Stacks) -> Counter[tuple[str, ...]]:
    counts: Counter[tuple[str, ...]] = Counter()
    for i in range(len(stacks)):
        frames = stacks.frames[stacks.offsets[i] : stacks.offsets[i + 1]]
        counts[tuple(stacks.names[code] for code in frames)] += int(stacks.values[0, i])
    return +counts


@given(SAMPLES)
def test_a_tree_counts_and_folds_as_its_samples_do(samples: list[Sample]) -> None:
    stacks = stacks_of(samples)
    tree = calltree.build(stacks)
    self_sums_to_the_total_and_children_lie_within_their_parent(tree, stacks)
    assert folded(tree.stacks()) == folded(stacks)
    a_functions_total_counts_a_sample_once(tree, samples)


def self_sums_to_the_total_and_children_lie_within_their_parent(tree: CallTree, stacks: Stacks) -> None:
    for type, total in enumerate(stacks.totals):
        own = tree.own(type).tolist()
        assert sum(own) == tree.total(type) == total
        assert min(own) >= 0


def a_functions_total_counts_a_sample_once(tree: CallTree, samples: list[Sample]) -> None:
    for name in NAMES:
        code = tree.by_name[name]
        assert tree.function_totals[0, code] == sum(v for frames, v, _ in samples if NAMES.index(name) in frames)
        assert tree.self_[0, code] == sum(v for frames, v, _ in samples if frames and NAMES[frames[-1]] == name)


@given(SAMPLES, st.sets(st.sampled_from(NAMES)), st.data())
def test_a_search_equals_counting_by_hand_also_within_a_frame(
    samples: list[Sample], wanted: set[str], data: st.DataObject
) -> None:
    tree = calltree.build(stacks_of(samples))
    root = data.draw(st.integers(0, len(tree) - 1))
    path = tuple(tree.name_of(node) for node in tree.path(root))
    expected = sum(
        value
        for stack, value in folded(stacks_of(samples)).items()
        if stack[: len(path)] == path and wanted & set(stack[max(len(path) - 1, 0) :])
    )
    assert tree.search(wanted.__contains__, root=root).total == expected


@given(SAMPLES, st.integers(1, 2**40))
def test_boxes_are_those_wide_enough_and_lie_within_their_parent(samples: list[Sample], least: int) -> None:
    tree = calltree.build(stacks_of(samples))
    boxes = tree.boxes(least=least)
    spans = {int(node): (int(x), int(x + w)) for node, x, w in zip(boxes.node, boxes.x, boxes.width, strict=True)}
    assert set(spans) == {0} | {node for node in range(1, len(tree)) if tree.total(0, node) >= least}
    for node, (left, right) in spans.items():
        if node:
            outer = spans[int(tree.parent[node])]
            assert outer[0] <= left <= right <= outer[1]


@given(SAMPLES, st.sampled_from(NAMES))
def test_callers_and_callees_count_what_the_function_counts(samples: list[Sample], name: str) -> None:
    tree = calltree.build(stacks_of(samples))
    code = tree.by_name[name]
    for half in (tree.callers(code), tree.callees(code)):
        assert half.total(0) == tree.function_totals[0, code]


@settings(max_examples=30)
@given(SAMPLES)
def test_a_stored_tree_is_the_same_tree(tmp_path_factory: object, samples: list[Sample]) -> None:
    path = Path(str(tmp_path_factory.mktemp("tree"))) / "tree"  # type: ignore[attr-defined]  # pytest's own fixture
    tree = calltree.build(stacks_of(samples))
    tree.save(path)
    again = CallTree.open(path)
    assert again.names == tree.names
    assert np.array_equal(again.totals, tree.totals)
    assert np.array_equal(again.function_totals, tree.function_totals)
    assert folded(again.stacks()) == folded(tree.stacks())
