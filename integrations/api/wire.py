"""The part of protobuf's wire format that a door needs: whether a body is valid, and its resource attributes.

https://protobuf.dev/programming-guides/encoding. A separate process reads the profiles themselves.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

Buffer = bytes | mmap.mmap
FIXED: Final = {1: 8, 5: 4}
VARINT, LENGTH = 0, 2
RESOURCES_AT_MOST, ATTRIBUTES_AT_MOST, STRINGS_AT_MOST, LONGEST = 1_000, 1_000, 100_000, 1_000
OF_ALL_AT_MOST: Final = 20_000  # attributes of all resources together: each may repeat a long string of the dictionary
FIELDS_AT_MOST: Final = (
    2_000_000  # fields that are read, in a few seconds; a body of two-byte fields has sixteen times as many
)
# Field numbers of opentelemetry/proto: collector/profiles/v1development and the messages it contains.
RESOURCE_PROFILES, DICTIONARY, RESOURCE, ATTRIBUTES, STRING_TABLE = 1, 2, 1, 1, 5
KEY, VALUE, KEY_INDEX, STRING, STRING_INDEX = 1, 2, 3, 1, 8


class NotProtobuf(ValueError):
    """These bytes are not a protobuf message."""


class TooManyFields(ValueError):
    """A message has more fields than the limit."""


class WireField(NamedTuple):
    """One field of a message: its number, its value if numeric, and the position of its bytes."""

    number: int
    kind: int
    value: int
    start: int
    end: int


def resources(data: Buffer) -> list[dict[str, str]]:
    """Return the text attributes of each resource of an ExportProfilesServiceRequest, for the first thousand resources.

    Raises ``NotProtobuf``, and ``TooManyFields`` for a message that would take too long to read.
    """
    return _Walk(data).resources()


class _Walk:
    """Reads one message, and counts down how many more of its fields and attributes it may read."""

    def __init__(self, data: Buffer) -> None:
        self.data = data
        self.left = FIELDS_AT_MOST
        self.attributes_left = OF_ALL_AT_MOST

    def fields(self, start: int, end: int) -> Iterator[WireField]:
        """Yield a message's fields. Raises ``NotProtobuf`` when they do not fill it exactly."""
        at = start
        while at < end:
            self.left -= 1
            if self.left < 0:
                raise TooManyFields
            tag, at = _varint(self.data, at, end)
            number, kind = tag >> 3, tag & 7
            if number == 0:
                raise NotProtobuf("field 0")
            value, length = 0, FIXED.get(kind, 0)
            if kind == VARINT:
                value, at = _varint(self.data, at, end)
            elif kind == LENGTH:
                length, at = _varint(self.data, at, end)
            elif kind not in FIXED:
                raise NotProtobuf(f"kind {kind}")
            if at + length > end:
                raise NotProtobuf("a field goes beyond the end")
            yield WireField(number, kind, value, at, at + length)
            at += length

    def resources(self) -> list[dict[str, str]]:
        """Return the text attributes of each resource, after validating the whole message."""
        profiles: list[WireField] = []
        dictionaries: list[WireField] = []
        for one in self.fields(0, len(self.data)):
            held = profiles if one.number == RESOURCE_PROFILES else dictionaries if one.number == DICTIONARY else None
            if held is None:
                continue
            if one.kind != LENGTH:
                raise NotProtobuf("not such a message")
            if len(held) < RESOURCES_AT_MOST:
                held.append(one)
        strings = list(islice((text for one in dictionaries for text in self._strings(one)), STRINGS_AT_MOST))
        return [self._attributes(one, strings) for one in profiles]

    def _strings(self, dictionary: WireField) -> Iterator[bytes]:
        for one in self._numbered(dictionary, STRING_TABLE):
            yield self._bytes(one)

    def _attributes(self, resource_profiles: WireField, strings: list[bytes]) -> dict[str, str]:
        found: dict[str, str] = {}
        for resource in self._numbered(resource_profiles, RESOURCE):
            for attribute in self._numbered(resource, ATTRIBUTES):
                if len(found) >= ATTRIBUTES_AT_MOST or self.attributes_left <= 0:
                    return found
                self.attributes_left -= 1
                key, value = self._pair(attribute, strings)
                found[key] = value
        return found

    def _pair(self, attribute: WireField, strings: list[bytes]) -> tuple[str, str]:
        key = value = b""
        for part in self.fields(attribute.start, attribute.end):
            if part.number == KEY and part.kind == LENGTH:
                key = self._bytes(part)
            elif part.number == KEY_INDEX and part.kind == VARINT:
                key = _string(strings, part.value)
            elif part.number == VALUE and part.kind == LENGTH:
                value = self._text(part, strings)
        return key.decode("utf-8", "replace"), value.decode("utf-8", "replace")

    def _text(self, any_value: WireField, strings: list[bytes]) -> bytes:
        for part in self.fields(any_value.start, any_value.end):
            if part.number == STRING and part.kind == LENGTH:
                return self._bytes(part)
            if part.number == STRING_INDEX and part.kind == VARINT:
                return _string(strings, part.value)
        return b""

    def _bytes(self, field: WireField) -> bytes:
        return self.data[field.start : min(field.end, field.start + LONGEST)]

    def _numbered(self, message: WireField, number: int) -> Iterator[WireField]:
        inside = self.fields(message.start, message.end)
        return (one for one in inside if one.number == number and one.kind == LENGTH)


def _string(strings: list[bytes], index: int) -> bytes:
    return strings[index] if index < len(strings) else b""


def _varint(data: Buffer, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise NotProtobuf("a number without an end")


def status(says: str) -> bytes:
    """Return a google.rpc.Status with a message, which OTLP requires with every refusal."""
    said = says.encode()[: 1 << 14]
    size = bytes([len(said)]) if len(said) < 0x80 else bytes([len(said) & 0x7F | 0x80, len(said) >> 7])
    return b"\x12" + size + said
