"""Changes that managers ask for, and the notices that participants read about them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.test import Client
from django.utils import timezone

from incidents.models import Event, Incident, IncidentType, Person, Proposal
from incidents.policies.type_changes import EditType
from incidents.second_manager import notices, proposals
from workflows.usergroups.changes import AddGroup, GroupSources


def fills(handle: str, *people: Person) -> AddGroup:
    """A rule by which these people are always in a group."""
    return AddGroup(handle, GroupSources.of([], people))


def asks(change: proposals.ProposedChange, by: Person) -> Proposal:
    """Ask for a change that has to be confirmed."""
    made = proposals.make(change, by=by, at=timezone.now())
    assert made.proposal is not None
    return made.proposal


def edits(type: IncidentType, **fields: Any) -> EditType:
    """A new version of a type."""
    assert type.current is not None
    return EditType(type.slug, type.current.number, replace(type.policy, **fields).as_dict())


def warned(incident: Incident) -> list[str]:
    """Deliver pending notices, and return what the incident's participants read."""
    notices.carry(at=timezone.now())
    rows = Event.objects.filter(incident=incident, kind="warned").order_by("n")
    return list(rows.values_list("text", flat=True))


def moves(client: Client, address: str, *codenames: str, **given: str) -> str:
    """Read what a version would change for open incidents, move these to it, and return the response."""
    page = client.post(address, given) if given else client.get(address)
    shown = re.findall(r'name="shown" value="([^"]+)"', page.content.decode())
    sent = {**given, "shown": shown, "adopt": codenames} | ({"save": "1"} if given else {})
    return client.post(address, sent, follow=True).content.decode()


def saves(client: Client, address: str, given: Mapping[str, Any]) -> None:
    """Look at the dry run of a rule, then save it."""
    shown = client.post(address, given).content.decode()
    save = re.search(r'name="save" value="(\w+)"', shown)
    assert save is not None, shown
    client.post(address, {**given, "save": save[1]})
