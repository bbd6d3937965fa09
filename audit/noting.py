"""Write an audit entry: one INSERT in the caller's transaction, and no lock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from audit.kinds import KINDS
from audit.request_origin import here

# The check first keeps numbers from being used up by entries that exist already; a race is decided by the key. The
# transaction gets its id before the row gets its number: sealing relies on this to know whether a number may still
# appear.
_NOTE: Final = """
    WITH begun AS MATERIALIZED (SELECT pg_current_xact_id())
    INSERT INTO audit_entry (at, kind, by_id, by_name, about, door, address, data, key)
    SELECT %(at)s, %(kind)s, %(by)s, %(by_name)s, %(about)s, %(door)s, %(address)s, %(data)s::jsonb, %(key)s::text
      FROM begun
     WHERE %(key)s::text IS NULL OR NOT EXISTS (SELECT FROM audit_entry WHERE key = %(key)s)
        ON CONFLICT (key) DO NOTHING
"""


def note(
    kind: str,
    *,
    by: int | None,
    by_name: str = "",
    about: str = "",
    where: str = "",
    data: Mapping[str, Any] | None = None,
    at: datetime | None = None,
) -> None:
    """Record that ``by`` did something, in the caller's transaction.

    ``by`` is a person's id; ``about`` is a codename or the name of anything else, never a title. ``where`` is the door,
    if it is not the one that the request came through. Raises ``ValueError`` for a kind that is not in ``KINDS``.
    """
    _write(kind, by=by, by_name=by_name, about=about, where=where, data=data, at=at, key=None)


def once(
    key: str,
    kind: str,
    *,
    by: int | None,
    by_name: str = "",
    about: str = "",
    where: str = "",
    data: Mapping[str, Any] | None = None,
    at: datetime | None = None,
) -> bool:
    """Record something unless it was recorded under this key before; return whether it is new.

    Raises ``ValueError`` for a kind that is not in ``KINDS``.
    """
    return _write(kind, by=by, by_name=by_name, about=about, where=where, data=data, at=at, key=key)


def _write(
    kind: str,
    *,
    by: int | None,
    by_name: str,
    about: str,
    where: str,
    data: Mapping[str, Any] | None,
    at: datetime | None,
    key: str | None,
) -> bool:
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is not a kind of entry; audit.kinds lists them.")
    place = here()
    values: dict[str, Any] = {
        "at": at or timezone.now(),
        "kind": kind,
        "by": by,
        "by_name": _text(by_name),
        "about": _text(about),
        "door": where or place.door,
        "address": place.address[:64],
        "data": json.dumps(dict(data or {})),
        "key": key,
    }
    with connection.cursor() as cursor:
        cursor.execute(_NOTE, values)
        return bool(cursor.rowcount)


def _text(said: str) -> str:
    return said.replace("\0", "")[:200]
