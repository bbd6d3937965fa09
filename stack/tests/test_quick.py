"""Quick runs try fewer examples of each law, wherever it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stack import checks, testing


@given(st.integers())
@settings(max_examples=50)
def law(n: int) -> None:
    assert n == n + 0


class Laws:
    @given(st.integers())
    @settings(max_examples=50)
    def inside(self, n: int) -> None:
        assert n == n + 0


def test_a_law_by_itself_and_one_in_a_class_try_few() -> None:
    items: list[Any] = [SimpleNamespace(obj=law), SimpleNamespace(obj=Laws().inside), SimpleNamespace(obj=None)]
    testing.try_few_examples(items, most=3)
    few: list[Any] = [law, Laws.inside]
    assert [one._hypothesis_internal_use_settings.max_examples for one in few] == [3, 3]


def test_workers_shuffle_by_the_seed_that_was_drawn_for_all() -> None:
    config: Any = SimpleNamespace(option=SimpleNamespace(shuffle="", short=""))
    testing.pytest_configure(config)
    node: Any = SimpleNamespace(workerinput={}, config=config)
    testing.pytest_configure_node(node)
    worker: Any = SimpleNamespace(option=SimpleNamespace(shuffle="", short=""), workerinput=node.workerinput)
    testing.pytest_configure(worker)
    assert worker.option.shuffle == config.option.shuffle
    assert config.option.shuffle.isdecimal()
    wrong: Any = SimpleNamespace(option=SimpleNamespace(shuffle="stack/tests", short=""))
    with pytest.raises(pytest.UsageError, match="a seed is a number"):
        testing.pytest_configure(wrong)


@pytest.mark.parametrize(("words", "processes"), [([], 3), (["-m", "quick"], 2), (["-k", "retype"], 3)])
def test_quick_tests_wait_for_nothing_so_no_more_run_than_there_are_cores(words: list[str], processes: int) -> None:
    assert checks.side_by_side(words, cores=2) == processes


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("stack/tests/test_kills.py", "stack/"),
        ("stack/tests/test_quick.py", ""),
        ("tests/browser/test_true.py", "tests/"),
        ("incidents/tests/test_verbs.py", ""),
    ],
)
def test_modules_that_start_stacks_or_drive_a_browser_stay_on_one_worker(path: str, kept: str) -> None:
    assert testing.lane(path) == kept
