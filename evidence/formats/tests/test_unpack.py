import gzip
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from evidence.formats.base.unpacking import unpack
from evidence.profile.errors import BadProfile, NotRecognised, TooMuch
from evidence.profile.limits import DEFAULT

TEXT = b"main;work 3\nmain;idle 4\n" * 20_000
ZSTD = zstandard.ZstdCompressor()


def content(tmp_path: Path, data: bytes, *, unpacked: int = DEFAULT.unpacked) -> bytes:
    path = tmp_path / "profile"
    path.write_bytes(data)
    return bytes(unpack.unpacked(path, limits=replace(DEFAULT, unpacked=unpacked)))


@pytest.mark.parametrize(
    "packed",
    [
        TEXT,
        gzip.compress(TEXT),
        gzip.compress(TEXT[:12]) + gzip.compress(TEXT[12:]),
        gzip.compress(TEXT) + b"\0" * 512,
        ZSTD.compress(TEXT),
        ZSTD.compress(TEXT[:12]) + ZSTD.compress(TEXT[12:]),
        gzip.compress(gzip.compress(TEXT)),
        gzip.compress(ZSTD.compress(TEXT)),
    ],
    ids=["plain", "gzip", "members", "padded", "zstd", "frames", "gzip in gzip", "zstd in gzip"],
)
def test_what_is_packed_is_unpacked(tmp_path: Path, packed: bytes) -> None:
    assert content(tmp_path, packed) == TEXT


@pytest.mark.parametrize("packed", [gzip.compress(TEXT), ZSTD.compress(TEXT)], ids=["gzip", "zstd"])
def test_a_torn_stream_names_the_byte_where_it_ends(tmp_path: Path, packed: bytes) -> None:
    with pytest.raises(BadProfile, match=r"truncated") as error:
        content(tmp_path, packed[:-3])
    assert error.value.where == f"byte {len(packed) - 3}"


@pytest.mark.parametrize("packed", [gzip.compress(TEXT), ZSTD.compress(TEXT)], ids=["gzip", "zstd"])
def test_a_damaged_stream_is_refused(tmp_path: Path, packed: bytes) -> None:
    middle = len(packed) // 2
    with pytest.raises(BadProfile, match="stream"):
        content(tmp_path, packed[:middle] + bytes([packed[middle] ^ 0xFF]) + packed[middle + 1 :] + b"\xff")


@pytest.mark.parametrize("pack", [gzip.compress, ZSTD.compress], ids=["gzip", "zstd"])
def test_a_bomb_stops_at_the_limit(tmp_path: Path, pack) -> None:  # type: ignore[no-untyped-def]  # two libraries' own
    with pytest.raises(TooMuch, match="larger than 1 MiB"):
        content(tmp_path, pack(bytes(16 << 20)), unpacked=1 << 20)


def test_a_plain_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TooMuch, match="larger than"):
        content(tmp_path, TEXT, unpacked=1000)


def test_packed_three_times_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadProfile, match="more than twice"):
        content(tmp_path, gzip.compress(gzip.compress(gzip.compress(TEXT))))


@pytest.mark.parametrize("packed", [b"", gzip.compress(b"")], ids=["plain", "gzip"])
def test_an_empty_file_is_said_to_be_empty(tmp_path: Path, packed: bytes) -> None:
    with pytest.raises(NotRecognised, match="empty"):
        content(tmp_path, packed)
