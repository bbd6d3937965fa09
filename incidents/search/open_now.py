"""What is open now, in figures: for the strip above the list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from incidents import visibility
from incidents.models import IncidentType, Person
from incidents.policies.policy import Policy


@dataclass(frozen=True, slots=True)
class OpenNow:
    """How many are open that somebody may see, of which types, and how many of those wait for something."""

    count: int
    types: list[tuple[str, Policy, int]]  # slug, policy, how many
    overdue: int
    leaderless: int


def of(person: Person, types: dict[int, IncidentType], *, at: datetime) -> OpenNow:
    """Count what is open, in one query."""
    waits = [pk for pk, one in types.items() if one.policy.update_every_min is not None]
    late = Q(type_id__in=waits) & (Q(update_due_at=None) | Q(update_due_at__lte=at))
    asked = visibility.visible_to(person).filter(active=True, is_drill=False).values("type_id")
    rows = asked.annotate(all=Count("pk"), late=Count("pk", filter=late), free=Count("pk", filter=Q(lead=None)))
    found = {row["type_id"]: row for row in rows}
    return OpenNow(
        count=sum(row["all"] for row in found.values()),
        types=[(one.slug, one.policy, found[pk]["all"]) for pk, one in types.items() if pk in found],
        overdue=sum(row["late"] for row in found.values()),
        leaderless=sum(row["free"] for row in found.values()),
    )
