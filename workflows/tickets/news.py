"""Record what happened to a ticket, and apply its changes here. Called in a transaction that holds the incident."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.utils.crypto import salted_hmac

from incidents import lifecycle
from incidents.lifecycle import Refused
from incidents.models import Incident, Person
from incidents.people import emails
from workflows.effects import effect_queue
from workflows.models import Resource, Ticket, TrackerRead
from workflows.planning.tickets import wanted
from workflows.tracker_port import TicketStatus, Tracker

log = logging.getLogger(__name__)


def opened(incident: Incident, *, key: str, place: str, found: TicketStatus, tracker: str, at: datetime) -> None:
    """Record which ticket stands for a follow-up; one found late is not announced if a private one exists."""
    Ticket.objects.get_or_create(place=place, ref=found.ref, defaults={"incident": incident, "key": key})
    TrackerRead.objects.get_or_create(place=place, defaults={"until": found.at})
    n = wanted.number(key)
    if key == wanted.key(n, private=True) or not _has_private(incident, n):
        lifecycle.track_followup(incident, n=n, at=at, ticket=found.label, url=found.url, tracker=tracker)


def withdrawn(incident: Incident, *, key: str, tracker: str, at: datetime) -> None:
    """Record that our words were removed from a ticket, unless another one stands for the follow-up by now."""
    n = wanted.number(key)
    if not _has_private(incident, n):
        lifecycle.track_followup(incident, n=n, ticket="", url="", tracker=tracker, at=at)


def _has_private(incident: Incident, n: int) -> bool:
    return Resource.objects.filter(incident=incident, key=wanted.key(n, private=True)).exists()


def known(changes: Mapping[str, str], tracker: Tracker) -> dict[str, str]:
    """Return the changes that can be applied here: an owner who is unknown here changes nothing."""
    is_nobody = bool(changes.get("owner")) and _person(changes["owner"], tracker) is None
    return {name: value for name, value in changes.items() if name != "owner" or not is_nobody}


def _person(account: str, tracker: Tracker) -> Person | None:
    email = tracker.email(account) if account else ""
    return next(iter(emails.having(Person.objects.filter(deactivated=False), email)), None)


def take(incident: Incident, *, key: str, changes: Mapping[str, str], tracker: Tracker, at: datetime) -> None:
    """Apply a ticket's changes to its follow-up; what cannot be applied here is reverted there."""
    owner = _person(changes.get("owner", ""), tracker)
    try:
        with transaction.atomic():
            lifecycle.follow_ticket(
                incident, n=wanted.number(key), changes=changes, owner=owner, tracker=tracker.name, at=at
            )
    except Refused as refused:
        log.info("a change of ticket %s of incident %s is put back: %s", key, incident.pk, type(refused).__name__)
        effect_queue.replan(incident.pk)


def sent(incident_id: int, key: str) -> dict[str, str]:
    """Return what a ticket was last sent about a follow-up, by field."""
    spec = Resource.objects.values_list("spec", flat=True).get(incident=incident_id, key=key)
    return {name: spec[name] for name in wanted.FIELDS if name in spec}


def shown(fields: Mapping[str, str]) -> dict[str, str]:
    """Return a ticket's fields as stored: of the title, whose words may be redacted, only a keyed hash."""
    title = salted_hmac("workflows.ticket.title", fields["title"]).hexdigest()[:32]
    return {**fields, "title": title}


def moved(found: TicketStatus, before: Mapping[str, str]) -> set[str]:
    """Return the fields of a ticket that differ from what was stored."""
    now = shown(found.fields)
    return {name for name in now if now[name] != before.get(name)}
