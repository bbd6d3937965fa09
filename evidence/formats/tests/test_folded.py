from __future__ import annotations

import codecs
import mmap
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.formats.base.gather import Gather
from evidence.formats.folded import blocks, folded, grammar, repeats
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import Limits
from evidence.profile.stacks import SampleType, Stacks

LIMITS = Limits()


def lines(stacks: Stacks) -> list[tuple[str, tuple[int, ...]]]:
    """Unfold, in the order of the file."""
    pairs = zip(stacks.offsets[:-1].tolist(), stacks.offsets[1:].tolist(), stacks.values.T.tolist(), strict=True)
    return [(";".join(stacks.names[code] for code in stacks.frames[a:b]), tuple(values)) for a, b, values in pairs]


def test_each_line_is_a_stack_and_its_count() -> None:
    read = folded.read(b"main;work;spin 7\nmain;rest 3\n")
    assert lines(read) == [("main;work;spin", (7,)), ("main;rest", (3,))]
    assert read.sample_types == (SampleType("samples", "samples"),)
    assert read.totals == [10]
    assert not read.about


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a;b 1\r\nc;d 2\r\n", [("a;b", (1,)), ("c;d", (2,))]),
        (b"a;b 1\rc;d 2\r", [("a;b", (1,)), ("c;d", (2,))]),  # line ends of old Macs and of some spreadsheets
        (b"a;b 1\r", [("a;b", (1,))]),
        (b"\xef\xbb\xbfa;b 1", [("a;b", (1,))]),
        ("é;b 1\n".encode("utf-16"), [("é;b", (1,))]),
        (codecs.BOM_UTF16_BE + "é;b 1\n".encode("utf-16-be"), [("é;b", (1,))]),
        (b"caf\xe9;b 1\n", [("caf\N{REPLACEMENT CHARACTER};b", (1,))]),
        (b"a\0b;c 1\n", [("a\N{REPLACEMENT CHARACTER}b;c", (1,))]),
        (b"a;b\t12  \n\n   \n", [("a;b", (12,))]),
        (b"MainThread: x;run (app/main.py:12) 4\n", [("MainThread: x;run (app/main.py:12)", (4,))]),
        (b"std::vector<A, B>::at(unsigned long);x 2\n", [("std::vector<A, B>::at(unsigned long);x", (2,))]),
        (b"a;;b 1\n;c; 2\n", [("a;b", (1,)), ("c", (2,))]),
        (b" 5\n6\na;b 1\n", [("", (5,)), ("", (6,)), ("a;b", (1,))]),
        (b"worker 12 5\nmain;rest 3\n", [("worker 12", (5,)), ("main;rest", (3,))]),
        (b"worker 12 5\nworker 13 6\n", [("worker 12", (5,)), ("worker 13", (6,))]),
        (b"a;b 10 20\nc 0 5\n", [("a;b", (10, 20)), ("c", (0, 5))]),
        (b"a;b 9223372036854775807\n", [("a;b", (9223372036854775807,))]),
        (b"a;b 12.0\nc 3.\n", [("a;b", (12,)), ("c", (3,))]),
        (b"a;b 1.5e+06\na;c 12\na;d 2E3\n", [("a;b", (1_500_000,)), ("a;c", (12,)), ("a;d", (2000,))]),
        (b"a;b 0e99\na;c 1200e-2\na;d 1e-200\n", [("a;b", (0,)), ("a;c", (12,)), ("a;d", (0,))]),
    ],
)
def test_dialects(text: bytes, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert lines(folded.read(text)) == expected


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(
    "count", [b"-3", b"+3", b"-0.5", b"1,234", b"12'345'678", b"1_000", b"9223372036854775808", b"1e19"]
)
def test_a_file_without_its_largest_counts_or_its_losses_would_lie(count: bytes, large: bool) -> None:
    data = b"main;rest 7\nmain;work " + count + b"\r\nmain;last 2\n"
    with pytest.raises(BadProfile, match=r"A count (has a sign|is written|is too large)"):
        (blocks if large else grammar).read(data, columns=1, limits=LIMITS)


REMARKS = (
    b"# duration: 100\n",
    b"#duration: 7\n",
    b"# a;b 5\n",
    b"#\n",
    b"## total 12\n",
    b"#!collapsed 1\n",
    b"#EOF 3",
)


@given(places=st.lists(st.tuples(st.sampled_from(REMARKS), st.integers(0, 3)), max_size=8), large=st.booleans())
@settings(deadline=None)
def test_comments_count_nothing_wherever_they_stand(places: list[tuple[bytes, int]], large: bool) -> None:
    texts = [b"main;work 7\n", b"#<Class:A>;run 2\n", b"main;#rest 3\n"]
    for remark, at in places:
        texts.insert(at, remark if remark.endswith(b"\n") else remark + b"\n")
    data = b"".join(texts)
    parts = blocks.read(data, columns=1, limits=LIMITS) if large else grammar.read(data, columns=1, limits=LIMITS)
    assert parts.counts.tolist() == [[7, 2, 3]]
    assert sorted(parts.names) == ["#<Class:A>", "#rest", "main", "run", "work"]
    assert not parts.skipped.count


def test_austin_counts_microseconds_and_says_how_long_it_took() -> None:
    head = b"# austin: 3.6.0\n# interval: 100\n# mode: wall\n\n"
    read = folded.read(head + b"P1;T0:1;a.py:f:3 250\nP1;T0:1;a.py:g:9 50\n\n# duration: 320\n")
    assert read.sample_types == (SampleType("wall", "nanoseconds"),)
    assert read.totals == [300_000]
    assert read.about["duration_ns"] == 320_000
    assert read.about["comments"] == ["austin: 3.6.0", "interval: 100", "mode: wall", "duration: 320"]
    assert not [name for name in read.names if "#" in name]


def test_tracing_flame_writes_nanoseconds_and_where_spans_are() -> None:
    read = folded.read(
        b"ThreadId(2)-gossip-0 512\nThreadId(2)-gossip-0; net::run:src/net.rs:10; net::connect:src/a.rs:7 88\n"
    )
    assert read.sample_types == (SampleType("wall", "nanoseconds"),)
    assert lines(read) == [("ThreadId(2)-gossip-0", (512,)), ("ThreadId(2)-gossip-0;net::run;net::connect", (88,))]


def test_two_spans_of_one_name_are_one_function() -> None:
    read = folded.read(b"ThreadId(1); a::poll:src/a.rs:1; a::poll:src/a.rs:9 5\n")
    assert lines(read) == [("ThreadId(1);a::poll;a::poll", (5,))]


def test_two_counts_are_before_and_after() -> None:
    read = folded.read(b"a;b 10 20\n")
    assert [kind.name for kind in read.sample_types] == ["before", "after"]
    assert read.sample_types[read.default_type].name == "after"


@pytest.mark.parametrize(
    ("text", "unit", "values"),
    [
        (b"a;b 12.5\nc 1\n", "thousandths of samples", [12500, 1000]),
        (b"a;b 0.0001\n", "millionths of samples", [100]),
        (b"a;b 0.30000000000000004\n", "thousandths of samples", [300]),
        (b"a;b 0.9999999996\n", "samples", [1]),
        (b"a;b 1.123456789\n", "billionths of samples", [1123456789]),
    ],
)
def test_fractions_are_exact(text: bytes, unit: str, values: list[int]) -> None:
    read = folded.read(text)
    assert read.sample_types[0].unit == unit
    assert read.values.tolist() == [values]


def test_annotations_are_hints_and_stay_in_names() -> None:
    read = folded.read(b"a;vfs_write_[k];-;b_[j];c_[i];d_[w];e_[G];f_[g];g_[0] 1\n")
    assert dict(zip(read.names, read.hints, strict=True)) == {
        "a": "", "vfs_write_[k]": "kernel", "-": "boundary", "b_[j]": "jit", "c_[i]": "inlined", "d_[w]": "",
        "e_[G]": "gpu-source", "f_[g]": "gpu", "g_[0]": "interpreted",
    }  # fmt: skip


def test_bad_lines_are_counted_and_shown() -> None:
    read = folded.read(b"# a comment\na;b 1\nno count\na;b x3\na;b 1e5s\n")
    assert lines(read) == [("a;b", (1,))]
    assert read.about["skipped"] == 3
    assert read.about["skipped_at"][:2] == [[3, "no count"], [4, "a;b x3"]]


def test_when_nothing_can_be_read_the_first_line_is_named() -> None:
    with pytest.raises(BadProfile) as caught:
        folded.read(b"\nnothing\nhere\n")
    assert caught.value.where == "line 2"


@pytest.mark.parametrize("read", [grammar.read, blocks.read])
@pytest.mark.parametrize(
    ("text", "limits", "where"),
    [
        (b"a 1\n" + b"f;" * 11 + b" 3\na;b 1\n", Limits(depth=10), "line 2"),
        (b"a;b;c 1\n", Limits(names=2), ""),
        (b"a;b;c 1\n" * 4, Limits(frames=11), ""),
        (b"a 1\n" * 4, Limits(stacks=3), ""),
    ],
)
def test_too_much(read, text: bytes, limits: Limits, where: str) -> None:  # type: ignore[no-untyped-def]  # two readers of one signature
    with pytest.raises(TooMuch) as caught:
        read(text, columns=1, limits=limits)
    assert caught.value.where == where


def test_counts_that_no_integer_holds_are_too_much() -> None:
    with pytest.raises(TooMuch):
        folded.read(b"a;b 9223372036854775807\nc 1\n")


def test_long_names_are_cut() -> None:
    read = folded.read(b"x" * 50 + b";" + b"x" * 60 + b" 1\n", limits=Limits(name=40))
    assert [len(name) for name in read.names] == [40, 40]
    assert {name[:30] for name in read.names} == {"x" * 30}


@pytest.mark.parametrize("one", [grammar.FrameCodes, Gather])
def test_two_long_names_that_differ_at_their_end_stay_two_functions(one: type) -> None:
    begins = "core::iter::adapters::map::Map<" * 200
    if one is Gather:
        gather = Gather([SampleType("samples", "samples")], limits=LIMITS)
        codes = [gather.code(begins + end) for end in ("A>", "B>", "A>")]
    else:
        codes = grammar.FrameCodes(LIMITS)([f"{begins}{end};".encode() for end in ("A>", "B>", "A>")])
    assert codes[0] == codes[2] != codes[1]


FRAME = st.text(alphabet="ab ;\té\0-_[k]12.\r", max_size=6).map(lambda text: text.encode())
COUNT = st.one_of(
    st.integers(0, 10**6).map(str),
    st.integers(0, 2**64).map(str),
    st.sampled_from(
        ["", "12.5", "007", "0.0000000001", ".5", "5.", "-1", "1 2", "2e3", "1,234", "123456789 1", "12345678 12345678"]
    ),
)
LINE = st.tuples(
    st.lists(FRAME, max_size=6).map(b";".join),
    st.sampled_from([b" ", b"\t", b"", b"  "]),
    COUNT.map(str.encode),
    st.sampled_from([b"", b"\r", b" \t", b"      "]),
).map(b"".join)
TEXT = st.lists(LINE, max_size=12).map(b"\n".join)


def _said(found: grammar.FoldedLines, *, added_up: bool) -> object:
    ends, frames, counts = found.offsets.tolist(), found.frames.tolist(), found.counts.T.tolist()
    stacks = [(tuple(frames[low:high]), tuple(row)) for low, high, row in zip(ends, ends[1:], counts, strict=False)]
    if added_up and not found.parts:
        sums: dict[tuple[int, ...], list[int]] = {}
        for stack, row in stacks:
            sums[stack] = [one + two for one, two in zip(row, sums.get(stack, [0] * len(row)), strict=True)]
        stacks = [(stack, tuple(row)) for stack, row in sums.items()]
    return found.names, stacks, found.parts, found.skipped.about(), found.samples


@given(
    TEXT, st.integers(1, 3), st.booleans(), st.sampled_from([1, 2]), st.sampled_from([8, 64, 1 << 20]), st.booleans()
)
@settings(max_examples=150, deadline=None)
def test_the_quick_way_says_what_the_plain_way_says(
    text: bytes, times: int, ended: bool, columns: int, block: int, added_up: bool
) -> None:
    text = b"\n".join([text] * times) + (b"\n" if ended else b"")
    said: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        patch.setattr(blocks, "TILE", 16)
        patch.setattr(repeats, "DIFFERENT", 2.0 if added_up else 0.0)
        for read in (grammar.read, blocks.read):
            try:
                found = read(text, columns=columns, limits=LIMITS)
            except (grammar.NotPairs, BadProfile) as error:
                said.append(repr(error))
                continue
            said.append(_said(found, added_up=added_up))
    assert said[0] == said[1]


def test_equal_stacks_are_added_up_where_there_are_many_and_where_the_sums_fit() -> None:
    stacks = b"main;work;spin %d\nmain;rest 3\n 5\nmain;rest 4\n" * 50
    found = blocks.read(stacks % ((7,) * 50), columns=1, limits=LIMITS)
    assert (len(found.offsets) - 1, found.counts.tolist(), found.samples) == (3, [[350, 350, 250]], 200)
    found = blocks.read(stacks % ((1 << 56,) * 50), columns=1, limits=LIMITS)
    assert (len(found.offsets) - 1, found.samples) == (200, 200)
    found = blocks.read(b"".join(b"main;f%d 1\n" % n for n in range(99)) + b"main;f7 1\n", columns=1, limits=LIMITS)
    assert (len(found.offsets) - 1, found.samples) == (100, 100)


NAME = st.text(alphabet="abc()<>:* _[]", min_size=1, max_size=5).map(str.strip).filter(bool)


@given(st.lists(st.tuples(st.lists(NAME, min_size=1, max_size=5), st.integers(0, 10**12)), min_size=1, max_size=20))
def test_what_was_folded_is_read_again(stacks: list[tuple[list[str], int]]) -> None:
    text = "".join(f"{';'.join(frames)} {count}\n" for frames, count in stacks)
    written = [(";".join(frames), (count,)) for frames, count in stacks]
    assert lines(folded.read(text.encode())) == written
    for read in (folded.read(text.encode()), _read_quickly(text.encode())):
        assert _each_once(lines(read)) == _each_once(written)  # if many are equal, some are already added up
        assert read.names == sorted({name for frames, _ in stacks for name in frames})


def _each_once(stacks: Sequence[tuple[str, tuple[int, ...]]]) -> list[tuple[str, int]]:
    """Return each stack in order of first appearance, and what it counts in all."""
    counts: dict[str, int] = {}
    for stack, (count,) in stacks:
        counts[stack] = counts.get(stack, 0) + count
    return list(counts.items())


def _read_quickly(text: bytes) -> Stacks:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folded, "SMALL", 0)
        return folded.read(text)


def test_a_mapped_file_of_several_blocks_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folded, "SMALL", 0)
    monkeypatch.setattr(blocks, "BLOCK", 1 << 13)
    path = tmp_path / "many.folded"
    path.write_bytes(b"".join(b"main;f%d;g%d %d\n" % (n % 7, n % 91, n) for n in range(9_000)) + b"bad\nmain 1")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        read = folded.read(data)
    assert read.totals == [sum(range(9_000)) + 1]
    assert read.about["skipped_at"] == [[9_001, "bad"]]
    assert Counter(np.diff(read.offsets).tolist()) == {3: 91, 1: 1}
    assert read.samples == 9_001


def test_what_takes_longer_to_import_than_most_files_to_read_is_not_imported() -> None:
    code = (
        "import sys; from evidence.formats.folded import folded; folded.SMALL = 0\n"
        "data = b''.join(b'main;f%d;g%d 5\\n' % (n % 7, n) for n in range(400)) * 2\n"
        "from evidence.formats.folded import blocks; blocks.BLOCK = 1 << 11\n"
        "assert folded.read(data).totals == [4000]\n"
        "assert 'pyarrow.compute' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
