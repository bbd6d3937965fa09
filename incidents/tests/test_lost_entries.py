"""A page shows what the database lost: an action on such an entry is not applied to the one that has its number now."""

from __future__ import annotations

import re

import pytest
from django.db import transaction
from django.utils import timezone

from incidents import lifecycle
from incidents.models import AccessRequest, Followup, Incident, IncidentType, Person
from incidents.tests.conftest import Open


@pytest.mark.parametrize("verb", ["edit", "retract", "redact"])
def test_an_entry_is_changed_from_its_own_link_alone(incident: Incident, ada: Person, browse: Open, verb: str) -> None:
    lifecycle.set_lead(incident, lead=ada, by=ada, at=timezone.now())
    client = browse(ada)
    with transaction.atomic():
        lifecycle.note(incident, text="the key of Ana Ruiz", by=ada, at=timezone.now())
        shown = client.get(incident.get_absolute_url()).content.decode()
        (link, *_) = re.findall(rf'href="([^"]+/{verb}\?n=[^"]+)"', shown)
        form = re.findall(r'name="n" value="([^"]+)"', client.get(link).content.decode())
        transaction.set_rollback(True)
    kept = lifecycle.note(incident, text="half are back", by=ada, at=timezone.now())
    assert "no longer exists" in client.get(link).content.decode()
    for n in form[:1]:
        answer = client.post(link.partition("?")[0], {"n": n, "text": "x", "because": ""})
        assert answer.status_code == 422
        assert "no longer exists" in answer.content.decode()
    assert not incident.events.filter(about_n=kept.n).exists()


def test_a_task_is_done_from_its_own_box_alone(incident: Incident, ada: Person, browse: Open) -> None:
    client, phase, now = browse(ada), Followup.Phase.DURING, timezone.now
    with transaction.atomic():
        lifecycle.add_followup(incident, text="revoke the first key", phase=phase, by=ada, at=now())
        shown = client.get(incident.get_absolute_url()).content.decode()
        (n, *_) = re.findall(r'name="n" value="([^"]+)"', shown)
        transaction.set_rollback(True)
    lifecycle.add_followup(incident, text="call the bank", phase=phase, by=ada, at=now())
    answer = client.post(f"/incidents/{incident.codename}/finish", {"n": n})
    assert answer.status_code == 422
    assert Followup.objects.get().is_open


def test_only_who_asked_is_let_in(
    ada: Person, ben: Person, eve: Person, shipped: dict[str, IncidentType], browse: Open
) -> None:
    incident = lifecycle.declare("keys", by=ada, at=timezone.now(), type=shipped["security"])
    client = browse(ada)

    def ask(person: Person) -> None:
        lifecycle.ask_in(incident.codename, person=person, because="it is my service", at=timezone.now())
        lifecycle.carry(at=timezone.now())

    with transaction.atomic():
        ask(ben)
        shown = client.get(incident.get_absolute_url()).content.decode()
        n = re.findall(r'name="n"\s+value="([^"]+)"', shown)[0]
        transaction.set_rollback(True)
    ask(eve)
    answer = client.post(f"/incidents/{incident.codename}/let-in", {"n": n})
    assert answer.status_code == 422
    assert AccessRequest.objects.get().let_in is None
