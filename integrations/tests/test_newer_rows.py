"""An older process next to a newer one: rows of unknown kinds stop nothing that it knows."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from incidents import timeline
from incidents.models import Event, Incident, Notice
from incidents.policies.policy import Policy
from incidents.second_manager import notices
from integrations.tests.house import House
from workflows.models import Effect, Resource
from workflows.performing import perform
from workflows.reconcile import reconcile, retyping, sweep
from workflows.status import progress

NEW = "hologram"
STATES = ("waiting", "running", "done", "failed", "cancelled")
SENTENCE = "project a hologram"


def planned(incident: Incident, state: str, *, kind: str = NEW, verb: str = "create") -> Effect:
    """Plan something new for an incident as a newer version does, in any state."""
    at = timezone.now()
    given: dict[str, Any] = {"key": f"{NEW}/1#1", "thing": f"{NEW}/1", "kind": kind, "verb": verb, "sign": "+"}
    given |= {"sentence": SENTENCE, "method": "holograms.project", "rank": 3, "revision": incident.revision}
    given |= {"state": state, "due_at": at, "created_at": at, "room": incident.room}
    given |= {"leased_until": at, "begun_at": at, "tried_at": at} if state == "running" else {}
    return Effect.objects.create(incident=incident, **given)


def made(incident: Incident) -> Resource:
    """Create a resource of a new kind."""
    room = {"room": incident.room, "label": "a hologram", "since_at": timezone.now()}
    return Resource.objects.create(incident=incident, key=f"{NEW}/1", kind=NEW, **room)


@pytest.mark.parametrize(("kind", "verb"), [(NEW, "create"), ("pin", "retire"), ("post", "polish")])
@pytest.mark.parametrize("state", STATES)
def test_what_only_a_newer_version_does_is_left_to_it(house: House, state: str, kind: str, verb: str) -> None:
    incident = house.declare()
    theirs, stands = planned(incident, state, kind=kind, verb=verb), made(incident)
    reconcile.reconcile(incident.pk, at=timezone.now())
    perform.drain(incident.pk, side_by_side=False)
    assert not sweep.unsettled()
    theirs.refresh_from_db()
    kept = "waiting" if state == "running" and kind != NEW else state  # given back, since no process here can do it
    assert (theirs.state, theirs.unanswered) == (kept, 0)
    assert Resource.objects.filter(pk=stands.pk).exists()
    incident = house.retype(incident, "security")
    assert house.slack.texts(house.channel(incident)), "everything else goes on"
    theirs.refresh_from_db()
    assert theirs.state == kept
    assert not Event.objects.filter(incident=incident, kind="failed").exists()


@pytest.mark.parametrize("state", STATES)
def test_pages_show_what_a_newer_version_does_by_its_words(house: House, state: str) -> None:
    incident, dee = house.declare(), house.person("dee")
    planned(incident, state)
    made(incident)
    timeline.append(incident, NEW, at=timezone.now(), text="A hologram was projected", data={"new": 1})
    dee.user = User.objects.create(username="dee")
    dee.save()
    browser = Client()
    browser.force_login(dee.user)
    page = browser.get(incident.get_absolute_url())
    assert page.status_code == 200
    assert "A hologram was projected" in page.content.decode()
    assert (SENTENCE in str(progress.of(incident))) is (state != "cancelled")
    retyping.preview(incident, to=house.type("security"), by=dee)


def test_a_notice_for_whom_only_a_newer_version_knows_waits_for_it_and_holds_up_none(house: House) -> None:
    incident, at = house.declare("Someone has our keys", type="security"), timezone.now()
    theirs = Notice.objects.create(to="planet/earth", says="The planet grew", at=at)
    Notice.objects.create(to="", says="The group grew", at=at)
    assert sweep.waiting(at=at)
    notices.carry(at=at)
    assert list(Notice.objects.all()) == [theirs]
    assert Event.objects.filter(incident=incident, kind="warned", text="The group grew").exists()


def test_a_type_is_read_without_what_only_a_newer_version_knows_of_it() -> None:
    role = {"role": "cook", "group": "kitchen"}
    capture = {"source": "api", "kind": "cpu", "on": "declare", "seconds": 3}
    body = Policy(slug="fire", name="Fire", says="").as_dict() | {"one_of": [role], "captures": [capture]}
    newer = body | {"shiny": True, "one_of": [role | {"shiny": True}]}
    newer["captures"] = [capture | {"shiny": True}, capture | {"kind": NEW}]
    assert Policy.from_dict(newer) == Policy.from_dict(body)
