"""Say which format a file is recognised as and why: ``manage.py profile --explain FILE``. No database, no server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evidence.profile.errors import Ambiguous, Unreadable


def lines(path: Path) -> Iterator[str]:
    """Yield what each reader says about a file, which one reads it, and what to do if none does."""
    from evidence import formats
    from evidence.formats.base.unpacking import unpack, unsupported

    try:
        head = unpack.unpacked(path)[: formats.HEAD]
    except Unreadable as error:
        yield f"Not read: {error}"
        return
    yield f"Content: {unsupported.kind(head)}"
    claims = sorted(formats.claims(head), key=lambda one: -one.claim.certainty)
    yield from (f"{one.name}: {one.claim.certainty.name.lower()}, {one.claim.why}" for one in claims)
    others = [name.replace("_", " ") for name in formats.FORMATS if name not in {one.module for one in claims}]
    yield f"No sign of: {', '.join(others)}"
    try:
        found = formats.decide(head)
    except Ambiguous as error:
        yield f"Not read: {error}"
        return
    yield f"Read as: {found.name}" if found else f"Not read: {unsupported.says(head)}"
