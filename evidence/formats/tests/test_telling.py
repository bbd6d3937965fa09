"""No file in one format is read as another: not with others' heads and tails, nor with comments and blank lines."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from random import Random

import pytest

from evidence import formats, measures
from evidence.formats.base import texts
from evidence.formats.base.json_text import outline
from evidence.formats.base.unpacking import unpack
from evidence.measures import bounded_text
from evidence.profile import claims
from evidence.profile.claims import Certainty, Claim, Claimed, decide
from evidence.profile.errors import Ambiguous, NotRecognised
from evidence.reader import explaining
from stack.fuzzing import corpus, laws

ERRORS = {"NotRecognised", "BadProfile", "TooMuch", "Ambiguous"}
KINDS = [name for name in corpus.names() if name != corpus.PACKED]
# (what it is read as, content), for every file that the fuzzer did not find.
FIXTURES = {
    f"{kind}/{path.name}": bytes(unpack.unpacked(path))
    for kind in KINDS
    for path in corpus.files(kind)
    if not path.name.startswith(corpus.FOUND)
}
TEXTS = {name: data for name, data in FIXTURES.items() if b"\0" not in data and not data[:1] < b"\x09"}
SMALL = 40_000


@cache
def read_as(name: str) -> str:
    """Return the format an unmodified file is read as."""
    return laws.judge(FIXTURES[name])


@cache
def one_each() -> list[str]:
    """One file per format, so that there are few pairs."""
    return sorted({read_as(name): name for name in sorted(FIXTURES)}.values())


def halves(data: bytes) -> tuple[bytes, bytes]:
    """Cut in the middle, between lines if there are any."""
    data = data[:SMALL]
    middle = data.find(b"\n", len(data) // 2) + 1 or len(data) // 2
    return data[:middle], data[middle:]


@pytest.mark.parametrize("name", FIXTURES)
def test_one_reader_alone_is_sure_of_a_file(name: str) -> None:
    told = formats.decide(FIXTURES[name][: formats.HEAD])
    assert told
    family = name.partition("/")[0]
    assert family in {told.module, corpus.MEASURES}
    assert told.claim.why


def test_a_head_of_one_with_a_tail_of_another_is_never_a_third() -> None:
    for name, other in product(one_each(), repeat=2):
        mixed = halves(FIXTURES[name])[0] + halves(FIXTURES[other])[1]
        assert laws.judge(mixed) in {read_as(name), read_as(other), *ERRORS}, (name, other)


@pytest.mark.parametrize("name", TEXTS)
def test_comments_and_blank_lines_make_no_other_format_of_a_text(name: str) -> None:
    random = Random(name)
    lines = TEXTS[name][:SMALL].split(b"\n")
    for remarks in ([b""], [b"# total: 100", b"#", b"# a;b 5"], [b"", b"# 7", b"\t"]):
        mixed = list(lines)
        for _ in range(min(len(lines), 12)):
            mixed.insert(random.randrange(len(mixed) + 1), random.choice(remarks))
        assert laws.judge(b"\n".join(mixed)) in {read_as(name), *ERRORS}


def test_two_that_are_as_sure_are_an_error_one_sees() -> None:
    both = [Claimed(name, name, Claim(Certainty.SURE, f"it has {name}")) for name in ("one", "other")]
    weaker = Claimed("third", "third", Claim(Certainty.LIKELY, "it has some"))
    with pytest.raises(Ambiguous, match=r"two formats at once: one \(it has one\) and other \(it has other\)"):
        decide([weaker, *both])
    assert decide([weaker, both[0]]) is both[0]
    assert decide([]) is None


def test_a_file_of_two_formats_is_refused_by_name(tmp_path: Path) -> None:
    both = b"app 7 1.5: 10 cycles:\n\t 1a main (/a)\n\n" * 3 + b"main;work;spin 7\nmain;rest 3\n" * 3
    (tmp_path / "both").write_bytes(both)
    with pytest.raises(NotRecognised, match=r"two formats at once: .*perf script.*folded|folded.*perf script"):
        formats.read_file(tmp_path / "both")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"main;work 5\n", ["folded: sure, 100 % of its lines", "Read as: folded"]),
        (b"a 5\nb 6\n", ["folded: possible, all of its lines", "Read as: folded"]),
        (b"Nettrace\x14\0\0\0", ["dotnet-trace convert --format Speedscope FILE"]),
        (b"PERFILE2\0\0", ["perf script -i FILE"]),
        (b"*version\n3\ndata-file-overflow=false\n", ["Android", "report_sample.py"]),
        (
            b"              libc.so.1`write+0x15\n              app`main+0x1\n                7\n",
            ["stackcollapse.pl FILE"],
        ),
        (b"Function Name,Total CPU [unit, %],Self CPU [unit, %]\n", ["Visual Studio"]),
        (b"# To display the perf.data header info, please use --header\n#\n# Samples: 38\n", ["perf script -i FILE"]),
        (b"#\n# Overhead  Command  Symbol\n", ["perf script -i FILE"]),
        (
            b"Process 12: python app.py\nPython v3.9.1 (/usr/bin/python3.9)\n\nThread 12 (idle)\n",
            ["py-spy record -f raw"],
        ),
        (
            b"import time: self [us] | cumulative | imported package\nimport time:       234 |        234 |   _io\n",
            ["py-spy record -f raw -o FILE -- python PROGRAM"],
        ),
        (b"Flat profile:\n\nEach sample counts as 0.01 seconds.\n", ["gprof"]),
        (b"hello\n", ["Not read"]),
    ],
)
def test_explaining_says_who_reads_it_or_which_command_helps(tmp_path: Path, content: bytes, words: list[str]) -> None:
    (tmp_path / "file").write_bytes(content)
    said = "\n".join(explaining.lines(tmp_path / "file"))
    assert not [one for one in words if one not in said]


def test_the_outline_of_json_ends_where_the_text_does() -> None:
    text = json.dumps({"a": [{"b": "x", "c": {"d": 5}}], "e\n": "y", "f": [[1], {"g": None}]})
    whole = outline.of(text.encode())
    assert {path: whole[path] for path in ("a[].b", "a[].c.d", "e\n", "f[][]")} == {
        "a[].b": "x", "a[].c.d": "5", "e\n": "y", "f[][]": "1",
    }  # fmt: skip
    for end in range(len(text)):
        assert set(outline.of(text[:end].encode())) <= set(whole)


@pytest.mark.parametrize("name", sorted(set(FIXTURES) - set(TEXTS)))
def test_a_reader_of_texts_that_is_not_asked_would_have_claimed_nothing(name: str) -> None:
    head = FIXTURES[name][: formats.HEAD]
    asked = [one for one, kinds in formats.FORMATS.items() if kinds == "text" and texts.hardly(head)]
    assert [one for one in asked if formats.module_of(one).claim(head)] == []


@pytest.mark.parametrize("name", FIXTURES)
def test_a_reader_whose_marks_a_head_lacks_would_have_claimed_nothing(name: str) -> None:
    data = FIXTURES[name]
    wide = [data.decode(errors="replace").encode("utf-16")] if name in TEXTS else []
    for head in (data[: formats.HEAD], data[: len(data) // 3], *halves(data), *wide):
        without = [one for one, marks in formats.MARKS.items() if not claims.marked(texts.plain(head), marks)]
        assert [one for one in without if formats.module_of(one).claim(head)] == []
        said = bounded_text.head(head)
        others = [one for one, marks in measures.MARKS.items() if not claims.marked(said, marks)]
        assert [one for one in others if import_module(f"evidence.measures.{one}").looks_like(head)] == []


def test_a_text_with_a_stray_byte_or_in_utf_16_is_still_a_text() -> None:
    stacks = b"main;serve;hash 61\nmain;serve 4\n" * 20
    assert not any(map(texts.hardly, (stacks, stacks + b"\0\x01" * 20, stacks.decode().encode("utf-16"), b"")))
    assert texts.hardly(bytes(range(32)) * 8)
