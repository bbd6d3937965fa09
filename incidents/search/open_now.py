"""Figures about what is open now, for the strip above the list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection

from incidents import visibility
from incidents.models import IncidentType, Person
from incidents.policies.policy import Policy

_COUNTED: Final = """
    SELECT i.type_id, count(*),
           count(*) FILTER (
               WHERE v.body ->> 'update_every_min' IS NOT NULL AND (i.update_due_at IS NULL OR i.update_due_at <= %s)),
           count(*) FILTER (WHERE i.lead_id IS NULL)
      FROM incidents_incident i JOIN incidents_policyversion v ON v.id = i.policy_version_id
     WHERE i.active AND NOT i.is_drill AND {seen}
     GROUP BY i.type_id
"""


@dataclass(frozen=True, slots=True)
class OpenNow:
    """How many open incidents someone may see, of which types, and how many are overdue or without a lead."""

    count: int
    types: list[tuple[str, Policy, int]]  # slug, policy, how many
    overdue: int
    leaderless: int


def of(person: Person, types: dict[int, IncidentType], *, at: datetime) -> OpenNow:
    """Count what is open, in one query."""
    seen, params = visibility.condition(person, table="i")
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED.format(seen=seen), [at, *params])
        found = {type_id: figures for type_id, *figures in cursor.fetchall()}
    return OpenNow(
        count=sum(count for count, _, _ in found.values()),
        types=[(one.slug, one.policy, found[pk][0]) for pk, one in types.items() if pk in found],
        overdue=sum(late for _, late, _ in found.values()),
        leaderless=sum(free for _, _, free in found.values()),
    )
