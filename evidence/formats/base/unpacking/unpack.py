"""gzip, zstd, bzip2 and xz, recognised by content and unpacked to an unnamed file: bounded disk, nothing in memory."""

from __future__ import annotations

import io
import mmap
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

from evidence.profile.errors import BadProfile, NotRecognised, TooMuch
from evidence.profile.limits import DEFAULT, MIB, Limits

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
XZ = b"\xfd7zXZ\0"
BZIP2 = re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)")
PACKED_TWICE = 2
_CHUNK = 1 << 16
# A zstd block may take 4 bytes for 128 KiB, so the input is fed in small pieces.
_SIP = 1 << 10
_WINDOW = 128 * MIB


class Spent:
    """How much was unpacked so far."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._size = 0

    def on(self, size: int) -> None:
        """Count more bytes. Raises ``TooMuch`` beyond ``limits.unpacked``."""
        self._size += size
        if self._size > self._limits.unpacked:
            raise _too_large(self._limits)


def unpacked(path: Path, *, limits: Limits = DEFAULT) -> mmap.mmap:
    """Return the content of a file mapped into memory, after unpacking it once or twice if it is compressed.

    Raises ``BadProfile`` for a truncated stream, naming the byte, ``TooMuch`` beyond ``limits.unpacked`` bytes,
    ``NotRecognised`` for an empty file.
    """
    return mapped(path.open("rb"), limits=limits)


def mapped(file: BinaryIO, *, limits: Limits = DEFAULT) -> mmap.mmap:
    """Return the content of an open file, like ``unpacked``, and close it.

    Raises ``BadProfile`` for damaged content, ``NotRecognised`` for an empty file.
    """
    for _ in range(PACKED_TWICE):
        with file:
            stream = _stream(file)
            if stream is None:
                return _mapped(file, limits)
            file = _spill(stream(file), limits)
    with file:
        if _stream(file):
            raise BadProfile("The file is compressed more than twice")
        return _mapped(file, limits)


def frame(piece: bytes, *, limits: Limits = DEFAULT) -> bytes:
    """Return the content of one zstd-compressed piece. Raises ``BadProfile`` and ``TooMuch``."""
    pieces, spent = [], Spent(limits)
    for chunk in _zstd(io.BytesIO(piece)):
        pieces.append(chunk)
        spent.on(len(chunk))
    return b"".join(pieces)


def _stream(file: BinaryIO) -> Callable[[BinaryIO], Iterator[bytes]] | None:
    head = file.read(10)
    file.seek(0)
    if head.startswith(GZIP):
        return _gzip
    if head.startswith(ZSTD):
        return _zstd
    if head.startswith(XZ):
        return _xz
    return _bzip2 if BZIP2.match(head) else None


def _mapped(file: BinaryIO, limits: Limits) -> mmap.mmap:
    size = file.seek(0, 2)
    if not size:
        raise NotRecognised("The file is empty")
    if size > limits.unpacked:
        raise _too_large(limits)
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _spill(chunks: Iterator[bytes], limits: Limits) -> BinaryIO:
    with ExitStack() as on_failure:
        file = on_failure.enter_context(tempfile.TemporaryFile())
        spent = Spent(limits)
        for chunk in chunks:
            spent.on(len(chunk))
            file.write(chunk)
        file.seek(0)
        on_failure.pop_all()
    return file


def _too_large(limits: Limits) -> TooMuch:
    return TooMuch(f"The profile is larger than {limits.unpacked // MIB} MiB uncompressed, which is over the limit")


def _gzip(file: BinaryIO) -> Iterator[bytes]:
    """Yield the content of a gzip file's members, one after the other (RFC 1952, 2.2)."""
    data = file.read(_CHUNK)
    while data.strip(b"\0"):
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            data = data or file.read(_CHUNK)
            if not data:
                raise BadProfile("The gzip stream is truncated", where=f"byte {file.tell()}")
            try:
                yield member.decompress(data, _CHUNK)
            except zlib.error as error:
                raise BadProfile(f"The gzip stream is damaged: {error}", where=_after(file, data)) from error
            data = member.unconsumed_tail
        data = member.unused_data or file.read(_CHUNK)


def _zstd(file: BinaryIO) -> Iterator[bytes]:
    """Yield the content of a zstd file's frames (RFC 8878, 3.1)."""
    import zstandard

    data = file.read(_SIP)
    while data:
        frame = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
        while not frame.eof:
            data = data or file.read(_SIP)
            if not data:
                raise BadProfile("The zstd stream is truncated", where=f"byte {file.tell()}")
            try:
                yield frame.decompress(data)
            except zstandard.ZstdError as error:
                raise BadProfile(f"The zstd stream is damaged: {error}", where=_after(file, data)) from error
            data = b""
        data = frame.unused_data or file.read(_SIP)


def _bzip2(file: BinaryIO) -> Iterator[bytes]:
    """Yield the content of a bzip2 file's streams."""
    import bz2

    yield from _streams(file, bz2.BZ2Decompressor, "bzip2")


def _xz(file: BinaryIO) -> Iterator[bytes]:
    """Yield the content of an xz file's streams."""
    import lzma

    yield from _streams(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_WINDOW), "xz")


def _streams(file: BinaryIO, new: Callable[[], Any], name: str) -> Iterator[bytes]:
    """Yield the content of streams that one of Python's libraries unpacks, a bounded piece at a time."""
    from lzma import LZMAError

    data = file.read(_CHUNK)
    while data.strip(b"\0"):
        stream = new()
        while not stream.eof:
            if stream.needs_input:
                data = data or file.read(_CHUNK)
                if not data:
                    raise BadProfile(f"The {name} stream is truncated", where=f"byte {file.tell()}")
            try:
                piece = stream.decompress(data, _CHUNK)
            except (OSError, ValueError, EOFError, LZMAError) as error:
                raise BadProfile(f"The {name} stream is damaged: {error}", where=_after(file, data)) from error
            data = b""
            yield piece
        data = stream.unused_data or file.read(_CHUNK)


def _after(file: BinaryIO, data: bytes) -> str:
    return f"after byte {file.tell() - len(data)}"
