"""Laws that hold for every format and any samples."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence import formats
from evidence.analysis import compare
from evidence.exports import exports
from evidence.formats.tests.graph_writers import GRAPHS
from evidence.formats.tests.writers import SHOWN, WRITERS, Sample, aggregated
from evidence.profile.stacks import Stacks
from evidence.tree import calltree
from evidence.tree.calltree import CallTree

NAMES = st.sampled_from(["main", "work", "std::vec::push", "net/http.(*conn).serve", "wait_for", "Gen<A, B>", "λ"])
STACK = st.lists(NAMES, min_size=1, max_size=7).map(tuple)
# Lines with a single frame could be any table, so one stack has two.
SAMPLES = st.lists(st.tuples(STACK, st.integers(1, 30)), max_size=12).map(lambda some: [(("main", "work"), 1), *some])
QUICK = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read(data: bytes, *, packed: bool = False) -> Stacks:
    with tempfile.NamedTemporaryFile() as file:
        file.write(gzip.compress(data) if packed else data)
        file.flush()
        return formats.read_file(file.name)


def samples_of(stacks: Stacks, *, type: int = 0) -> list[Sample]:
    """Return what was read as samples, without perf's program frame and its event's own column."""
    root = stacks.format == "perf script"
    found = []
    for at, value in enumerate(stacks.values[type].tolist()):
        codes = stacks.frames[stacks.offsets[at] : stacks.offsets[at + 1]].tolist()
        found.append((tuple(stacks.names[code] for code in codes)[root:], value))
    return aggregated(found)


def column(stacks: Stacks, samples: Sequence[Sample]) -> int:
    """Return the sample type that counts what was written; some formats also count samples."""
    total = sum(value for _, value in samples)
    return next(type for type, found in enumerate(stacks.totals) if found == total)


def shown(name: str, samples: Sequence[Sample]) -> list[Sample]:
    """Return samples with their names as the format can express them."""
    said = SHOWN.get(name.partition(",")[0], str)
    return [(tuple(map(said, stack)), value) for stack, value in samples]


@pytest.mark.parametrize("name", WRITERS)
@given(samples=SAMPLES)
@QUICK
def test_what_was_written_is_read_and_counted_folded_and_searched(name: str, samples: list[Sample]) -> None:
    """Written and read once for all laws, because that is what takes time."""
    stacks = read(WRITERS[name](samples), packed=len(samples) % 2 == 0)
    samples = shown(name, samples)
    type, tree = column(stacks, samples), calltree.build(stacks)
    assert stacks.format == name.split(",", maxsplit=1)[0]
    assert samples_of(stacks, type=type) == aggregated(samples)
    self_sums_to_the_total_and_children_lie_within_parents(tree, type, samples)
    recursion_counts_once(tree, type, samples, within="app" if stacks.format == "perf script" else "")
    folding_what_was_unfolded_gives_the_same(tree, type)
    search_equals_brute_force(tree, type, samples)
    a_profile_does_not_differ_from_itself(tree, type)


def self_sums_to_the_total_and_children_lie_within_parents(tree: CallTree, type: int, samples: list[Sample]) -> None:
    assert int(tree.self_[type].sum()) == tree.total(type) == sum(value for _, value in samples)
    for node in range(len(tree)):
        children = tree.totals[type, tree.first[node] : tree.first[node + 1]]
        assert int(children.sum()) <= tree.total(type, node)


def recursion_counts_once(tree: CallTree, type: int, samples: list[Sample], *, within: str) -> None:
    """Check what each function counts; everything passes through the function that encloses all others."""
    for code, function in enumerate(tree.names):
        passes = sum(value for stack, value in samples if function == within or function in stack)
        ends = sum(value for stack, value in samples if function != within and stack[-1] == function)
        assert (int(tree.self_[type, code]), int(tree.function_totals[type, code])) == (ends, passes)


def folding_what_was_unfolded_gives_the_same(tree: CallTree, type: int) -> None:
    folded = b"".join(exports.folded(tree.stacks(), type=type))
    again = b"".join(exports.folded(calltree.build(read(folded)).stacks(), type=0))
    assert again == folded


def search_equals_brute_force(tree: CallTree, type: int, samples: list[Sample]) -> None:
    found = tree.search(lambda function: "w" in function, type=type)
    assert found.total == sum(value for stack, value in samples if any("w" in function for function in stack))


def a_profile_does_not_differ_from_itself(tree: CallTree, type: int) -> None:
    merged = compare.merge([tree, tree], types=[type, type], labels=["before", "after"])
    assert compare.moved(merged) == []


def test_every_format_has_a_writer() -> None:
    written = {name.split(",")[0].replace(" ", "_") for name in WRITERS}
    assert written | set(GRAPHS) == set(formats.FORMATS)
