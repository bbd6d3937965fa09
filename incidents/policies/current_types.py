"""Types with the policies that they have now, read by SQL that is written out: each declaration asks for some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db import connection

from incidents.models import IncidentType, PolicyVersion
from incidents.written_rows import WrittenRows

TYPE: Final = WrittenRows(IncidentType, of="t")
POLICY: Final = WrittenRows(PolicyVersion, of="v")
EACH: Final = f"""
    SELECT {TYPE.columns}, {POLICY.columns} FROM incidents_incidenttype t
      JOIN incidents_policyversion v ON v.id = t.current_id
"""  # noqa: S608 (columns of ours)
IN_ORDER: Final = "ORDER BY t.position, t.slug"


def every() -> Sequence[IncidentType]:
    """Return every type, archived or not, in their order."""
    return _read("")


def private() -> Sequence[IncidentType]:
    """Return every type that is private, archived or not, in their order."""
    return _read("WHERE v.body ->> 'private' = 'true'")


def default() -> IncidentType | None:
    """Return the type that an incident gets when nobody names one; None before types are loaded."""
    return next(iter(_read("WHERE t.is_default")), None)


def _read(where: str) -> list[IncidentType]:
    with connection.cursor() as cursor:
        cursor.execute(f"{EACH} {where} {IN_ORDER}")
        rows = cursor.fetchall()
    return [_made(row) for row in rows]


def _made(row: Sequence[object]) -> IncidentType:
    type = TYPE.made(row)
    assert type is not None, "its own row is never missing"
    type.current = POLICY.made(row[len(TYPE.names) :])
    return type
