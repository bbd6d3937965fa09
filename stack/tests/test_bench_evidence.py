"""The sets that profiles are measured with."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise

from stack.bench.evidence import rivals, sets
from stack.bench.evidence.rivals import Cost

SMALL = sets.EvidenceSet("small", 300, 1, functions=200)


def test_a_set_is_the_same_each_time_and_has_each_stack_once() -> None:
    lines = list(sets.lines(SMALL))
    assert lines == list(sets.lines(SMALL))
    assert len({line.rpartition(" ")[0] for line in lines}) == len(lines) == 300


def test_a_traced_set_repeats_its_stacks() -> None:
    lines = list(sets.lines(replace(SMALL, repeated=True, terse=True, shallow=3, mean=4, skew=9.0)))
    assert len({line.rpartition(" ")[0] for line in lines}) < len(lines) == 300


def test_a_changed_program_shares_most_of_its_functions() -> None:
    before, after = (
        {name for line in sets.lines(made) for name in line.rpartition(" ")[0].split(";")}
        for made in (SMALL, replace(SMALL, drift=0.05))
    )
    assert len(before & after) > 0.5 * len(before)


def test_costs_are_compared_in_pairs() -> None:
    ours, theirs = iter([Cost(1.0), Cost(3.0), Cost(2.0)]), iter([Cost(2.0), Cost(3.0), Cost(8.0)])
    mine, other, ratio = rivals.paired(lambda: next(ours), lambda: next(theirs), times=3)
    assert (mine.seconds, other.seconds if other else None, ratio) == (2.0, 3.0, 0.5)


def test_a_process_is_measured() -> None:
    assert (rivals.HOME / "manage.py").is_file()
    small, large = (rivals.run([sys.executable, "-c", f"b'x' * ({mib} << 20)"]) for mib in (0, 64))
    assert large.mib > small.mib + 32
    assert all(cost.seconds > 0 < cost.processor for cost in (small, large))


def test_perf_text_is_of_whole_samples_each_process_at_its_own_addresses() -> None:
    text = list(sets._perf_samples([["main", "a", "b_[k]"]], 20))
    assert [line.split("+")[0].split()[-1] for line in text[1:3]] == ["b", "a"]
    assert all(one.strip() or other.strip() for one, other in pairwise(text))
    assert text[3::4] == ["\n"] * 20
    assert len({line.split()[0] for line in text[2::4]}) > 10
