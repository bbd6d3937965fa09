"""Redact a kept row: the one change that the triggers allow, and after which the chain still verifies."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import connection

from audit.models import Redaction
from audit.sealed import rows

_BEGUN: Final = "SELECT pg_current_xact_id()"  # before the row gets its number, as in `noting`
_TAKE_OUT: Final = "UPDATE {table} SET {values}, salt = NULL, redacted = %s WHERE {id} = %s"


def salt() -> str:
    """Return a random salt for the hash of a row's words; deleted with them, so that no one can guess the words."""
    return secrets.token_hex(16)


def redact(
    name: str, id: int, *, left: Mapping[str, Any], by: int | None, by_name: str, at: datetime
) -> dict[str, Any] | None:
    """Delete a row's words, except what is ``left`` of each column; return them, or None if they were deleted before.

    In the caller's transaction. A hash of the words stays, and a row of ``Redaction`` that records who redacted them
    and what is left. Without that row the triggers refuse the change, and verification fails.
    """
    kept = rows.KEPT[name]
    row = rows.of_ids(kept, [id])[id]
    if row.remains:
        return None
    said = row.words or row.hashed
    stands = row.hashed["words"] if row.words else rows.AS_IT_WAS + row.mark.hex()
    whole = {one: row.hashed.get(one) for one in kept.columns} | {"table": name, **left, rows.REDACTED: stands}
    now = rows.as_sealed(kept, whole)
    with connection.cursor() as cursor:
        cursor.execute(_BEGUN)
        Redaction.objects.create(
            at=at, kept=name, row=id, by=by, by_name=by_name[:200], was=row.mark.hex(), remains=now.remains
        )
        values = ", ".join(f'"{one}" = %s' for one in left)
        given = [json.dumps(one) if isinstance(one, dict) else one for one in left.values()]
        cursor.execute(_TAKE_OUT.format(table=kept.table, values=values, id=kept.id), [*given, stands, id])
    return {one: said[one] for one in kept.words}
