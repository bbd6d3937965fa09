"""The little of protobuf's wire format a door needs: whether a body is valid, and its resource attributes.

https://protobuf.dev/programming-guides/encoding. What is in the profiles is read elsewhere, by a process apart.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

Buffer = bytes | mmap.mmap
FIXED: Final = {1: 8, 5: 4}
VARINT, LENGTH = 0, 2
ATTRIBUTES_AT_MOST, STRINGS_AT_MOST, LONGEST = 1_000, 100_000, 1_000
# Numbers of fields in opentelemetry/proto: collector/profiles/v1development and what it is made of.
RESOURCE_PROFILES, DICTIONARY, RESOURCE, ATTRIBUTES, STRING_TABLE = 1, 2, 1, 1, 5
KEY, VALUE, KEY_INDEX, STRING, STRING_INDEX = 1, 2, 3, 1, 8


class NotProtobuf(ValueError):
    """These bytes are no message."""


@dataclass(frozen=True, slots=True)
class WireField:
    """One field of a message: its number, its value when that is a number, and where its bytes are."""

    number: int
    kind: int
    value: int
    start: int
    end: int


def fields(data: Buffer, start: int, end: int) -> Iterator[WireField]:
    """Go through a message's fields; raise ``NotProtobuf`` when they do not fill it exactly."""
    at = start
    while at < end:
        tag, at = _varint(data, at, end)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise NotProtobuf("field 0")
        value, length = 0, FIXED.get(kind, 0)
        if kind == VARINT:
            value, at = _varint(data, at, end)
        elif kind == LENGTH:
            length, at = _varint(data, at, end)
        elif kind not in FIXED:
            raise NotProtobuf(f"kind {kind}")
        if at + length > end:
            raise NotProtobuf("a field goes beyond the end")
        yield WireField(number, kind, value, at, at + length)
        at += length


def resources(data: Buffer) -> list[dict[str, str]]:
    """Return the text attributes of each resource of an ExportProfilesServiceRequest; raise ``NotProtobuf``."""
    top = list(fields(data, 0, len(data)))
    if any(one.number in (RESOURCE_PROFILES, DICTIONARY) and one.kind != LENGTH for one in top):
        raise NotProtobuf("not such a message")
    strings = [text for one in top if one.number == DICTIONARY for text in _strings(data, one)]
    return [_attributes(data, one, strings) for one in top if one.number == RESOURCE_PROFILES]


def _strings(data: Buffer, dictionary: WireField) -> Iterator[bytes]:
    for count, one in enumerate(_numbered(data, dictionary, STRING_TABLE)):
        if count >= STRINGS_AT_MOST:
            return
        yield data[one.start : min(one.end, one.start + LONGEST)]


def _attributes(data: Buffer, resource_profiles: WireField, strings: list[bytes]) -> dict[str, str]:
    found: dict[str, str] = {}
    for resource in _numbered(data, resource_profiles, RESOURCE):
        for attribute in _numbered(data, resource, ATTRIBUTES):
            if len(found) >= ATTRIBUTES_AT_MOST:
                return found
            key, value = _pair(data, attribute, strings)
            found[key] = value
    return found


def _pair(data: Buffer, attribute: WireField, strings: list[bytes]) -> tuple[str, str]:
    key = value = b""
    for part in fields(data, attribute.start, attribute.end):
        if part.number == KEY and part.kind == LENGTH:
            key = data[part.start : min(part.end, part.start + LONGEST)]
        elif part.number == KEY_INDEX and part.kind == VARINT:
            key = _string(strings, part.value)
        elif part.number == VALUE and part.kind == LENGTH:
            value = _text(data, part, strings)
    return key.decode("utf-8", "replace"), value.decode("utf-8", "replace")


def _text(data: Buffer, any_value: WireField, strings: list[bytes]) -> bytes:
    for part in fields(data, any_value.start, any_value.end):
        if part.number == STRING and part.kind == LENGTH:
            return data[part.start : min(part.end, part.start + LONGEST)]
        if part.number == STRING_INDEX and part.kind == VARINT:
            return _string(strings, part.value)
    return b""


def _string(strings: list[bytes], index: int) -> bytes:
    return strings[index] if index < len(strings) else b""


def _numbered(data: Buffer, message: WireField, number: int) -> Iterator[WireField]:
    return (one for one in fields(data, message.start, message.end) if one.number == number and one.kind == LENGTH)


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
    """Write a google.rpc.Status that says something: OTLP asks for one with every refusal."""
    said = says.encode()[: 1 << 14]
    size = bytes([len(said)]) if len(said) < 0x80 else bytes([len(said) & 0x7F | 0x80, len(said) >> 7])
    return b"\x12" + size + said
