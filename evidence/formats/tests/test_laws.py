"""What holds for every format, whatever the samples are."""

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

NAMES = st.sampled_from(["main", "work", "std::vec::push", "net/http.(*conn).serve", "wait_for", "Gen<A, B>", "λ"])
STACK = st.lists(NAMES, min_size=1, max_size=7).map(tuple)
# Lines of a single frame each could be any table, so one stack has two.
SAMPLES = st.lists(st.tuples(STACK, st.integers(1, 30)), max_size=12).map(lambda some: [(("main", "work"), 1), *some])
QUICK = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read(data: bytes, *, packed: bool = False) -> Stacks:
    with tempfile.NamedTemporaryFile() as file:
        file.write(gzip.compress(data) if packed else data)
        file.flush()
        return formats.read_file(file.name)


def samples_of(stacks: Stacks, *, type: int = 0) -> list[Sample]:
    """Return what was read as samples again, perf's program and its event's own column taken off."""
    root = stacks.format == "perf script"
    found = []
    for at, value in enumerate(stacks.values[type].tolist()):
        codes = stacks.frames[stacks.offsets[at] : stacks.offsets[at + 1]].tolist()
        found.append((tuple(stacks.names[code] for code in codes)[root:], value))
    return aggregated(found)


def column(stacks: Stacks, samples: Sequence[Sample]) -> int:
    """Return the sample type that counts what was written; some formats count samples beside it."""
    total = sum(value for _, value in samples)
    return next(type for type, found in enumerate(stacks.totals) if found == total)


def shown(name: str, samples: Sequence[Sample]) -> list[Sample]:
    """Return samples with the names that a format can say."""
    said = SHOWN.get(name.partition(",")[0], str)
    return [(tuple(map(said, stack)), value) for stack, value in samples]


@pytest.mark.parametrize("name", WRITERS)
@given(samples=SAMPLES)
@QUICK
def test_what_was_written_is_read(name: str, samples: list[Sample]) -> None:
    stacks = read(WRITERS[name](samples))
    samples = shown(name, samples)
    assert stacks.format == name.split(",", maxsplit=1)[0]
    assert samples_of(stacks, type=column(stacks, samples)) == aggregated(samples)


@pytest.mark.parametrize("name", WRITERS)
@given(samples=SAMPLES)
@QUICK
def test_self_sums_to_the_total_children_lie_within_parents_and_recursion_counts_once(
    name: str, samples: list[Sample]
) -> None:
    stacks = read(WRITERS[name](samples), packed=True)
    samples = shown(name, samples)
    type = column(stacks, samples)
    tree = calltree.build(stacks)
    assert int(tree.self_[type].sum()) == tree.total(type) == sum(value for _, value in samples)
    for node in range(len(tree)):
        children = tree.totals[type, tree.first[node] : tree.first[node + 1]]
        assert int(children.sum()) <= tree.total(type, node)
    for code, function in enumerate(tree.names):
        within = stacks.format == "perf script" and function == "app"
        passes = sum(value for stack, value in samples if within or function in stack)
        ends = sum(value for stack, value in samples if not within and stack[-1] == function)
        assert (int(tree.self_[type, code]), int(tree.function_totals[type, code])) == (ends, passes)


@pytest.mark.parametrize("name", WRITERS)
@given(samples=SAMPLES)
@QUICK
def test_folding_what_was_unfolded_gives_the_same(name: str, samples: list[Sample]) -> None:
    stacks = read(WRITERS[name](samples))
    type = column(stacks, samples)
    folded = b"".join(exports.folded(calltree.build(stacks).stacks(), type=type))
    again = b"".join(exports.folded(calltree.build(read(folded)).stacks(), type=0))
    assert again == folded


@pytest.mark.parametrize("name", WRITERS)
@given(samples=SAMPLES)
@QUICK
def test_search_equals_brute_force_and_a_profile_does_not_differ_from_itself(name: str, samples: list[Sample]) -> None:
    stacks = read(WRITERS[name](samples))
    samples = shown(name, samples)
    tree = calltree.build(stacks)
    type = column(stacks, samples)
    found = tree.search(lambda function: "w" in function, type=type)
    assert found.total == sum(value for stack, value in samples if any("w" in function for function in stack))
    merged = compare.merge([tree, tree], types=[type, type], labels=["before", "after"])
    assert compare.moved(merged) == []


def test_every_format_has_a_writer() -> None:
    written = {name.split(",")[0].replace(" ", "_") for name in WRITERS}
    assert written | set(GRAPHS) == set(formats.FORMATS)
