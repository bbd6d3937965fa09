"""Protobuf's wire format in columns gives the same as field by field."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.formats.base.protobuf import columns, wire
from evidence.formats.tests.made_pprof import message, number, packed, unpacked
from evidence.profile.errors import BadProfile

numbers = st.lists(st.integers(0, 2**64 - 1), max_size=6)
messages = st.lists(st.tuples(numbers, numbers, st.booleans()), max_size=8)


@given(messages)
def test_columns_hold_what_messages_hold(given: list[tuple[list[int], list[int], bool]]) -> None:
    parts = [
        (packed if packs else unpacked)(1, first) + message(9, b"unknown") + unpacked(2, second)
        for first, second, packs in given
    ]
    data = b"".join(message(2, part) for part in parts)
    top = wire.top(data)
    begin, end = top.ranges(2)
    column = np.frombuffer(data or b"\0", dtype=np.uint8)
    found = columns.fields(column, begin, end)
    for tag, wanted in ((1, [one[0] for one in given]), (2, [one[1] for one in given])):
        values, counts = columns.ints(column, found.of(tag), len(given))
        assert values.view(np.uint64).tolist() == [value for one in wanted for value in one]
        assert counts.tolist() == [len(one) for one in wanted]


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    column = np.frombuffer(data or b"\0", dtype=np.uint8)
    with suppress(BadProfile):
        top = wire.top(data)
        for tag in range(16):
            begin, end = top.ranges(tag)
            found = columns.fields(column, begin, end)
            columns.ints(column, found.of(1), len(begin))


def test_the_last_of_several_numbers_counts() -> None:
    data = message(1, number(1, 5) + number(1, 300))
    column = np.frombuffer(data, dtype=np.uint8)
    begin, end = wire.top(data).ranges(1)
    assert columns.scalars(column, columns.fields(column, begin, end).of(1), 1).tolist() == [300]


def test_a_number_without_end_is_named_by_its_byte() -> None:
    with pytest.raises(BadProfile, match="longer than 64 bits") as caught:
        wire.top(b"\x08" + b"\xff" * 12)
    assert caught.value.where == "byte 1"
