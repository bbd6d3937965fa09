"""The classes that a JFR chunk describes in its metadata, and how to read their values one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evidence.formats.jfr.cursor import Cursor
from evidence.profile.errors import BadProfile

# Deeper than any class or metadata that a JDK writes.
NESTED = 32
Reader = Callable[[Cursor], Any]
STRING = "java.lang.String"
PRIMITIVES: dict[str, Reader] = {
    "boolean": Cursor.byte, "byte": Cursor.byte, "char": Cursor.int16, "short": Cursor.int16, "int": Cursor.int32,
    "long": Cursor.int64, "float": Cursor.float32, "double": Cursor.float64, STRING: Cursor.string,
}  # fmt: skip
# How many bytes a value of a fixed-size type takes; 0 for compressed numbers.
WIDTHS = {"boolean": 1, "byte": 1, "char": 0, "short": 0, "int": 0, "long": 0, "float": 4, "double": 8}


class JfrField(NamedTuple):
    """A field of a class: ``of`` is the id of its class; ``constant`` says that only a key is stored."""

    name: str
    of: int
    constant: bool
    array: bool


@dataclass(slots=True)
class Class:
    """A class of events or of values, with its fields in the order in which they are written."""

    name: str
    fields: list[JfrField] = field(default_factory=list)

    def place(self, name: str) -> int:
        """Return the index of a field, -1 if there is none."""
        return next((at for at, one in enumerate(self.fields) if one.name == name), -1)


class Classes:
    """The classes of a chunk by id; ``start`` is where the chunk begins in its file."""

    def __init__(self, found: Mapping[int, Class], *, start: int) -> None:
        self.found = found
        self._readers: dict[int, Reader] = {}
        self._start = start

    def reader(self, kind: int, above: tuple[int, ...] = ()) -> Reader:
        """Return a reader for values of a class: a tuple of its fields, or a plain value.

        Raises ``BadProfile`` for malformed content.
        """
        if kind not in self._readers:
            found = self.found.get(kind)
            if found is None or kind in above or len(above) > NESTED:
                raise BadProfile(f"Class {kind} doesn't exist, or contains itself", where=f"byte {self._start}")
            self._readers[kind] = PRIMITIVES.get(found.name) or self._composed(found, (*above, kind))
        return self._readers[kind]

    def width(self, one: JfrField) -> int | None:
        """Return how many bytes a field takes, 0 for a compressed number, None for a non-number."""
        if one.array:
            return None
        return 0 if one.constant else WIDTHS.get(self.name(one.of))

    def name(self, kind: int) -> str:
        """Return the name of a class, empty if it does not exist."""
        return self.found[kind].name if kind in self.found else ""

    def _composed(self, found: Class, above: tuple[int, ...]) -> Reader:
        if not found.fields:
            raise BadProfile(f"The class {found.name!r:.80} has no fields to read", where=f"byte {self._start}")
        readers = [self._of_field(one, above) for one in found.fields]
        return lambda cursor: tuple([read(cursor) for read in readers])

    def _of_field(self, one: JfrField, above: tuple[int, ...]) -> Reader:
        read = Cursor.int64 if one.constant else self.reader(one.of, above)
        if one.array:
            return lambda cursor: [read(cursor) for _ in range(cursor.count())]
        return read


def read(cursor: Cursor) -> dict[int, Class]:
    """Read the strings and the element tree of a chunk's metadata.

    Raises ``BadProfile`` for malformed content.
    """
    strings = [str(cursor.string()) for _ in range(cursor.count())]
    classes: dict[int, Class] = {}
    owner = Class("")
    for path, attributes in _elements(cursor, strings):
        if path[-1] == "class":
            owner = classes.setdefault(_number(attributes.get("id"), cursor), Class(attributes.get("name", "")))
        elif path[-2:] == ["class", "field"]:
            of = _number(attributes.get("class"), cursor)
            constant, array = attributes.get("constantPool") == "true", attributes.get("dimension", "0") != "0"
            owner.fields.append(JfrField(attributes.get("name", ""), of, constant, array))
    return classes


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
