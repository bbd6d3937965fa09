"""Which incidents are sample data: only the sandbox has any, and marks them wherever one is shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.conf import settings
from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.expressions import RawSQL

from incidents.models import Event, Incident, Source

_DECLARED_SO: Final = (
    "EXISTS (SELECT FROM incidents_event WHERE incident_id = incidents_incident.id AND n = 1 AND source = %s)"
)

_AMONG: Final = "SELECT incident_id FROM incidents_event WHERE incident_id = ANY (%s) AND n = 1 AND source = 'sample'"


def among(incidents: Iterable[Incident]) -> set[int]:
    """Return the keys of those that were declared as sample data; outside the sandbox no query is made."""
    if not settings.FIREKIND.sandbox_url:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(_AMONG, [[one.pk for one in incidents]])
        return {pk for (pk,) in cursor.fetchall()}


def marking(found: QuerySet[Incident]) -> QuerySet[Incident]:
    """Annotate incidents with whether they are sample data; outside the sandbox nothing is added."""
    if not settings.FIREKIND.sandbox_url:
        return found
    return found.annotate(is_sample=RawSQL(_DECLARED_SO, [Source.SAMPLE]))  # noqa: S611 (a constant)


def is_on(incident: Incident) -> bool:
    """Return whether an incident is sample data, as annotated by ``marking``."""
    return bool(getattr(incident, "is_sample", False))


def left_out(of: QuerySet[Incident]) -> QuerySet[Incident]:
    """Return incidents without those that were declared as sample data."""
    if not settings.FIREKIND.sandbox_url:
        return of
    return of.exclude(Exists(Event.objects.filter(incident=OuterRef("pk"), n=1, source=Source.SAMPLE)))
