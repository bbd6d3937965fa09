"""A short run leaves out rows of dear tables, and no test function."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stack import checks, short_runs, testing
from stack.short_runs import WalkPart

SEEDS = st.text("abc123", min_size=1)
TABLES = st.lists(st.frozensets(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), max_size=2), max_size=30)


@given(TABLES, SEEDS, st.integers(1, 4))
def test_a_table_keeps_some_rows_and_the_same_for_a_seed(rows: list[frozenset[Any]], seed: str, most: int) -> None:
    chosen = short_runs.drawn(rows, seed=seed, most=most)
    assert len(chosen) == min(most, len(rows))
    assert chosen <= {*range(len(rows))}
    assert chosen == short_runs.drawn(rows, seed=seed, most=most)


@given(SEEDS)
def test_the_rows_of_a_product_differ_in_every_parameter(seed: str) -> None:
    rows = [frozenset(enumerate(values)) for values in product("abc", "xy", "01")]
    first, second = (rows[n] for n in short_runs.drawn(rows, seed=seed, most=2))
    assert not first & second


def test_over_many_commits_every_row_has_its_turn() -> None:
    rows = [frozenset({("case", n)}) for n in range(40)]
    assert set().union(*(short_runs.drawn(rows, seed=f"{n:x}") for n in range(400))) == {*range(40)}


@given(st.lists(st.integers(), max_size=50), SEEDS)
def test_a_walk_takes_every_step_unless_the_run_is_short(steps: list[int], seed: str) -> None:
    assert WalkPart().of(steps) == steps
    part = WalkPart(seed).of(steps)
    assert bool(part) == bool(steps)
    assert len(part) <= len(steps) / short_runs.SHARE + 1


def test_over_many_commits_a_walk_takes_every_step() -> None:
    assert {step for n in range(100) for step in WalkPart(f"{n:x}").of(range(20))} == {*range(20)}


def item(nodeid: str, *fixtures: str, n: int = 0) -> Any:
    return SimpleNamespace(
        nodeid=nodeid,
        fixturenames=fixtures,
        callspec=SimpleNamespace(indices={"row": n}),
        get_closest_marker=lambda _: None,
    )


def test_every_function_is_run_and_tables_that_cost_nothing_are_run_whole() -> None:
    dear = [item(f"a.py::test_dear[{n}]", "db", n=n) for n in range(9)]
    cheap = [item(f"a.py::test_cheap[{n}]", n=n) for n in range(9)]
    out = [*short_runs.left_out([*dear, *cheap, item("b.py::test_one", "db")], seed="1", is_dear=testing.is_dear)]
    assert len(out) == 9 - short_runs.ROWS
    assert {one.nodeid.partition("[")[0] for one in out} == {"a.py::test_dear"}


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ([], ["--short"]),
        (["--shuffle"], ["--short", "--shuffle"]),
        (["--whole"], []),
        (["--whole", "--shuffle"], ["--shuffle"]),
        (["-k", "retype"], ["-k", "retype"]),
        (["incidents"], ["incidents"]),
    ],
)
def test_a_run_is_short_unless_it_is_whole_or_names_what_to_run(words: list[str], given: list[str]) -> None:
    assert checks.for_pytest(words) == given


def test_a_path_is_no_seed() -> None:
    wrong: Any = SimpleNamespace(option=SimpleNamespace(shuffle=None, short="stack/tests"))
    with pytest.raises(pytest.UsageError, match="put paths before"):
        testing.pytest_configure(wrong)


def test_workers_receive_the_seed() -> None:
    config: Any = SimpleNamespace(option=SimpleNamespace(shuffle=None, short="c0ffee"))
    testing.pytest_configure(config)
    node: Any = SimpleNamespace(workerinput={}, config=config)
    testing.pytest_configure_node(node)
    worker: Any = SimpleNamespace(option=SimpleNamespace(shuffle=None, short=""), workerinput=node.workerinput)
    testing.pytest_configure(worker)
    assert worker.option.short == "c0ffee"
    assert any("--short=c0ffee" in line for line in testing.pytest_report_header(worker))
