"""Which incidents are sample data: only the sandbox has any, and says so wherever one is shown."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from incidents.models import Event, Incident, Source


def among(incidents: Iterable[Incident]) -> set[int]:
    """Return the keys of those that were declared as sample data; outside the sandbox nothing is asked."""
    if not settings.FIREKIND.sandbox_url:
        return set()
    first = Event.objects.filter(incident__in=[one.pk for one in incidents], n=1, source=Source.SAMPLE)
    return set(first.values_list("incident_id", flat=True))


def left_out(of: QuerySet[Incident]) -> QuerySet[Incident]:
    """Return incidents without those that were declared as sample data."""
    if not settings.FIREKIND.sandbox_url:
        return of
    return of.exclude(Exists(Event.objects.filter(incident=OuterRef("pk"), n=1, source=Source.SAMPLE)))
