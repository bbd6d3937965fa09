"""Quick runs try fewer examples of each law, wherever it stands."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from stack import testing


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
