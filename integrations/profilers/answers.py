"""What the adapters share: the window that is asked about, and answers turned into files."""

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

PATIENCE_S = 60.0  # a continuous profiler merges before it answers
SAMPLE = 2  # the field of a profile in pprof's form that holds a sample
LITTLE = 1 << 16  # a profile without samples is smaller: there is nothing in it but the names of what it would count
GZIP = 16 + zlib.MAX_WBITS


def window(at: datetime, seconds: int) -> tuple[datetime, datetime]:
    """Return the window of so many seconds that ends there."""
    return at - timedelta(seconds=seconds), at


def name_of(source: Listed, kind: str, names: Mapping[str, str]) -> str:
    """Return how a source calls a kind: as the list says, else as is usual.

    Raises ``VendorError`` for a kind it has no name for.
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
    """Return the error of an answer that is not of the form that this type of source gives."""
    says = f"{source.name} did not respond like a {source.type}. Check its address and type in the list."
    return VendorError(says, code="strange_answer", method=METHOD)


def nothing(source: Listed, query: str) -> VendorError:
    """Return the error of an answer without a single sample: they may still be on their way."""
    says = f"{source.name} has no samples of {query} in that window."
    return VendorError(says, code="no_samples", method=METHOD, retryable=True)


def has_samples(profile: bytes) -> bool:
    """Return whether a profile in pprof's form, packed or not, has a sample in it.

    A continuous profiler answers for a window of which it has nothing with a whole profile, and no sample. No more is
    unpacked than such a one could hold; what cannot be read is left to whoever reads it.
    """
    try:
        unpacking = zlib.decompressobj(GZIP)
        raw = unpacking.decompress(profile, LITTLE) if profile.startswith(b"\x1f\x8b") else profile
        return len(raw) >= LITTLE or protobuf.part(memoryview(raw), SAMPLE) is not None
    except (zlib.error, protobuf.MalformedMessage):
        return True


def file_of(parts: Iterable[bytes]) -> BinaryIO:
    """Return a file with this in it, which is gone once it is closed."""
    with ExitStack() as undo:
        file = undo.enter_context(tempfile.TemporaryFile())
        file.writelines(parts)
        file.seek(0)
        undo.pop_all()
        return file
