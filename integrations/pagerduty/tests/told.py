"""What tests read of a page and its timeline."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from incidents.models import Event, Incident, Participant, Person
from integrations.pagerduty.models import Webhook
from integrations.pagerduty.tests.posted import NINE, Door
from workflows.models import Page


def paged(incident: Incident, *, pager_id: str = "PI1", key: str = "page/policy/P1", **more: Any) -> Page:
    """Return an open page of ours."""
    values = {
        "target": "policy/P1",
        "name": "Major incidents",
        "dedup_key": f"firekind-{incident.pk}-{key}",
        "status": "triggered",
        "status_at": NINE - timedelta(minutes=1),
        "opened_at": NINE - timedelta(minutes=1),
    }
    return Page.objects.create(incident=incident, key=key, pager_id=pager_id, **(values | more))


def said(incident: Incident) -> list[str]:
    """Return the timeline's entries about pages in order, each starting with the people it names."""
    events = Event.objects.filter(incident=incident, kind="page").select_related("by").order_by("n")
    return [f"{one.by.name} {one.text}" if one.by else one.text for one in events]


def last(incident: Incident) -> Event:
    return Event.objects.filter(incident=incident, kind="page").latest("n")


def hear(door: Door, *events: dict[str, Any]) -> None:
    for one in events:
        assert door.send(one).status_code == 202
    assert door.work() == len(events)
    assert not Webhook.objects.exclude(state="done").exists()


def in_it(incident: Incident, person: Person) -> bool:
    return Participant.objects.filter(incident=incident, person=person, left_at=None).exists()
