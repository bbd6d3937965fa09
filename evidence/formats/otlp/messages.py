"""The messages of an OTLP file: a single one, or those that the Collector's file exporter appends, by size or by line.

Source: opentelemetry-collector-contrib, ``exporter/fileexporter``: JSON is one object per line; protobuf, and anything
compressed, is preceded by its size in four bytes, big-endian.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evidence.formats import HEAD, Buffer
from evidence.formats.base import held
from evidence.formats.base.json_text import fields
from evidence.formats.base.protobuf import shape
from evidence.formats.base.protobuf.shape import MessageShape
from evidence.formats.base.protobuf.wire import LENGTH, VARINT
from evidence.formats.base.unpacking import unpack, unsupported
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, MIB, Limits

SIZE = 4
# From this size on, protobuf may have run out of memory when it only says that it could not read on.
LARGE = 8 * MIB
_SCOPE = MessageShape(dict.fromkeys((1, 2, 3), LENGTH))
_RESOURCE = MessageShape({1: MessageShape({1: LENGTH, 2: LENGTH, 3: VARINT}), 2: VARINT, 3: LENGTH})
_TABLES = MessageShape(dict.fromkeys(range(1, 8), LENGTH))
DATA = MessageShape({1: MessageShape({1: _RESOURCE, 2: _SCOPE, 3: LENGTH}), 2: _TABLES}, once=frozenset({2}))
# How many fields must be in their places before we believe it, because a few bytes of anything may be one.
ENOUGH = 3


def begins(head: bytes) -> bool:
    """Return whether protobuf content begins with such a message, with or without its size."""
    size = _size(head, 0)
    return _is_message(head) or (size > 0 and _is_message(head[SIZE : SIZE + size])) or _is_packed(head)


def of(data: Buffer, *, limits: Limits = DEFAULT) -> Iterator[Any]:
    """Yield each message. Raises ``BadProfile`` naming the line or the byte."""
    from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData

    if unsupported.kind(data[:HEAD]) == "json":
        yield from (_of_json(one, ProfilesData()) for one in _json(data, limits))
    else:
        yield from (_of_protobuf(one, ProfilesData(), where) for one, where in _framed(data, limits))


def _is_message(head: bytes) -> bool:
    return shape.fields_met(head, DATA) >= ENOUGH


def _is_packed(head: bytes) -> bool:
    return head[SIZE : SIZE + len(unpack.ZSTD)] == unpack.ZSTD and 0 < _size(head, 0) < 1 << 30


def _size(data: Buffer, at: int) -> int:
    return int.from_bytes(data[at : at + SIZE], "big")


def _framed(data: Buffer, limits: Limits) -> Iterator[tuple[bytes, str]]:
    """Yield protobuf messages and where they begin; a file that does not begin with a size holds one."""
    if _is_message(data[:HEAD]):
        yield held.at_once(data, limits=limits), ""
        return
    at = 0
    while at < len(data):
        size, begin = _size(data, at), at + SIZE
        if begin + size > len(data):
            raise BadProfile("The file ends within a message", where=f"byte {at}")
        piece = data[begin : begin + size]
        held.leave(data, at, begin + size)
        yield (unpack.frame(piece) if piece.startswith(unpack.ZSTD) else piece), f"message at byte {at}"
        at = begin + size


def _of_protobuf(piece: bytes, message: Any, where: str) -> Any:
    from google.protobuf.message import DecodeError

    try:
        message.ParseFromString(piece)
    except DecodeError as error:
        large = ", or needs more memory than allowed" if len(piece) > LARGE else ""
        raise BadProfile(f"The protobuf is malformed or truncated{large}", where=where) from error
    return message


def _json(data: Buffer, limits: Limits) -> Iterator[Any]:
    """Yield the objects of a file: one per line if the first line is one."""
    first = data[: data.find(b"\n") + 1].strip()
    if not first.endswith(b"}") or not first.startswith(b"{"):
        yield fields.parse(data, limits=limits)
        return
    for at, line in enumerate(held.at_once(data, limits=limits).split(b"\n"), 1):
        if line.strip():
            try:
                yield fields.parse(line)
            except BadProfile as error:
                raise BadProfile(error.says, where=f"line {at}") from error


def _of_json(parsed: Any, message: Any) -> Any:
    from google.protobuf import json_format

    try:
        return json_format.ParseDict(parsed, message, ignore_unknown_fields=True)
    except (json_format.Error, AttributeError, TypeError, ValueError, SystemError) as error:
        # protobuf's C code raises the last of these for a lone surrogate in a key.
        raise BadProfile(f"The JSON isn't OTLP profiles: {str(error)[:200]}") from error
