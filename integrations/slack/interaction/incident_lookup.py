"""Which incident someone means: the one of this channel, a named one, or one of a list."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from django.db.models import QuerySet

from incidents import lifecycle, visibility
from incidents.models import Incident, IncidentType, Person
from integrations.slack.protocol import mrkdwn, setup
from workflows.channels import rooms
from workflows.models import Resource

CODENAME: Final = re.compile(r"[a-z]+(-[a-z]+){1,3}")
NOT_THERE: Final = "There is no such incident."


def of_channel(channel_id: str, *, by: Person) -> Incident | None:
    """Return the incident of a channel, unless ``by`` may not see it: then it is as if there were none."""
    incident = rooms.incident_of_channel(channel_id) if channel_id else None
    return incident if incident is not None and visibility.may_see(by, incident) else None


def named(codename: str, *, by: Person) -> Incident:
    """Return the incident of a codename; raise ``Refused`` when it is hidden or absent."""
    try:
        return visibility.find(by, codename)
    except Incident.DoesNotExist:
        raise no_such() from None


def no_such() -> lifecycle.Refused:
    """Return what someone is told of an incident that is hidden or absent."""
    return lifecycle.Refused(NOT_THERE)


def first_word(said: str, *, by: Person) -> tuple[Incident | None, str]:
    """Split an incident's codename off the front of what was said, if one stands there."""
    name, _, rest = said.partition(" ")
    if not CODENAME.fullmatch(name.lower()):
        return None, said
    try:
        return visibility.find(by, name.lower()), rest.strip()
    except Incident.DoesNotExist:
        return None, said


def seen(by: Person) -> QuerySet[Incident]:
    """Return what ``by`` may see, newest first, those that are open before the rest."""
    incidents = visibility.visible_to(by).select_related("type", "policy_version", "lead")
    return incidents.order_by("-active", "-declared_at", "-pk")


def channels(incidents: Iterable[Incident]) -> dict[int, str]:
    """Return the ids of the channels where people talk now, by incident: one query for any number of them."""
    keys = {incident.pk: f"channel/{incident.room}" for incident in incidents}
    found = Resource.objects.filter(incident__in=keys, kind="channel").values_list("incident_id", "key", "external_id")
    return {pk: channel_id for pk, key, channel_id in found if keys[pk] == key}


def usable_type(said: str) -> IncidentType:
    """Return the type of a slug or a name; raise ``Refused`` with the closest ones when there is none."""
    types = list(IncidentType.objects.usable())
    wanted = said.strip().lower().replace(" ", "-").replace("_", "-")
    for one in types:
        if wanted in {one.slug, one.policy.name.lower().replace(" ", "-")}:
            return one
    known = ", ".join(one.slug for one in types)
    raise lifecycle.Refused(f"There is no type “{said.strip()}”. The types are: {known}.")


def page(incident: Incident) -> str:
    """Return the address of an incident's page."""
    return f"{setup.base_url()}{incident.get_absolute_url()}"


def linked(incident: Incident) -> str:
    """Write an incident's codename as a link to its page."""
    return mrkdwn.link(page(incident), incident.codename)
