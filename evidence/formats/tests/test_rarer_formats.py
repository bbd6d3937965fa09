"""What rare formats say besides their stacks, and how they are rejected; the laws of all formats apply to them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evidence.analysis import sentence
from evidence.formats.tests import rarer_writers
from evidence.formats.tests.test_more_formats import folded, read
from evidence.profile.errors import BadProfile, NotRecognised, TooMuch
from evidence.profile.limits import Limits
from evidence.tree import calltree
from stack.conformance import judges

SAMPLES: list[tuple[Sequence[str], int]] = [(("main", "work"), 3), (("main", "rest"), 2)]
MOJO = rarer_writers.austin_mojo(SAMPLES)
XML = rarer_writers.xctrace(SAMPLES)
ENTITIES = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>\n<trace-query-result>&b;</trace-query-result>'
ENTITIES = b'<?xml version="1.0"?>\n' + ENTITIES
TOC = b'<?xml version="1.0"?>\n<trace-toc><run number="1"/></trace-toc>'
PPROF_RULE = b"-" * 58 + b"+" + b"-" * 13 + b"\n"
PPROF_TREE = (
    b"Type: cpu\nShowing nodes accounting for 770ms, 100% of 770ms total\n" + PPROF_RULE
    + b"      flat  flat%   sum%        cum   cum%   calls calls% + context \n" + PPROF_RULE
    + b"     340ms 44.16% 44.16%      370ms 48.05%                | shop.fib\n"
    + b"                                              30ms  8.11% |   runtime.asyncPreempt\n" + PPROF_RULE
    + b"      40ms  5.19% 84.42%       40ms  5.19%                | runtime.memmove\n" + PPROF_RULE
)  # fmt: skip
EMPTY = b"<trace-query-result><node><row><sample-time id='1'>1</sample-time></row></node></trace-query-result>"


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("austin/shop.austin", "39 % of wall time is spent in `price` (self 33 %), called from `serve`."),
        ("austin_mojo/version-4.mojo", "39 % of wall time is spent in `price` (self 33 %), called from `serve`."),
        ("rbspy/shop.raw", "77 % of samples pass through `price` (self 54 %), called from `serve`."),
        ("scalene/with-stacks.json", "83 % of samples pass through `price` (self 58 %), called from `serve`."),
        ("scalene/functions.json", "89 % of time is spent in `price` (self 44 %), called from `price.py`."),
        ("ghc_prof/shop.prof", "70 % of time is spent in `Price.price total` (self 60 %), called from `Serve.serve`."),
        ("ghc_json/shop.json", "70 % of time is spent in `Price.price total` (self 60 %), called from `Serve.serve`."),
        ("gperftools_cpu/shop.prof", "44 % of CPU time is spent in `0x401200` (self 44 %)."),
        ("xctrace/cycles.xml", "83 % of CPU cycles pass through `total` (self 83 %)."),
        ("speedscope/shop.json", "56 % of events pass through `shop.Price` (self 39 %)."),
        ("callgrind/shop.txt", "56 % of instructions pass through `shop.Price` (self 39 %)."),
        (
            "legacy_pprof/contention.txt",
            "87 % of wait time is spent in `0x401200` (self 87 %).",
        ),
        ("legacy_pprof/shop.txt", "56 % of shop objects pass through `shop.Price` (self 39 %)."),
    ],
)
def test_what_is_counted_is_said_with_its_unit(tmp_path: Path, file: str, says: str) -> None:
    tree = calltree.build(read(tmp_path, (judges.HOME / file).read_bytes()))
    assert sentence.of(tree).text == says


@pytest.mark.parametrize(
    ("file", "warns"),
    [
        ("ghc_prof/shop.prof", "`+RTS -P`"),
        ("scalene/functions.json", "`scalene run --stacks`"),
        ("gperftools_cpu/shop.prof", "`go tool pprof -proto PROGRAM FILE > OUT`"),
        ("legacy_pprof/heap.txt", "`go tool pprof -proto PROGRAM FILE > OUT`"),
    ],
)
def test_what_a_file_lacks_is_said_with_the_command_that_has_it(tmp_path: Path, file: str, warns: str) -> None:
    tree = calltree.build(read(tmp_path, (judges.HOME / file).read_bytes()))
    assert any(warns in guard for guard in sentence.of(tree).guards)


def test_a_recording_that_was_cut_off_keeps_what_is_before_the_cut(tmp_path: Path) -> None:
    stacks = read(tmp_path, MOJO[:-1])
    assert folded(stacks) == {"main;work": 3}
    assert stacks.about["skipped_at"] == [[len(MOJO) - 2, "the last event, which is cut off"]]


@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        (MOJO + b"\x05" + rarer_writers.varint(7), BadProfile, "Frame 7 does not exist"),
        (MOJO + b"\x03\x08\x09", BadProfile, "Text 9 does not exist"),
        (MOJO + b"\x0a" + b"\xff" * 40, BadProfile, "longer than 64 bits"),
        (MOJO + b"\x0a" + rarer_writers.varint(1 << 63), BadProfile, "longer than 64 bits"),
        (MOJO + b"\x09" + rarer_writers.varint(-5), BadProfile, "lasted -5"),
        (MOJO + b"\x0a" + rarer_writers.varint(1 << 62) * 2, BadProfile, "none of MOJO's|63 bits"),
        (MOJO + b"\x06" + b"x" * 5000, BadProfile, "longer than 4096 bytes"),
        (MOJO + b"\x63", BadProfile, "Event 99"),
        (b"MOJ" + rarer_writers.varint(9) + MOJO[4:], NotRecognised, "`mojo2austin FILE OUT`"),
        (b"MOJ\x04", BadProfile, "no samples"),
        (rarer_writers.gperftools_cpu(SAMPLES)[:60], BadProfile, "past the end"),
        (b"rbspy00\n[]", NotRecognised, "`rbspy report -f speedscope"),
        (b"rbspy02\n{}\n{\n", BadProfile, r"malformed.*\(line 3\)"),
        (b'{"elapsed_time_sec": 1.0, "growth_rate": 0, "files": {}}', NotRecognised, "`--profile-all`"),
        (rarer_writers.ghc_prof(SAMPLES).replace(b"entries", b"entrees"), BadProfile, "no tree of cost centres"),
        (ENTITIES, BadProfile, "declares a document type"),
        (XML[:-30], BadProfile, "malformed or truncated"),
        (XML.replace(b">3</weight>", b">many</weight>"), BadProfile, "'many' isn't a weight"),
        (EMPTY, NotRecognised, "xctrace export --input FILE.trace"),
        (TOC, NotRecognised, "xctrace export --input FILE.trace"),
        (b"heap_v2/524288\n  t*: 1: 8 [0: 0]\n", NotRecognised, "`jeprof --collapsed PROGRAM FILE`"),
        (b"SIMPLEPERF\x01\0", NotRecognised, "`report_sample.py"),
        (b"sample:\n  event_type: cpu-cycles\n  time: 1\n", NotRecognised, "`report_sample.py"),
        (b"memray\0\x0b\0", NotRecognised, "`memray transform csv FILE`"),
        (b"\x04\x22\x4d\x18\x40\x40\xc0\xb0G\0\0\xf8\x06memray\0\r", NotRecognised, "`memray transform csv FILE`"),
        (b"\x04\x22\x4d\x18\x64\x40\xa7\x12\0\0\x80main;work 3", NotRecognised, "`lz4 -d FILE`"),
        (b"Statistical profiling result from v8.log, (485 ticks, 9 unaccounted).\n\n", NotRecognised, "--cpu-prof"),
        (b"# ========\n# captured on    : Wed\n# cmdline : perf\n# ========\n#\n", NotRecognised, "no samples"),
        (b"\n  _     ._   __/__   _ _  _  _ _/_   Recorded: 16:37\n", NotRecognised, "`pyinstrument -r json`"),
        (b"<!DOCTYPE html>\n<title>memray - flamegraph report</title>", NotRecognised, "data that it was drawn from"),
        (b'{"snapshot":{"meta":{"node_fields":["type"]}}}', NotRecognised, "`node --heap-prof`"),
        (b'{"total_num_allocations": 1, "top_locations_by_size": []}', NotRecognised, "`memray transform csv FILE`"),
        (PPROF_TREE, NotRecognised, "`go tool pprof -raw FILE`"),
        (b"digraph \"shop\" {\nnode [style=filled]\n", NotRecognised, "Upload the profile that it was drawn from"),
        (b'{"linux-perf-json-version": 1, "headers": {}, "samples": []}', NotRecognised, "`perf script -i FILE`"),
        (b'{"code": [{"name": "a", "type": "JS"}], "functions": [], "ticks": []}', NotRecognised, "`node --cpu-prof`"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_refused_in_one_line(tmp_path: Path, data: bytes, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says) as error:
        read(tmp_path, data)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["austin mojo", "xctrace"])
def test_depth_is_bounded(name: str) -> None:
    from evidence import formats

    data = rarer_writers.RARER[name]([(["main"] * 9, 1)])
    module = formats.sniff(data)
    assert module
    with pytest.raises(TooMuch, match="deeper than"):
        module.read(data, limits=Limits(depth=8))


def test_damaged_text_of_austin_is_no_table_of_numbers(tmp_path: Path) -> None:
    good, bad = b"P71;T1;a.py:run:3 5,0,1\n", b"P71;T1;a.py:run:3 x,0,1\n"
    assert read(tmp_path, good * 3 + bad).about["skipped"] == 1
    assert read(tmp_path, (good * 3).decode().encode("utf-16")).totals[-1] == 3
    with pytest.raises(NotRecognised, match=r"two formats at once|This isn't"):
        read(tmp_path, good + bad * 5)


def test_several_processes_are_each_a_root(tmp_path: Path) -> None:
    lines = rarer_writers.rbspy([(("main",), 2)]).replace(b'"pid": 71', b'"pid": 72', 1)
    assert folded(read(tmp_path, lines)) == {"process 72;main": 1, "process 71;main": 1}
    text = b"P71;T1;a.py:run:3 5,0,1\nP72;T1;b.py:run:3 5,1,-1\n"
    stacks = read(tmp_path, text)
    assert folded(stacks, 0) == {"process 71;run (a.py)": 5_000, "process 72;run (b.py)": 5_000}
    assert [(kind.name, total) for kind, total in zip(stacks.sample_types, stacks.totals, strict=True)] == [
        ("wall", 10_000), ("cpu", 5_000), ("memory", 1), ("freed memory", 1),
    ]  # fmt: skip


def test_an_older_profile_of_v8_without_times_counts_hits(tmp_path: Path) -> None:
    leaf: dict[str, Any] = {
        "functionName": "work",
        "url": "a.js",
        "lineNumber": 3,
        "id": 2,
        "hitCount": 4,
        "children": [],
    }
    head = {"functionName": "(root)", "url": "", "lineNumber": 0, "id": 1, "hitCount": 0, "children": [leaf]}
    older = {"typeId": "CPU", "title": "a", "head": head, "startTime": 1.5, "endTime": 2.5}
    stacks = read(tmp_path, json.dumps(older).encode())
    assert (folded(stacks), stacks.sample_types[0].unit) == ({"work": 4}, "samples")
    timed = {**older, "samples": [2, 2], "timestamps": [1_500_000, 1_700_000]}
    assert folded(read(tmp_path, json.dumps(timed).encode())) == {"work": 200_000_000}
