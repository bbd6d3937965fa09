"""JSON with its numbers in columns has the same content as when read at once, and is rejected in the same cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.formats import module_of
from evidence.formats.base.json_text import compact, fields, streamed
from evidence.formats.base.json_text.columns import JsonColumn, Numbers, Rows
from evidence.formats.tests.test_laws import samples_of
from evidence.formats.tests.test_streamed import VALUES
from evidence.profile.errors import Unreadable
from stack.fuzzing import corpus

FILES = [path for name in ("v8", "speedscope", "gecko") for path in corpus.files(name)]
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [0, 7, -1, 1 << 31, 1 << 63, -(1 << 63), 10**30, None, True, 0.5, "x", "a,b", '],"a"', [], [1], {}]
)
EDGES = [None, 1, *(edge + by for edge in (-(1 << 31), 1 << 31, -(1 << 63), 1 << 63) for by in (-1, 0))]
LISTS = st.one_of(
    st.lists(st.integers() | st.none(), max_size=20),
    st.lists(st.sampled_from(EDGES)),
    st.lists(st.floats(allow_nan=False, allow_infinity=False)),
    st.lists(st.lists(st.integers(0, 1 << 32), max_size=4), max_size=20), st.lists(ODD, max_size=20),
    st.lists(st.fixed_dictionaries({"id": VALUES, "of": st.lists(st.fixed_dictionaries({"id": st.integers()}))})),
)  # fmt: skip
STEPS = st.integers(1, 40)


@pytest.fixture(autouse=True, scope="module")
def large() -> Any:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compact, "LARGE", 0)
        patched.setattr(compact, "FEW", 2)
        yield


def read(text: str, *, step: int, levels: int = 12, without: tuple[str, ...] = ()) -> Any:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streamed, "STEP", step)
        patched.setattr(compact, "LEVELS", levels)
        return plain(compact.parse(text.encode(), without=without))


def plain(value: Any) -> Any:
    if isinstance(value, list | JsonColumn):
        assert [value[at] for at in range(len(value))] == list(value)
        return list(map(plain, value))
    return {key: plain(one) for key, one in value.items()} if isinstance(value, dict) else value


@given(
    lists=st.lists(LISTS, max_size=4),
    others=VALUES,
    step=STEPS,
    levels=st.integers(0, 4),
    indent=st.sampled_from([None, 1]),
)
@settings(deadline=None, max_examples=100)
def test_what_is_read_is_what_is_written(
    lists: list[Any], others: Any, step: int, levels: int, indent: int | None
) -> None:
    file = {"a": lists, "others": others, "threads": [{"samples": one, "time": one} for one in lists]}
    text = json.dumps(file, indent=indent)
    found = read(text, step=step, levels=levels)
    assert repr(found) == repr(json.loads(text))  # repr, because 1, 1.0 and True are equal
    if levels > 2:
        slim = {**file, "threads": [{"samples": one} for one in lists]}
        assert repr(read(text, step=step, without=("time",))) == repr(json.loads(json.dumps(slim)))


@given(
    values=LISTS,
    step=STEPS,
    cut=st.integers(0, 60),
    odd=st.sampled_from(["", ",", "]", "}", '"', "x", "1", "NaN", ",]"]),
)
@settings(deadline=None, max_examples=100)
def test_what_is_malformed_is_refused(values: list[Any], step: int, cut: int, odd: str) -> None:
    whole = json.dumps({"a": values, "b": [values, values]})
    at = len(whole) - cut % len(whole)
    for text in (whole[:at] + odd, whole[:at] + odd + whole[at:]):
        try:
            expected = fields.parse(text.encode())
        except Unreadable:
            with pytest.raises(Unreadable):
                read(text, step=step)
        else:
            assert repr(read(text, step=step)) == repr(expected)


def test_long_lists_are_columns() -> None:
    found = compact.parse(json.dumps({"a": [1, None] * 99, "b": [[1, 2], []] * 99, "c": [1, "x"] * 99}).encode())
    assert [type(found[key]) for key in "abc"] == [Numbers, Rows, list]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_large_profile_is_read_like_a_small_one(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    module, data = module_of(path.parent.name), corpus.content(path)

    def told() -> Any:
        try:
            stacks = module.read(data)
        except Unreadable as error:
            return type(error)
        return samples_of(stacks), stacks.totals, stacks.names, stacks.sample_types, stacks.about

    monkeypatch.setattr(streamed, "STEP", 100)
    in_columns = told()
    monkeypatch.setattr(compact, "LARGE", 1 << 40)
    assert told() == in_columns
