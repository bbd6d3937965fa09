"""Which tasks and follow-ups someone may see: of one incident, their own, and overdue ones."""

from __future__ import annotations

from datetime import date
from typing import Final

from django.conf import settings
from django.db.models import F, Q, QuerySet

from incidents import visibility
from incidents.followups import folding
from incidents.models import Event, Followup, Incident, Person
from incidents.visibility import Actor
from incidents.written_rows import WrittenRows

FOLLOWUP: Final = WrittenRows(Followup, of="f", beside={"owner": WrittenRows(Person, of="o")})
OF_INCIDENT: Final = """
    FROM incidents_followup f LEFT JOIN incidents_person o ON o.id = f.owner_id WHERE f.incident_id = %s ORDER BY f.n
"""
TASK: Final = Q(phase=Followup.Phase.DURING, incident__active=True)  # not follow-ups before the incident has ended


def of_incident(incident: Incident) -> list[Followup]:
    """Return all of one incident, oldest first, in one query. The caller checks who may see it."""
    found = FOLLOWUP.read(OF_INCIDENT, [incident.pk])
    for one in found:
        one.incident = incident
    return found


def owners(one: Followup) -> set[int]:
    """Return the keys of everyone who has ever owned one."""
    given = Event.objects.filter(incident=one.incident_id, kind__in=folding.OWNED, data__followup=one.n)
    return set(given.exclude(data__owner=None).values_list("data__owner", flat=True))


def owed(actor: Actor) -> QuerySet[Followup]:
    """Return the open ones that ``actor`` may see, earliest due date first; drills are practice and left out."""
    seen = visibility.visible_to(actor).filter(is_drill=False)
    found = Followup.objects.filter(incident__in=seen, state=Followup.State.OPEN)
    return (
        found.select_related("incident", "owner")
        .defer("incident__words")
        .order_by(F("due_on").asc(nulls_last=True), "made_at", "pk")
    )


def followups(actor: Actor) -> QuerySet[Followup]:
    """Return the open follow-ups that ``actor`` may see; a task counts only once its incident has ended."""
    return owed(actor).exclude(TASK)


def late(found: QuerySet[Followup], *, today: date) -> QuerySet[Followup]:
    """Return those whose due date has passed."""
    return found.filter(due_on__lt=today)


def stays_here(incident: Incident) -> bool:
    """Return whether its follow-ups get no ticket despite an issue tracker, because outsiders could read them there."""
    tracker = settings.FIREKIND.tracker
    return incident.private and tracker is not None and not tracker.private_project


def owned_by(person: Person) -> QuerySet[Followup]:
    """Return the open ones that someone owns and may see."""
    return owed(person).filter(owner=person)
