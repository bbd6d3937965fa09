"""One chunk of a JFR recording: its header, what its classes look like, its constants, its events.

There is no specification; this follows what the JDK writes (``jfrChunkWriter``, ``ChunkHeader``, ``MetadataReader``,
``ChunkParser`` in the OpenJDK's sources) and what async-profiler writes for the same readers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evidence.formats import Buffer
from evidence.formats.base import held
from evidence.formats.jfr.cursor import Cursor
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import DEFAULT, MIB

MAGIC = b"FLR\0"
HEADER = struct.Struct(">4shhqqqqqqqI")
METADATA, CHECKPOINT = 0, 1
MAJOR = (1, 2)
MOST = DEFAULT.whole
# Deeper than any class or any metadata that a JDK writes.
NESTED = 32
UNFINISHED = "The recording isn't finished. Dump it with `jcmd PID JFR.dump`, or wait until it stops"
Reader = Callable[[Cursor], Any]
PRIMITIVES: dict[str, Reader] = {
    "boolean": Cursor.byte, "byte": Cursor.byte, "char": Cursor.int16, "short": Cursor.int16, "int": Cursor.int32,
    "long": Cursor.int64, "float": Cursor.float32, "double": Cursor.float64, "java.lang.String": Cursor.string,
}  # fmt: skip


class JfrField(NamedTuple):
    """A field of a class: ``of`` is the id of its own class, ``constant`` that only a key stands there."""

    name: str
    of: int
    constant: bool
    array: bool


@dataclass(slots=True)
class Class:
    """A class of events or of values, by its fields in the order in which they are written."""

    name: str
    fields: list[JfrField] = field(default_factory=list)

    def place(self, name: str) -> int:
        """Return the place of a field, -1 without one."""
        return next((at for at, one in enumerate(self.fields) if one.name == name), -1)


class Chunk:
    """A chunk that can be asked for constants and events."""

    def __init__(self, data: Buffer, start: int) -> None:
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
        self._bytes = data[start : self.end]
        held.leave(data, start, self.end)
        self._compressed = bool(features & 1)
        self.classes = self._metadata(metadata)
        self._readers: dict[int, Reader] = {}
        self.constants: dict[str, dict[int, Any]] = {}
        self._read_constants(constants)

    def cursor(self, at: int = HEADER.size) -> Cursor:
        """Return a cursor into this chunk."""
        return Cursor(self._bytes, base=self.start, compressed=self._compressed).go(at)

    def events(self) -> Iterator[tuple[int, Cursor]]:
        """Yield the class and the content of every event, metadata and constants left out."""
        at = HEADER.size
        while at < len(self._bytes):
            cursor = self.cursor(at)
            size, kind = cursor.int32(), cursor.int64()
            if size <= 0 or at + size > len(self._bytes):
                raise BadProfile(f"An event claims a size of {size} bytes", where=cursor.where)
            if kind not in (METADATA, CHECKPOINT):
                yield kind, cursor
            at += size

    def forget(self) -> None:
        """Let go of the content, once its events are read; the constants stay."""
        self._bytes = b""

    def reader(self, kind: int, above: tuple[int, ...] = ()) -> Reader:
        """Return what reads a value of a class: a tuple of its fields, or a plain value."""
        if kind not in self._readers:
            found = self.classes.get(kind)
            if found is None or kind in above or len(above) > NESTED:
                raise BadProfile(f"Class {kind} doesn't exist, or contains itself", where=f"byte {self.start}")
            self._readers[kind] = PRIMITIVES.get(found.name) or self._composed(found, (*above, kind))
        return self._readers[kind]

    def _composed(self, found: Class, above: tuple[int, ...]) -> Reader:
        if not found.fields:
            raise BadProfile(f"The class {found.name!r:.80} has no fields to read", where=f"byte {self.start}")
        readers = [self._of_field(one, above) for one in found.fields]
        return lambda cursor: tuple([read(cursor) for read in readers])

    def _of_field(self, one: JfrField, above: tuple[int, ...]) -> Reader:
        read = Cursor.int64 if one.constant else self.reader(one.of, above)
        if one.array:
            return lambda cursor: [read(cursor) for _ in range(cursor.count())]
        return read

    def _metadata(self, at: int) -> dict[int, Class]:
        cursor = self.cursor(at)
        if (cursor.int32(), cursor.int64())[1] != METADATA:
            raise BadProfile("Expected metadata here", where=cursor.where)
        for _ in ("start", "duration", "id"):
            cursor.int64()
        strings = [str(cursor.string()) for _ in range(cursor.count())]
        classes: dict[int, Class] = {}
        owner = Class("")
        for path, attributes in _elements(cursor, strings):
            if path[-1] == "class":
                owner = classes.setdefault(_number(attributes.get("id"), cursor), Class(attributes.get("name", "")))
            elif path[-1] == "field" and path[-2] == "class":
                of = _number(attributes.get("class"), cursor)
                constant, array = attributes.get("constantPool") == "true", attributes.get("dimension", "0") != "0"
                owner.fields.append(JfrField(attributes.get("name", ""), of, constant, array))
        return classes

    def _read_constants(self, at: int) -> None:
        """Read all checkpoints, each of which says how far before it the previous one begins."""
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
                self._read_pool(cursor)
            at += before

    def _read_pool(self, cursor: Cursor) -> None:
        kind = cursor.int64()
        read = self.reader(kind)
        pool = self.constants.setdefault(self.classes[kind].name, {})
        for _ in range(cursor.count()):
            key = cursor.int64()
            value = read(cursor)
            pool.setdefault(key, value)


def _elements(cursor: Cursor, strings: list[str]) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yield the elements of the metadata's tree, each with the names from the root down to it."""
    path: list[str] = []
    left: list[int] = []
    while True:
        name = _string(strings, cursor)
        attributes = {_string(strings, cursor): _string(strings, cursor) for _ in range(cursor.count())}
        yield [*path, name], attributes
        path.append(name)
        left.append(cursor.count())
        while left and not left[-1]:
            left.pop()
            path.pop()
        if not left:
            return
        if len(left) > NESTED:
            raise BadProfile("The metadata is nested too deeply", where=cursor.where)
        left[-1] -= 1


def _string(strings: list[str], cursor: Cursor) -> str:
    index = cursor.int32()
    if not 0 <= index < len(strings):
        raise BadProfile(f"String {index} does not exist: there are {len(strings)}", where=cursor.where)
    return strings[index]


def _number(said: str | None, cursor: Cursor) -> int:
    if said is None or not said.isdecimal() or len(said) > 18:
        raise BadProfile(f"A class has the id {said!r:.40}, which isn't a number", where=cursor.where)
    return int(said)
