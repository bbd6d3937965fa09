"""Large perf script texts in columns have the same result as sample by sample, whatever they contain."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import numpy as np
import pytest

from evidence.formats.perf import address, equal, headers, perf_script, same_code, sample_header
from evidence.formats.tests.test_perf_script import folds_of, one
from evidence.profile.errors import TooMuch, Unreadable
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import Stacks

KERNEL, JAVA = "([kernel.kallsyms])", "(/tmp/perf-1.map)"
HEADERS = [
    "app 7/8 [001] 1.500001: 250000 cpu-clock: ", "my 2 thing 913 72.176760: 257597 cycles:uppp: ",
    "swapper     0 [012] 2281339.604067:   20834821 cycles:", "app 7 1.5: cycles: ", "java 24636/25607 cycles: ",
    "app 7 1.5: 0 cycles:", "app 7 1.5: 99999999999999999 cycles:", "app 7 1.5: 9 PERF_RECORD_COMM:", "java",
    "# a remark", "app\t7/8 [003] 1.000005:\t\t250000 cpu-cycles:", "7 cycles:",
    "app 7 [001] 1.5: sched:sched_switch: prev_comm=app",
    "app 7 12: 1 cycles:", "app 7 1.5: 1 a\x0bb:", ": 1.5: 1 cycles:", "app 7 1..5: 1 cycles:", "app 7 1.5: 1x cycles:",
]  # fmt: skip
FRAMES = [
    f"ffffffff8103ce3b schedule+0x1f {KERNEL}", f"ffffffff8103ce3c schedule+0x20 {KERNEL}",
    "            401136 main+0x1f (/srv/app)", "            401136 ns::f(int)+0x1 (/srv/app)", "1 short+0x1 (/srv/app)",
    "      7f1f40858ea0 [unknown] ([unknown])", f"      7f1f40858ea0 La;::x->Lb;::y+0x4b {JAVA}",
    "      7f1f40858ea0 (process)", "    7f1f4085 ea0 odd+0x1 (/a)", "THIS_IS_ODD_THIS! odd (/a)",
    "      7f1f40858ea0 b: c (/a)",
    "      7f1f40858ea0 memfd (/memfd:x (deleted))", "            401136 bare", "  file.c:12",
]  # fmt: skip


def text(seed: int, samples: int) -> str:
    """Write samples of everything above, most of them usual, some with extra or missing blank lines."""
    dice = random.Random(seed)
    pieces = []
    for _ in range(samples):
        plain = dice.random() < 0.8
        header = dice.choice(HEADERS[:3] if plain else HEADERS)
        frames = [dice.choice(FRAMES[:4] if plain else FRAMES) for _ in range(dice.randrange(0, 6))]
        pieces.append(one(*frames, header=header) + dice.choice(["", "", "", "", "\n", "\n \n"] if not plain else [""]))
    return "".join(pieces)


def told(stacks: Stacks) -> tuple[object, ...]:
    """The whole content of a text as plain values."""
    hints = dict(zip(stacks.names, stacks.hints, strict=True))
    by_type = [folds_of(stacks, type) for type in range(len(stacks.sample_types))]
    return stacks.sample_types, by_type, hints, dict(stacks.about)


def read(data: str, monkeypatch: pytest.MonkeyPatch, *, large: int, limits: Limits = DEFAULT) -> tuple[object, ...]:
    monkeypatch.setattr(perf_script, "LARGE", large)
    try:
        return told(perf_script.read(data.encode(), limits=limits))
    except Unreadable as error:
        return (str(error),)


@pytest.mark.parametrize("seed", range(6))
def test_columns_say_what_sample_by_sample_says(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = text(seed, 300)
    whole = read(data, monkeypatch, large=1 << 40)
    assert len(whole) > 1
    for size in (1 << 22, 5000, 700):
        monkeypatch.setattr(perf_script, "LARGE_CHUNK", size)
        assert read(data, monkeypatch, large=0) == whole
        assert read(data[: -size % 97], monkeypatch, large=0) == read(data[: -size % 97], monkeypatch, large=1 << 40)
    assert read(data.replace("\n", "\r\n"), monkeypatch, large=0) == whole


def test_limits_are_those_of_sample_by_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    data = text(1, 50) + one(*(f"{n:16x} f{n}+0x1 (/a)" for n in range(200)))
    for limits in (Limits(depth=100), Limits(names=50), Limits(frames=300), Limits(stacks=20)):
        refused = [read(data, monkeypatch, large=large, limits=limits) for large in (0, 1 << 40)]
        # Names are looked up before their samples, so another line may be the first with one too many.
        assert len({str(one[0]).partition(" (")[0] for one in refused}) == 1
        assert limits.names == 50 or refused[0] == refused[1]
        with pytest.raises(TooMuch):
            perf_script.read(data.encode(), limits=limits)


@pytest.mark.parametrize("header", [*HEADERS, "", "a" * 200 + " 7 1.5: 1 cycles:", "app 7 1.5: 1 " + "e" * 60 + ":"])
def test_headers_read_at_once_have_the_parts_of_one_read_alone(header: str) -> None:
    line = header.encode()
    data = np.frombuffer(b"x\n" + line + b"\n", dtype=np.uint8)
    found = headers.read(data, np.array([2]), np.array([2 + len(line)]))
    who, time, event = (data[int(a[0]) : int(b[0])].tobytes() for a, b in (found.who, found.times, found.events))
    if found.usual[0] and sample_header.is_usual(who, event):
        alone = sample_header.read(line)
        assert alone
        assert alone[1:] == (time, str(found.periods[0]).encode(), event)
        assert sample_header.comm(alone[0]) == sample_header.comm(sample_header.named(who))


def test_the_headers_that_perf_writes_are_read_at_once() -> None:
    data = "".join(f"{header}\n" for header in HEADERS[:3]).encode()
    ends = [at for at, byte in enumerate(data) if byte == 10]
    begins = [0, *(end + 1 for end in ends[:-1])]
    assert headers.read(np.frombuffer(data, dtype=np.uint8), np.array(begins), np.array(ends)).usual.all()


def test_equal_samples_are_counted_exactly_and_in_order() -> None:
    numbers = [np.array([1, 0, 1, -1, 1]), np.array([5, 5, 5, 5, 5]), np.array([2, 2, 2, 2, -1])]
    found = equal.EqualSamples(numbers, np.array([1 << 62, 7, 1 << 62, 1, 1]))
    assert list(found.in_order()) == [(0, (1, 5, 2, 2, 1 << 63)), (1, (0, 5, 2, 1, 7)), (3, None), (4, None)]


def test_lines_with_an_address_of_sixteen_places_are_told_from_all_others() -> None:
    def is_usual(line: bytes) -> bool:
        return bool(re.fullmatch(rb"\t.{16} .+\)", line, re.DOTALL) and re.fullmatch(rb" *[0-9a-f]+", line[1:17]))

    dice = random.Random(7)
    lines = [b"", b"\t", b"app 7/8 [001] 1.5: cycles:", b"\t" + b" " * 16 + b" f (/a)", b"\t401136 short (/a)"]
    for _ in range(3000):
        digits = dice.choice([1, 6, 7, 8, 9, 12, 15, 16])
        line = bytearray(b"\t" + b"ffffffff8103ce3b"[:digits].rjust(16) + b" schedule+0x1f (/srv/app)")
        for _ in range(dice.randrange(3)):
            line[dice.randrange(len(line))] = dice.choice(b"\t /0189:`afgFA\xb0\xe6)")
        lines.append(bytes(line))
    text = b"\n".join(lines) + b"\n"
    ends = np.cumsum([len(line) + 1 for line in lines]) - 1
    begins = np.array([0, *(ends[:-1] + 1)])
    found = address.are_usual(np.frombuffer(text, dtype=np.uint8), begins, ends)
    assert found.tolist() == [is_usual(line) for line in lines]
    assert 300 < found.sum() < len(lines) - 300


ENDS = [
    "f+0x1f (/a)", "f+0x20 (/a)", "f+0x (/a)", "f (/a)", "f+0x1g (/a)", "f+0x1F (/a)", "+0x1f (/a)", "f+0x1f (/a) (/b)",
    "f+0x1f (/a+0x2 (deleted))", "f+0x2+0x1f (/a)", "0x1f (/a)", "+0", "", " (", "1f (/b)", "(/a)",
    "abc (/b)", "f+0x1f ", "f+0x12345678901234567 (/a)", "f+0xé (/a)", "f+0x1f(/a)", "operator+0x1f (/a)",
]  # fmt: skip


def test_ends_of_lines_differ_in_their_offset_alone_where_their_code_is_the_same() -> None:
    def code(end: str) -> tuple[str, str]:
        symbol, opening, module = end.rpartition(" (")
        name, plus, offset = symbol.rpartition("+0x")
        digits = (
            bool(opening and plus) and len(offset) <= same_code.MOST_DIGITS and not offset.strip("0123456789abcdef")
        )
        return (f"{name}+0x", module) if digits else (end, "")

    dice = random.Random(3)
    for size in (0, 1, 2, 30, 200):
        ends = [dice.choice(ENDS) for _ in range(size)]
        text = np.frombuffer("".join(ends).encode(), dtype=np.uint8)
        edges = np.cumsum([0, *(len(end.encode()) for end in ends)]).astype(np.int32)
        left, cuts = same_code.without_offsets(text, edges)
        found = [left[begin:end].tobytes() for begin, end in pairwise(cuts.tolist())]
        numbers = [list(dict.fromkeys(map(code, ends))).index(code(end)) for end in ends]
        assert [list(dict.fromkeys(found)).index(end) for end in found] == numbers
