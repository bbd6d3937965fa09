"""Archives, zip and tar: the files in them, one after the other, within bounds. Pure."""

from __future__ import annotations

import io
import mmap
import re
import struct
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, BinaryIO, cast

from evidence.formats.base.unpacking.unpack import Spent
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import Limits

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
MEMBERS = 500
# What macOS adds to archives.
_OF_MACOS = re.compile(r"(^|/)(__MACOSX/|\._|\.DS_Store$)")
NAMED = 5
_CHUNK = 1 << 16


def kind(head: bytes) -> str:
    """Return *zip* or *tar* for content that begins like one, else nothing."""
    if head.startswith(ZIP):
        return "zip"
    return "tar" if head[257:262] == b"ustar" else ""


def members(data: mmap.mmap, *, limits: Limits) -> Iterator[tuple[str, BinaryIO]]:
    """Yield the name and the content of each file in an archive, valid until the next one is requested.

    Raises ``BadProfile`` for a damaged archive, ``TooMuch`` for more than ``MEMBERS`` files or ``limits.unpacked``.
    """
    spent = Spent(limits)
    opened = _of_zip if kind(data[:512]) == "zip" else _of_tar
    try:
        for number, (name, file) in enumerate(opened(_Mapped(data))):
            if number >= MEMBERS:
                raise TooMuch(f"The archive has more than {MEMBERS} files")
            with file, _copied(file, spent) as copy:
                yield name, copy
    except _damaged() as error:
        raise _unreadable(error) from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise _unreadable(error) from error  # bzip2 raises this for damaged content, which is no fault of the system


def _unreadable(error: Exception) -> BadProfile:
    return BadProfile(f"The archive can't be read: {str(error)[:100] or type(error).__name__}")


def left_out(about: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    """Add a guard saying which files of an archive were left out, after the existing ones."""
    meant = [name[:200] for name in names if not _OF_MACOS.search(name)]
    if not meant:
        return {}
    more = f" and {len(meant) - NAMED} more" if len(meant) > NAMED else ""
    said = f"Left out of the archive, as no profile that we read: {', '.join(meant[:NAMED])}{more}."
    return {"caution": f"{about.get('caution', '')} {said}".strip()}


class _Mapped(io.RawIOBase):
    """A mapped file that can be read and seeked like any other."""

    def __init__(self, data: mmap.mmap) -> None:
        super().__init__()
        self._data = data
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begins = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._data)}
        if begins[whence] + offset < 0:
            raise ValueError("a place before the file")
        self._at = begins[whence] + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        piece = self._data[self._at : self._at + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def _of_zip(data: _Mapped) -> Iterator[tuple[str, IO[bytes]]]:
    import zipfile

    with zipfile.ZipFile(cast("IO[bytes]", data)) as archive:
        for one in archive.infolist():
            if not one.filename.endswith("/"):  # zipfile's is_dir fails on an empty name
                yield one.filename, archive.open(one)


def _of_tar(data: _Mapped) -> Iterator[tuple[str, IO[bytes]]]:
    import tarfile

    with tarfile.open(fileobj=cast("IO[bytes]", data), mode="r:") as archive:
        for one in archive:
            file = archive.extractfile(one) if one.isfile() else None
            if file is not None:
                yield one.name, file


@contextmanager
def _copied(file: IO[bytes], spent: Spent) -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as copy:
        while chunk := file.read(_CHUNK):
            spent.on(len(chunk))
            copy.write(chunk)
        copy.seek(0)
        yield copy


def _damaged() -> tuple[type[Exception], ...]:
    """Return what the library raises for archives that are damaged, encrypted, or compressed in an unknown way."""
    from lzma import LZMAError
    from tarfile import TarError
    from zipfile import BadZipFile

    known = (zlib.error, EOFError, struct.error, NotImplementedError, RuntimeError, ValueError, OverflowError)
    return (BadZipFile, LZMAError, TarError, *known)
