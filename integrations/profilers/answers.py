"""Shared by the adapters: the requested time window, and turning answers into files."""

from __future__ import annotations

import json
import tempfile
import zlib
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any, BinaryIO

from integrations.profilers import protobuf
from integrations.profilers.asking import METHOD, SourceAnswer
from integrations.profilers.sources import Listed
from workflows.ports import VendorError

PATIENCE_S = 60.0  # seconds; a continuous profiler merges before it answers
SAMPLE = 2  # the field number of samples in a pprof profile
LITTLE = 1 << 16  # a profile without samples is smaller, as it contains only the names of what it would count
GZIP = 16 + zlib.MAX_WBITS


def window(at: datetime, seconds: int) -> tuple[datetime, datetime]:
    """Return the window of this many seconds that ends at a time."""
    return at - timedelta(seconds=seconds), at


def name_of(source: Listed, kind: str, names: Mapping[str, str]) -> str:
    """Return a source's name for a kind of profile, from the list or else the usual one.

    Raises ``VendorError`` for a kind without a name.
    """
    name = source.kinds[kind] or names.get(kind, "")
    if not name:
        says = f"The list does not say what {source.name} calls {kind}. Add it there, as in `kinds: {{{kind}: …}}`."
        raise VendorError(says, code="no_name", method=METHOD)
    return name


def parsed(source: Listed, answer: SourceAnswer) -> dict[str, Any]:
    """Return an answer's JSON object, and close its file."""
    with answer.body as body:
        try:
            found = json.load(body)
        except (ValueError, RecursionError) as error:
            raise strange(source) from error
    if not isinstance(found, dict):
        raise strange(source)
    return found


def strange(source: Listed) -> VendorError:
    """Return the error for an answer in an unexpected format for this type of source."""
    says = f"{source.name} did not respond like a {source.type}. Check its address and type in the list."
    return VendorError(says, code="strange_answer", method=METHOD)


def nothing(source: Listed, query: str) -> VendorError:
    """Return the error for an answer without samples, which may still arrive."""
    says = f"{source.name} has no samples of {query} in that window."
    return VendorError(says, code="no_samples", method=METHOD, retryable=True)


def has_samples(profile: bytes) -> bool:
    """Return whether a pprof profile, compressed or not, contains a sample.

    For a window without data a continuous profiler returns a valid profile without samples. Only as much is
    decompressed as such a profile could contain. One that cannot be read is left to its reader.
    """
    try:
        unpacking = zlib.decompressobj(GZIP)
        raw = unpacking.decompress(profile, LITTLE) if profile.startswith(b"\x1f\x8b") else profile
        return len(raw) >= LITTLE or protobuf.part(memoryview(raw), SAMPLE) is not None
    except (zlib.error, protobuf.MalformedMessage):
        return True


def file_of(parts: Iterable[bytes]) -> BinaryIO:
    """Return a file with these contents, which is deleted when closed."""
    with ExitStack() as undo:
        file = undo.enter_context(tempfile.TemporaryFile())
        file.writelines(parts)
        file.seek(0)
        undo.pop_all()
        return file
