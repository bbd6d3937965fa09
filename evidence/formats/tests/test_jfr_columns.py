"""JFR in columns has the same result as number by number, whatever is written."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from evidence.formats.base.gather import Gather
from evidence.formats.jfr import constants, events, jfr, traces, varints
from evidence.formats.jfr.chunk import HEADER, Chunk
from evidence.formats.jfr.counting import Groups, _by_state, _nanoseconds
from evidence.formats.jfr.cursor import Cursor
from evidence.formats.jfr.pools import pairs
from evidence.formats.jfr.recording import _summed
from evidence.formats.tests import written_jfr
from evidence.formats.tests.written_jfr import recording
from evidence.profile.errors import BadProfile, Unreadable
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

REAL = Path("fixtures/fuzz/jfr/jdk17.jfr.gz")
DICE = np.random.default_rng(7)
NUMBERS = [0, 1, 127, 128, 300, *(one + by for one in (1 << 21, 1 << 56, 1 << 63) for by in (-1, 0)), 2**64 - 1]
STACKS = [(tuple(f"f{(at * step) % 97}" for step in range(1, 2 + at % 40)), 1 + at % 5) for at in range(400)]


def said(stacks: Stacks) -> tuple[object, ...]:
    """The whole content of a recording as plain values; stacks outside the columns come last, wherever they were."""
    names, ends = [stacks.names[code] for code in stacks.frames.tolist()], stacks.offsets.tolist()
    samples = sorted(
        (names[begin:end], *row) for (begin, end), *row in zip(pairwise(ends), *stacks.values, strict=True)
    )
    return stacks.sample_types, dict(zip(stacks.names, stacks.hints, strict=True)), samples, stacks.about


@pytest.fixture(scope="module")
def real() -> bytes:
    return gzip.decompress(REAL.read_bytes())


@pytest.mark.parametrize("window", [1 << 19, 64, 7])
@pytest.mark.parametrize("source", ["real", "written", "long keys", "wide flags"])
def test_pools_in_columns_hold_what_the_cursor_reads(
    source: str, window: int, real: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    if source == "long keys":  # each stack's key takes nine bytes, the last of them with all eight bits
        monkeypatch.setattr(written_jfr, "FIRST_KEY", (1 << 64) - 500)
    if source == "wide flags":
        monkeypatch.setattr(written_jfr, "TRUNCATED", b"\x85")
    data = real if source == "real" else recording(STACKS)
    monkeypatch.setattr(constants, "FEW", 1 << 40)
    one_by_one = said(jfr.read(data))
    monkeypatch.setattr(constants, "FEW", 1)
    monkeypatch.setattr(varints, "WINDOW", window)
    monkeypatch.setattr(traces, "AT_ONCE", window)
    assert said(jfr.read(data)) == one_by_one


def test_fields_of_many_events_are_what_the_cursor_reads(real: bytes) -> None:
    for data in (real, recording(STACKS), recording(STACKS, packed=False)):
        chunk = Chunk(data, 0)
        for kind, at in events.places(chunk, chunk.classes.found).items():
            names = [one.name for one in chunk.classes.found[kind].fields]
            read, place = chunk.classes.reader(kind), chunk.classes.found[kind].place
            each = [read(chunk.cursor(one)) for one in at.tolist()]
            for name, values in events.columns(chunk, kind, at, names).items():
                assert values.tolist() == [event[place(name)] for event in each]


def test_a_number_is_the_same_alone_and_in_bulk() -> None:
    data = b"".join(map(written_jfr.varint, NUMBERS * 3))
    cursor, places, expected = Cursor(data), [], []
    while cursor.at < len(data):
        places.append(cursor.at)
        expected.append(cursor.int64())
    values, after = varints.at(np.frombuffer(data, dtype=np.uint8), np.array(places))
    assert values.tolist() == expected
    assert after.tolist() == [*places[1:], len(data)]
    small = [number for number in NUMBERS if number < 1 << 56] * 3
    found = varints.stretch(np.frombuffer(b"".join(map(written_jfr.varint, small)), dtype=np.uint8), 0)
    assert found.values.tolist() == small


def test_a_number_that_the_end_cuts_off_is_refused() -> None:
    data = recording(STACKS[:3])
    for cut in range(69, len(data), 13):
        short = data[:8] + cut.to_bytes(8, "big") + data[16:cut]
        with pytest.raises(BadProfile):
            jfr.read(short)


def test_different_values_are_numbered_without_a_sort() -> None:
    for most in (3, 1000, 1 << 40, 1 << 62):
        values = DICE.integers(-most, most, 5000)
        different, numbers = varints.numbered(values)
        assert sorted(different.tolist()) == np.unique(values).tolist()
        assert (different[numbers] == values).all()


def test_groups_add_up_exactly_whatever_the_keys() -> None:
    for keys in ([[1, 1, 2], [5, 5, 5]], [[-1, -1, 2**62], [2**62, 2**62, 0]]):
        groups = Groups([np.array(column) for column in keys])
        of_each = zip(*(column.tolist() for column in groups.keys), strict=True)
        assert sorted(zip(of_each, groups.sizes.tolist(), strict=True)) == sorted(
            {tuple(key): 2 if key[0] == keys[0][0] else 1 for key in zip(*keys, strict=True)}.items()
        )
        assert sum(groups.sums(np.array([2**62, 2**62, 2**62]))) == 3 * 2**62


@pytest.mark.parametrize("most", [3, 300, 1 << 62])
def test_pairs_of_method_and_type_stand_for_what_they_were(most: int) -> None:
    for types in (DICE.integers(0, 4, 500), DICE.integers(-most, most, 500)):
        methods = DICE.integers(-most, most, 500) // 7 * 7
        numbers, of_each, type_of_each = pairs(methods, types)
        assert (of_each[numbers] == methods).all()
        assert (type_of_each[numbers] == types).all()
        assert len(of_each) == len(set(zip(methods.tolist(), types.tolist(), strict=True)))


@pytest.mark.parametrize("amount", [1, 1 << 62])
def test_what_stacks_count_is_summed_exactly_in_the_order_in_which_they_come(amount: int) -> None:
    tallies = [(0, [9, -4, 9], [1, amount, 3]), (1, [7, 9], [amount, 5]), (0, [7, 9], [amount, 0])]
    expected: dict[int, list[int]] = {}
    for place, keys, amounts in tallies:
        for key, one in zip(keys, amounts, strict=True):
            expected.setdefault(key, [0, 0])[place] += one
    different, sums = _summed([(place, np.array(keys), np.array(amounts)) for place, keys, amounts in tallies], 2)
    assert list(zip(different.tolist(), sums.T.tolist(), strict=True)) == list(expected.items())


def test_states_that_say_the_same_are_one_and_keep_the_order_of_stacks() -> None:
    stacks, threads, states = np.array([5, 3, 5, 1, 2]), np.array([1, 1, 1, 1, 1]), np.array([2, 8, 4, 2, 7])
    groups = Groups([stacks, threads, states])
    expected: dict[str, list[tuple[int, ...]]] = {}
    for stack, thread, state, size in zip(*groups.keys, groups.sizes, strict=True):
        expected.setdefault("even" if state % 2 == 0 else "odd", []).append((stack, thread, size))
    found = _by_state(groups, lambda state: "even" if state % 2 == 0 else "odd")
    assert [(said, list(zip(*(column.tolist() for column in tally), strict=True))) for said, tally in found] == list(
        expected.items()
    )


@pytest.mark.parametrize("width", [2, 4, 5, 6, 8])
def test_events_are_found_however_wide_their_size_is_written(width: int) -> None:
    sizes = [width + extra for extra in (1, 200, 1, 300, 200, 9000)]
    written = b"".join(
        bytes(size >> 7 * at & 127 | (128 if at < width - 1 else 0) for at in range(width)) + b"\7" * (size - width)
        for size in sizes
    )
    chunk = Chunk(recording(STACKS[:3]), 0)
    chunk.bytes = bytes(HEADER.size) + written
    assert np.diff([*events._walked(chunk), len(chunk.bytes)]).tolist() == sizes


@pytest.mark.parametrize("hertz", [1, 1000, 24_000_000, 10**9, 3 * 10**9, 1 << 62])
def test_ticks_are_turned_into_nanoseconds_exactly(hertz: int) -> None:
    ticks = [0, 1, 999, 10**9 + 7, 5 * 10**9]
    assert _nanoseconds(np.array(ticks), hertz).tolist() == [one * 10**9 // hertz for one in ticks]


MANY = ([0, 1, 0], [2, 0, 1], [[1, 2], [0, 5], [3, 0]])


def test_many_samples_are_added_as_one_by_one() -> None:
    together, alone = (Gather([SampleType("a", "events"), SampleType("b", "events")], limits=DEFAULT) for _ in range(2))
    for gather in (together, alone):
        gather.code("main")
        gather.code("work")
    codes, sizes, values = MANY
    for _ in range(2):
        rows = np.array(values).T
        together.add_many(np.array(codes, dtype=np.int32), np.array(sizes), rows, what="stack", keys=[7, 8, 9])
        for at, value in enumerate(values):
            alone.add(codes[sum(sizes[:at]) : sum(sizes[: at + 1])], value, where="")
    assert said(together.stacks("jfr")) == said(alone.stacks("jfr"))


@pytest.mark.parametrize(
    ("limits", "value", "says"),
    [
        (DEFAULT, -1, "negative.*stack 9"),
        (DEFAULT, 1 << 63, "63 bits.*stack 9"),
        (Limits(depth=1), 0, "deep.*stack 7"),
        (Limits(frames=2), 0, "frames.*stack 9"),
        (Limits(stacks=2), 0, "samples.*stack 9"),
    ],
)
def test_too_much_of_many_samples_names_the_first(limits: Limits, value: int, says: str) -> None:
    codes, sizes, values = MANY
    gather = Gather([SampleType("a", "events"), SampleType("b", "events")], limits=limits)
    rows = np.array([*values[:2], [3, value]], dtype=object).T
    with pytest.raises(Unreadable, match=says):
        gather.add_many(np.array(codes, dtype=np.int32), np.array(sizes), rows, what="stack", keys=[7, 8, 9])
