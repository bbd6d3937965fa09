"""One chunk of a JFR recording: its header, its class descriptions, its constants, its events.

There is no specification; this follows what the JDK writes (``jfrChunkWriter``, ``ChunkHeader``, ``MetadataReader``,
``ChunkParser`` in the OpenJDK sources) and what async-profiler writes for the same readers.
"""

from __future__ import annotations

import struct

import numpy as np

from evidence.formats import Buffer
from evidence.formats.base import held
from evidence.formats.jfr import classes
from evidence.formats.jfr.classes import Class, Classes
from evidence.formats.jfr.constants import Constants
from evidence.formats.jfr.cursor import Cursor
from evidence.formats.jfr.jfr import MAGIC
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import DEFAULT, MIB

HEADER = struct.Struct(">4shhqqqqqqqI")
METADATA, CHECKPOINT = 0, 1
MAJOR = (1, 2)
MOST = DEFAULT.whole
# Classes by whether numbers are compressed, and the bytes that describe them.
Described = dict[tuple[bool, bytes], dict[int, Class]]
UNFINISHED = "The recording isn't finished. Dump it with `jcmd PID JFR.dump`, or wait until it stops"


class Chunk:
    """A chunk from which constants and events can be read.

    ``met`` holds the classes of earlier chunks by the bytes that describe them: they are nearly always the same.
    """

    def __init__(self, data: Buffer, start: int, met: Described | None = None) -> None:
        head = data[start : start + HEADER.size]
        if len(head) < HEADER.size:
            raise BadProfile("The header of a chunk is cut off", where=f"byte {start}")
        magic, major, _, size, constants, metadata, _, duration, _, hertz, features = HEADER.unpack(head)
        if magic != MAGIC or major not in MAJOR:
            raise BadProfile("Expected a version 1 or 2 chunk here", where=f"byte {start}")
        if size < HEADER.size or start + size > len(data):
            raise BadProfile(UNFINISHED if size <= 0 else "The last chunk is cut off", where=f"byte {start}")
        self.start, self.end = start, start + size
        self.duration_ns = max(duration, 0)
        self.hertz = hertz if hertz > 0 else 1_000_000_000
        if size > MOST:
            raise TooMuch(f"A chunk of the recording is larger than {MOST // MIB} MiB", where=f"byte {start}")
        self.bytes = data[start : self.end]
        held.leave(data, start, self.end)
        self.packed = bool(features & 1)
        self.classes = Classes(self._metadata(metadata, {} if met is None else met), start=start)
        self.constants = Constants(self.classes, np.frombuffer(self.bytes, dtype=np.uint8), packed=self.packed)
        self._read_constants(constants)

    def cursor(self, at: int = HEADER.size) -> Cursor:
        """Return a cursor into this chunk."""
        return Cursor(self.bytes, base=self.start, compressed=self.packed).go(at)

    def forget(self) -> None:
        """Release the content once its events are read; the constants stay."""
        self.bytes = b""
        self.constants.forget()

    def _metadata(self, at: int, met: Described) -> dict[int, Class]:
        cursor = self.cursor(at)
        size = cursor.int32()
        if cursor.int64() != METADATA:
            raise BadProfile("Expected metadata here", where=cursor.where)
        for _ in ("start", "duration", "id"):
            cursor.int64()
        described = (self.packed, self.bytes[cursor.at : max(at + size, cursor.at)])
        if described in met:
            return met[described]
        found = classes.read(cursor)
        if cursor.at <= at + size:
            met[described] = found
        return found

    def _read_constants(self, at: int) -> None:
        """Read all checkpoints; each says how far before it the previous one begins."""
        seen: set[int] = set()
        while at not in seen:
            seen.add(at)
            cursor = self.cursor(at)
            if (cursor.int32(), cursor.int64())[1] != CHECKPOINT:
                raise BadProfile("Expected constants here", where=cursor.where)
            cursor.int64()
            cursor.int64()
            before = cursor.int64()
            cursor.byte()
            for _ in range(cursor.count()):
                self.constants.read(cursor)
            at += before
