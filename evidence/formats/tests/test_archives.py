"""Profiles in archives: a single one is read as it is, several that count the same are joined by file name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence import formats
from evidence.formats.tests.graph_writers import cprofile
from evidence.formats.tests.packing import archive
from evidence.formats.tests.test_more_formats import folded
from evidence.formats.tests.test_telling import FIXTURES
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import Limits
from evidence.profile.stacks import Stacks
from stack.fuzzing import laws

ONE, OTHER = b"main;work 3\nmain;rest 2\n", b"main;work 5\n"


def read(tmp_path: Path, data: bytes, **limits: int) -> Stacks:
    (tmp_path / "file").write_bytes(data)
    return formats.read_file(tmp_path / "file", limits=Limits(**limits))


@pytest.mark.parametrize(
    "pack", [bz2.compress, lzma.compress, lambda data: bz2.compress(data[:9]) + bz2.compress(data[9:])]
)
def test_bzip2_and_xz_are_unpacked(tmp_path: Path, pack: object) -> None:
    packed = pack(ONE)  # type: ignore[operator]
    assert read(tmp_path, packed).totals == [5]
    assert read(tmp_path, gzip.compress(packed)).totals == [5]
    with pytest.raises(BadProfile, match=r"truncated|damaged"):
        read(tmp_path, packed[:-9])
    with pytest.raises(TooMuch, match="larger than"):
        read(tmp_path, pack(bytes(3 << 20)), unpacked=1 << 20)  # type: ignore[operator]


@settings(max_examples=60, deadline=None)
@given(how=st.sampled_from([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]), data=st.data())
def test_a_zip_that_is_damaged_anywhere_is_read_or_refused_in_one_line(how: int, data: st.DataObject) -> None:
    with io.BytesIO() as out:
        with zipfile.ZipFile(out, "w", how) as bundle:
            bundle.writestr("cpu.folded", ONE * 40)
        whole = bytearray(out.getvalue())
    for at in data.draw(st.sets(st.integers(30, len(whole) - 1), min_size=1, max_size=4)):
        whole[at] = data.draw(st.integers(0, 255))
    laws.judge(bytes(whole))


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_one_profile_in_an_archive_is_read_as_it_is(tmp_path: Path, kind: str) -> None:
    for files in ([ONE], [b"read me", ONE, b""], [gzip.compress(ONE)]):
        assert folded(read(tmp_path, archive(kind, *files))) == {"main;work": 3, "main;rest": 2}
    assert read(tmp_path, gzip.compress(archive(kind, ONE))).totals == [5]


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_several_are_one_below_the_names_of_their_files(tmp_path: Path, kind: str) -> None:
    stacks = read(tmp_path, archive(kind, ONE, OTHER))
    assert folded(stacks) == {"run/0;main;work": 3, "run/0;main;rest": 2, "run/1;main;work": 5}
    assert stacks.about["files"] == ["run/0", "run/1"]
    wall = b"ThreadId(1)-main; a 5\n"
    with pytest.raises(BadProfile, match="different things"):
        read(tmp_path, archive(kind, ONE, wall))


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_what_makes_one_file_less_than_exact_holds_for_all(tmp_path: Path, kind: str) -> None:
    stacks = read(tmp_path, archive(kind, ONE, ONE + b"main;lost x\n", b"notes", b"more notes"))
    assert stacks.totals == [10]
    assert (stacks.about["skipped"], stacks.about["skipped_at"]) == (1, [[3, "run/1: main;lost x"]])
    assert stacks.about["caution"] == "Left out of the archive, as no profile that we read: run/2, run/3."
    graph = cprofile([(["main", "work"], 10**9)])
    assert read(tmp_path, archive(kind, graph, graph)).about["estimated"]


@pytest.mark.parametrize("name", formats.FORMATS)
def test_every_format_says_the_same_in_whatever_holds_it(tmp_path: Path, name: str) -> None:
    data = next(content for place, content in FIXTURES.items() if place.startswith(f"{name}/"))
    alone = read(tmp_path, data)
    for kind in ("zip", "tar"):
        for held in (archive(kind, data), archive(kind, lzma.compress(data)), bz2.compress(archive(kind, b"", data))):
            one = read(tmp_path, held)
            assert (one.format, one.sample_types, one.totals) == (alone.format, alone.sample_types, alone.totals)
            assert folded(one) == folded(alone)
        both = read(tmp_path, archive(kind, data, data))
        assert both.totals == [2 * total for total in alone.totals]
        assert {key for key in ("estimated", "rounded", "caution", "deltas") if alone.about.get(key)} <= set(both.about)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress])
def test_an_archive_may_be_packed_and_so_may_its_files(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    stacks = read(tmp_path, pack(archive("tar", pack(ONE), OTHER)))
    assert folded(stacks) == {"run/0;main;work": 3, "run/0;main;rest": 2, "run/1;main;work": 5}


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_archives_are_bounded(tmp_path: Path, kind: str) -> None:
    with pytest.raises(TooMuch, match="500 files"):
        read(tmp_path, archive(kind, *[b"x"] * 501))
    with pytest.raises(TooMuch, match="larger than"):
        read(tmp_path, archive(kind, *[bytes(400_000)] * 3), unpacked=1_100_000)


@given(kind=st.sampled_from(["zip", "tar"]), at=st.integers(0, 700), byte=st.integers(0, 255), cut=st.integers(0, 700))
@settings(deadline=None, max_examples=60)
def test_a_damaged_archive_is_read_or_refused_in_words(kind: str, at: int, byte: int, cut: int) -> None:
    data = bytearray(archive(kind, ONE, OTHER))
    data[at % len(data)] = byte
    for content in (bytes(data), bytes(data[: len(data) - cut % len(data)])):
        assert laws.judge(content) != "silent"
