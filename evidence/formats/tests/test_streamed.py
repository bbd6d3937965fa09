"""JSON read element by element equals JSON read at once, wherever its pieces end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.formats.base.json_text import fields, streamed
from evidence.formats.chrome import chrome
from evidence.formats.tests.test_laws import samples_of
from evidence.profile.errors import TooMuch, Unreadable
from stack.fuzzing import corpus

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
LISTS = st.lists(VALUES, max_size=6)
STEPS = st.integers(1, 9)
TRACES = [path for path in corpus.files("chrome") if path.read_bytes().lstrip()[:1] in {b"[", b"{"}]


def read(text: str, *, step: int, encoding: str = "utf-8") -> tuple[list[Any], dict[str, Any]]:
    rest: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streamed, "STEP", step)
        return list(streamed.elements(text.encode(encoding), "traceEvents", rest=rest)), rest


@given(values=LISTS, others=st.dictionaries(st.text(max_size=4), VALUES, max_size=3), step=STEPS, ascii=st.booleans())
@settings(deadline=None, max_examples=60)
def test_elements_are_the_same_wherever_pieces_end(
    values: list[Any], others: dict[str, Any], step: int, ascii: bool
) -> None:
    others.pop("traceEvents", None)
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        text = json.dumps(values, ensure_ascii=ascii, indent=step % 3 or None)
        assert read(text, step=step, encoding=encoding) == (values, {})
    for file in ({"traceEvents": values, **others}, {**others, "traceEvents": values}):
        assert read(json.dumps(file, ensure_ascii=ascii), step=step) == (values, others)


@given(values=LISTS, step=STEPS, cut=st.integers(0, 60), odd=st.sampled_from(["", ",", "]", "}", '"', "x", "1", "NaN"]))
@settings(deadline=None, max_examples=60)
def test_what_is_malformed_is_refused_and_an_array_may_lack_its_end(
    values: list[Any], step: int, cut: int, odd: str
) -> None:
    whole = json.dumps({"traceEvents": values})
    text = whole[: len(whole) - cut % len(whole)] + odd
    try:
        expected = fields.parse(text.encode())
    except Unreadable:
        with pytest.raises(Unreadable):
            read(text, step=step)
    else:
        assert read(text, step=step) == (expected.get("traceEvents", []), {})  # an object without them has none
    bare = json.dumps(values)[:-1]
    assert read(bare, step=step) == read(f"{bare}, " if values else bare, step=step) == (values, {})


def test_one_value_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed, "LONGEST", 50)
    with pytest.raises(TooMuch, match="A value in it is larger"):
        read(json.dumps(["x" * 500]), step=9)


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
def test_a_large_trace_is_read_like_a_small_one(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    def told() -> Any:
        try:
            stacks = chrome.read(path.read_bytes())
        except Unreadable as error:
            return type(error)
        return samples_of(stacks), stacks.totals, stacks.about

    once = told()
    monkeypatch.setattr(chrome, "LARGE", 0)
    monkeypatch.setattr(streamed, "STEP", 100)
    assert told() == once
