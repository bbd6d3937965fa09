"""Limits for huge inputs: lines, contents that are read at once, chunks; rejected before they are in memory."""

from __future__ import annotations

import mmap
import tempfile
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence import formats
from evidence.formats.base import held
from evidence.formats.base.json_text import outline
from evidence.formats.jfr import chunk
from evidence.formats.tests.writers import WRITERS
from evidence.formats.tests.written_jfr import recording
from evidence.profile.errors import TooMuch
from evidence.profile.limits import Limits
from evidence.reader import reading

SAMPLES = [(("main", "work"), 3), (("main",), 1)]
LARGE = 20_000


@contextmanager
def mapped(data: bytes) -> Iterator[mmap.mmap]:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield content


@given(lengths=st.lists(st.integers(0, 40), min_size=1, max_size=20), limit=st.integers(1, 40))
def test_a_line_is_refused_when_it_is_longer_than_allowed(lengths: list[int], limit: int) -> None:
    data = b"\n".join(b"x" * length for length in lengths)
    longest = max(lengths)
    if not data:
        return
    with mapped(data) as content:
        if longest < limit:
            held.check_lines(content, limits=Limits(line=limit))
        elif longest > limit:
            with pytest.raises(TooMuch, match="A line is longer"):
                held.check_lines(content, limits=Limits(line=limit))


@pytest.mark.parametrize("name", ["folded", "perf script", "jstack", "legacy pprof", "austin", "ghc prof", "rbspy"])
def test_a_text_of_one_endless_line_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(WRITERS[name](SAMPLES) + b"\n" + b"frame;" * LARGE)
    with pytest.raises(TooMuch, match="A line is longer"):
        formats.read_file(tmp_path / "file", limits=Limits(line=LARGE))


AT_ONCE = [
    "speedscope", "chrome", "v8", "gecko", "stackprof", "pyinstrument", "otlp", "scalene", "ghc json", "ghc prof",
    "austin mojo", "gperftools cpu",
]  # fmt: skip


@pytest.mark.parametrize("name", AT_ONCE)
def test_what_can_only_be_read_at_once_is_bounded(name: str, tmp_path: Path) -> None:
    data = WRITERS[name](SAMPLES)
    (tmp_path / "file").write_bytes(data)
    assert formats.read_file(tmp_path / "file").totals
    with pytest.raises(TooMuch, match="can't be read above"):
        formats.read_file(tmp_path / "file", limits=Limits(whole=len(data) - 1))


@given(text=st.binary(max_size=40), begin=st.integers(0, 9), step=st.integers(0, 9))
def test_lines_are_those_of_the_whole(text: bytes, begin: int, step: int) -> None:
    expected = text[begin:].split(b"\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(held, "STEP", step)
        assert list(held.lines(text, begin)) == (expected if expected[-1] else expected[:-1])
        if text:
            with mapped(text) as content:
                assert list(held.lines(content, begin)) == list(held.lines(text, begin))


def test_a_chunk_of_a_recording_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = recording(SAMPLES)
    monkeypatch.setattr(chunk, "MOST", len(data) - 1)
    with pytest.raises(TooMuch, match="chunk"):
        formats.module_of("jfr").read(data)


def test_every_text_says_its_encoding_and_half_characters_are_refused_in_words(tmp_path: Path) -> None:
    text = WRITERS["speedscope"](SAMPLES).decode()
    for encoding in ("utf-8", "utf-8-sig"):
        (tmp_path / "file").write_bytes(text.encode(encoding))
        assert formats.read_file(tmp_path / "file").totals == [4]


def test_a_reader_may_hold_less_than_a_gigabyte() -> None:
    assert reading.DATA_MIB + Limits().whole // (1 << 20) < 1000


@pytest.mark.parametrize("deep", [b"[", b'{"a":', b'[{"a":'])
def test_looking_at_the_beginning_of_nested_json_takes_little(deep: bytes) -> None:
    tracemalloc.start()
    try:
        outline.of((deep * formats.HEAD)[: formats.HEAD])
        assert tracemalloc.get_traced_memory()[1] < 200 * formats.HEAD
    finally:
        tracemalloc.stop()
