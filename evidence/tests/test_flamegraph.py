"""What is drawn of a profile: little, the widest, in its place; and every number exact whatever is left out."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.analysis import compare
from evidence.drawing import differential, flamegraph
from evidence.formats.folded import folded
from evidence.tests.test_calltree import SAMPLES, Sample, stacks_of
from evidence.tree import calltree
from evidence.tree.calltree import CallTree

FIRST_PAYLOAD = 32_000  # bytes, compressed


def unpacked(told: dict[str, Any]) -> list[dict[str, int]]:
    """Read a payload as a page does: each box with its node, level, edges in the tree's unit and name."""
    boxes = []
    for level, row in enumerate(told["levels"]):
        gaps, widths, codes, steps = row[:4]
        end = node = 0
        for gap, width, code, step in zip(gaps, widths, codes, steps, strict=True):
            left, node = end + gap, node + step
            end = left + width
            boxes.append({"node": node, "level": level, "x": left, "end": end, "code": code})
    return boxes


@given(SAMPLES, st.integers(1, 12), st.data())
def test_boxes_lie_in_their_parents_and_say_their_own_names(samples: list[Sample], budget: int, data: Any) -> None:
    tree = calltree.build(stacks_of(samples))
    root = data.draw(st.integers(0, len(tree) - 1))
    told = flamegraph.payload(tree, root=root, budget=budget)
    boxes = unpacked(told)
    assert 1 <= len(boxes) <= budget
    placed = {box["node"]: box for box in boxes}
    for box in boxes:
        assert box["end"] - box["x"] == tree.total(0, box["node"])
        assert (told["names"][box["code"]] if box["code"] >= 0 else "all") == tree.name_of(box["node"])
        if box["node"] != root:
            outer = placed[int(tree.parent[box["node"]])]
            assert outer["x"] <= box["x"] <= box["end"] <= outer["end"]
            assert box["level"] == outer["level"] + 1


@given(SAMPLES)
def test_nothing_is_left_out_of_what_is_small(samples: list[Sample]) -> None:
    tree = calltree.build(stacks_of(samples))
    told = flamegraph.payload(tree)
    shown = {box["node"] for box in unpacked(told)}
    assert told["pruned"] == 0 or len(shown) >= flamegraph.BUDGET // 2 or told["total"] == 0
    assert {node for node in range(len(tree)) if tree.total(0, node) > 0} <= shown | {0}


@pytest.fixture(scope="module")
def large() -> CallTree:
    """Make a profile of some hundred thousand nodes, with a few hot paths and a long tail."""
    draw = random.Random(7)  # a synthetic profile, the same each time
    names = [f"module{draw.randrange(60)}::function_{n}" for n in range(2_000)]
    lines = []
    for _ in range(12_000):
        depth, frames, at = draw.randrange(8, 40), [], 0
        for _ in range(depth):
            at = (at * 31 + min(draw.randrange(9), draw.randrange(9))) % len(names)
            frames.append(names[at])
        lines.append(f"{';'.join(frames)} {1 + int(draw.paretovariate(1.2))}")
    return calltree.build(folded.read("\n".join(lines).encode()))


def test_the_first_payload_is_small_however_large_the_profile_is(large: CallTree) -> None:
    assert len(large) > 50_000
    body = json.dumps(flamegraph.payload(large), separators=(",", ":")).encode()
    assert len(gzip.compress(body, 6)) < FIRST_PAYLOAD


def test_zooming_shows_what_was_too_narrow_before(large: CallTree) -> None:
    first = unpacked(flamegraph.payload(large))
    narrow = next(box["node"] for box in reversed(first) if box["level"] == 3)
    within = unpacked(flamegraph.payload(large, root=narrow))
    seen = {box["node"] for box in first}
    assert [box["node"] for box in within if box["node"] not in seen]
    path = [step[0] for step in flamegraph.payload(large, root=narrow)["path"]]
    assert path == [0, *large.path(narrow)[:-1]]


def test_numbers_beyond_what_a_browser_holds_are_shortened_together() -> None:
    tree = calltree.build(folded.read(f"main;a {2**60}\nmain;b {2**60}\n".encode()))
    told = flamegraph.payload(tree)
    assert told["shift"] == 9
    assert max(width for row in told["levels"] for width in row[1]) <= 2**53


@given(SAMPLES, SAMPLES, st.sampled_from(differential.WIDTHS), st.booleans())
def test_each_box_of_a_difference_has_both_sides_exactly(
    one: list[Sample], other: list[Sample], width: str, absolute: bool
) -> None:
    trees = [calltree.build(stacks_of(side)) for side in (one, other)]
    merged = compare.merge(trees, types=[0, 0], labels=["before", "after"])
    told = differential.payload(merged, width=width, absolute=absolute)
    assert told["totals"] == [tree.total(0) for tree in trees]
    boxes = iter(unpacked(told))
    for row in told["levels"]:
        for before, after in zip(row[5], row[6], strict=True):
            node = next(boxes)["node"]
            assert [before, after] == merged.totals[:, node].tolist()


def test_what_is_new_and_what_is_gone_are_both_to_be_seen() -> None:
    before = calltree.build(stacks_of([([0, 1], 5, 1), ([0, 2], 5, 1)]))
    after = calltree.build(stacks_of([([0, 1], 5, 1), ([0, 3], 5, 1)]))
    merged = compare.merge([before, after], types=[0, 0], labels=["before", "after"])

    def seen(width: str) -> set[str]:
        return set(differential.payload(merged, width=width)["names"])

    assert {"poll", "connect"} <= seen("both")
    assert "poll" in seen("before") - seen("after")
    assert "connect" in seen("after") - seen("before")


def test_a_difference_keeps_children_within_their_parents_on_one_scale() -> None:
    before = calltree.build(folded.read(b"main;a 1\nmain;b 2\n"))
    after = calltree.build(folded.read(f"main;a {2**50}\nmain;c {2**49}\n".encode()))
    merged = compare.merge([before, after], types=[0, 0], labels=["before", "after"])
    widths = differential.widths_of(merged, before=0, after=1, width="both", absolute=False)
    inside = np.zeros(len(merged), dtype=np.int64)
    np.add.at(inside, merged.parent[1:], widths[1:])
    assert (inside <= widths[:]).all()
