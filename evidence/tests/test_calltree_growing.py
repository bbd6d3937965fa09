"""However samples are split and packed, the same tree grows from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.profile.stacks import SampleType, Stacks
from evidence.tree import calltree, tree_growing, tree_levels
from evidence.tree.calltree import CallTree

NAMES = ["a", "b", "c", "d"]
SAMPLES = st.lists(
    st.tuples(st.lists(st.integers(0, len(NAMES) - 1), max_size=9), st.integers(0, 2**50), st.integers(0, 3)),
    max_size=40,
)
Sample = tuple[list[int], int, int]


def stacks_of(samples: list[Sample]) -> Stacks:
    return Stacks(
        "made",
        (SampleType("cpu", "nanoseconds"), SampleType("samples", "samples")),
        list(NAMES),
        np.cumsum([0, *(len(frames) for frames, _, _ in samples)], dtype=np.int64),
        np.array([code for frames, _, _ in samples for code in frames], dtype=np.int32),
        np.array([[one[1] for one in samples], [one[2] for one in samples]], dtype=np.int64),
    )


def walked(samples: list[Sample]) -> list[tuple[tuple[int, ...], int, int]]:
    """Walk every sample by hand: path, and both totals, in breadth-first order."""
    totals: dict[tuple[int, ...], list[int]] = {(): [0, 0]}
    for frames, *values in samples:
        for depth in range(len(frames) + 1):
            node = totals.setdefault(tuple(frames[:depth]), [0, 0])
            node[0], node[1] = node[0] + values[0], node[1] + values[1]
    return [(path, *totals[path]) for path in sorted(totals, key=lambda path: (len(path), path))]  # type: ignore[misc]  # two values a sample


def told(tree: CallTree) -> list[tuple[tuple[int, ...], int, int]]:
    paths = [tuple(int(tree.name[up]) for up in tree.path(node)) for node in range(len(tree))]
    return [(path, int(a), int(b)) for path, (a, b) in zip(paths, tree.totals.T.tolist(), strict=True)]


@pytest.mark.parametrize("bits", [5, 8, 12, 63])
@pytest.mark.parametrize("part", [1, 4, 1 << 30])
@given(samples=SAMPLES)
@settings(max_examples=25, deadline=None)
def test_every_node_of_the_tree_is_one_path_that_was_walked(samples: list[Sample], part: int, bits: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_growing, "THREADS", 2)
        patch.setattr(tree_growing, "PART", part)
        patch.setattr(tree_growing, "BITS", bits)
        patch.setattr(tree_levels, "BITS", bits)
        patch.setattr(tree_growing, "CHUNK", 7)
        tree = calltree.build(stacks_of(samples))
    assert told(tree) == walked(samples)
    assert (
        tree.levels.tolist()
        == np.searchsorted([len(path) for path, *_ in walked(samples)], range(len(tree.levels))).tolist()
    )
    for code in range(len(NAMES)):
        through = [values for frames, *values in samples if code in frames]
        ended = [values for frames, *values in samples if frames[-1:] == [code]]
        for type in (0, 1):
            assert tree.function_totals[type, code] == sum(values[type] for values in through)
            assert tree.self_[type, code] == sum(values[type] for values in ended)


def test_names_are_put_in_order() -> None:
    stacks = stacks_of([([0, 1], 1, 1), ([0, 2], 2, 1)])
    stacks.names = ["z", "b", "a", "m"]
    stacks.hints = ["kernel", "", "", ""]
    tree = calltree.build(stacks)
    assert tree.names == ["a", "b", "m", "z"]
    assert tree.hints == ["", "", "", "kernel"]
    assert [tree.name_of(node) for node in range(len(tree))] == ["all", "z", "a", "b"]
