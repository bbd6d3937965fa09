"""Types with their current policies, read by handwritten SQL, because every declaration needs some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from incidents.models import IncidentType, PolicyVersion
from incidents.written_rows import WrittenRows

TYPE: Final = WrittenRows(IncidentType, of="t", beside={"current": WrittenRows(PolicyVersion, of="v")})
EACH: Final = "FROM incidents_incidenttype t JOIN incidents_policyversion v ON v.id = t.current_id"
IN_ORDER: Final = "ORDER BY t.position, t.slug"


def every() -> Sequence[IncidentType]:
    """Return every type, archived or not, in their order."""
    return _read("")


def usable() -> Sequence[IncidentType]:
    """Return the types that a new incident may take, in their order."""
    return _read("WHERE t.archived_at IS NULL")


def private() -> Sequence[IncidentType]:
    """Return every private type, archived or not, in their order."""
    return _read("WHERE v.body ->> 'private' = 'true'")


def default() -> IncidentType | None:
    """Return the type that an incident gets if none is named; None before types are loaded."""
    return next(iter(_read("WHERE t.is_default")), None)


def _read(where: str) -> list[IncidentType]:
    return TYPE.read(f"{EACH} {where} {IN_ORDER}")
