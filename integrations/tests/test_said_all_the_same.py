"""A post that counts as failed but only lost its answer is withdrawn once the incident is private."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.conf import settings

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.house import House
from workflows import tasks
from workflows.effects.failing import failures
from workflows.models import Effect
from workflows.planning.wording.privacy_notes import CLOSES
from workflows.reconcile import retyping

METHODS = {"announcement": "chat.postMessage", "headline/1": "chat.postMessage", "topic/1": "conversations.setTopic"}


@pytest.fixture
def said(house: House, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Incident:
    """Slack carries everything out without answering, for longer than a step is retried."""
    monkeypatch.setattr(failures, "ATTEMPTS", 1)
    house.slack.faults.add("drop", method=METHODS[request.param])
    incident = lifecycle.declare("Keys leaked", by=house.person("dee"), at=house.now(), type=house.type("major"))
    incident = house.settle(incident)
    house.slack.faults.clear()
    assert Effect.objects.get(thing=request.param, state="failed").unsure
    assert "Keys" in public(house)
    return incident


def answered_again(house: House, incident: Incident) -> Incident:
    """Let Slack answer, and retry what failed."""
    house.slack.faults.clear()
    tasks.recover()
    return house.settle(incident)


def public(house: House) -> str:
    """Return everything of ours that anyone in the workspace can read."""
    rooms = [one for one in house.slack.workspace.channels.values() if not one.is_private]
    return str([(one.topic, house.slack.texts(one.name)) for one in rooms])


@pytest.mark.parametrize("channel", ["incidents", "outages", ""])
@pytest.mark.parametrize("said", METHODS, indirect=True)
def test_it_is_withdrawn_wherever_announcements_go_by_now(
    house: House, said: Incident, monkeypatch: pytest.MonkeyPatch, channel: str
) -> None:
    house.slack.acts.create_channel("dee", "outages")
    slack = settings.FIREKIND.slack
    assert slack is not None
    now = replace(settings.FIREKIND, slack=replace(slack, announce_channel=channel))
    monkeypatch.setattr(settings, "FIREKIND", now)
    incident = house.retype(said, "security")
    assert "Keys" not in public(house)
    assert not Effect.objects.filter(incident=incident, state="failed").exists()


@pytest.mark.parametrize("said", ["announcement"], indirect=True)
def test_a_look_that_fails_as_well_follows_with_the_vendor_and_is_told_once(house: House, said: Incident) -> None:
    house.slack.faults.add("drop", method="conversations.history")
    incident = house.retype(said, "security")
    told = incident.events.filter(kind="failed").count()
    effect = Effect.objects.get(thing="announcement", state="failed")
    tried, looked = incident.events.filter(kind="failed", data__effect=effect.pk).order_by("n")
    assert tried.text.startswith("Could not post")
    assert looked.text.startswith("Could not check whether Firekind managed to post")
    assert effect.error.startswith("Could not check whether this was done. ")
    for _ in range(3):
        incident = house.settle(incident)
    assert incident.events.filter(kind="failed").count() == told
    answered_again(house, incident)
    assert "Keys" not in public(house)
    assert not Effect.objects.filter(incident=incident, state="failed").exists()


@pytest.mark.parametrize("said", METHODS, indirect=True)
def test_the_plan_says_that_it_is_looked_for_only_where_it_may_be_public(house: House, said: Incident) -> None:
    dee = house.person("dee")
    looked_for = "Firekind looks for"
    notes = retyping.preview(said, to=house.type("security"), by=dee).notes
    assert [note.heading for note in notes if looked_for in note.text] == [CLOSES]
    for to in ("internal", "isolated"):
        assert looked_for not in str(retyping.preview(said, to=house.type(to), by=dee))
    incident = house.retype(said, "security")
    assert looked_for not in str(retyping.preview(incident, to=house.type("major"), by=dee))


IN_ITS_CHANNEL = ["headline/1", "topic/1"]


def is_archived(house: House, incident: Incident) -> bool:
    return house.slack.channel(house.channel(incident, 1)).is_archived


@pytest.mark.parametrize("said", IN_ITS_CHANNEL, indirect=True)
def test_the_plan_says_that_the_channel_is_archived_and_it_is_once_that_was_looked_for(
    house: House, said: Incident
) -> None:
    plan = retyping.preview(said, to=house.type("security"), by=house.person("dee"))
    assert [line.key for line in plan.lines].count("archived") == 1
    incident = house.retype(said, "security")
    assert is_archived(house, incident)
    assert "Keys" not in public(house)


@pytest.mark.parametrize("said", ["headline/1"], indirect=True)
def test_what_could_not_be_looked_for_keeps_its_channel_open_until_it_can_be(house: House, said: Incident) -> None:
    house.slack.faults.add("drop", method="conversations.history")
    incident = house.retype(said, "security")
    assert not is_archived(house, incident)
    incident = answered_again(house, incident)
    assert is_archived(house, incident)
    assert "Keys" not in public(house)


def test_so_does_what_told_there_of_a_failure(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing more is reported where that fails, but it is known."""
    monkeypatch.setattr(failures, "ATTEMPTS", 1)
    incident = house.declare("Keys leaked", type="major")
    house.slack.faults.add("error", method="conversations.setTopic", error="missing_scope")
    house.slack.faults.add("drop", method="chat.postMessage")
    lifecycle.set_lead(incident, lead=house.person("ann"), by=None, at=house.now())
    incident = house.settle(incident)
    house.slack.faults.clear()
    n = incident.events.get(kind="failed", text__contains="topic").n
    assert Effect.objects.get(incident=incident, thing=f"told/{n}", state="failed").unsure
    house.slack.faults.add("drop", method="conversations.history")
    incident = house.retype(incident, "security")
    assert not is_archived(house, incident)
    incident = answered_again(house, incident)
    assert is_archived(house, incident)
    assert not [text for text in house.slack.texts(house.channel(incident, 1)) if "topic" in text]


@pytest.mark.parametrize("said", IN_ITS_CHANNEL, indirect=True)
def test_the_channel_of_what_is_public_still_is_archived_when_someone_asks(house: House, said: Incident) -> None:
    lifecycle.resolve(said, by=house.person("dee"), at=house.now(), text="Rolled back")
    incident = house.settle(said)
    lifecycle.archive_channel(incident, by=house.person("dee"), at=house.now())
    house.settle(incident)
    assert is_archived(house, incident)


@pytest.mark.parametrize("said", ["announcement"], indirect=True)
def test_what_is_public_still_is_said_once(house: House, said: Incident) -> None:
    lifecycle.set_lead(said, lead=house.person("ann"), by=None, at=house.now())
    house.settle(said)
    tasks.recover()
    house.settle(said)
    (once,) = [text for text in house.slack.texts("incidents") if "Keys" in text]
    assert "Lead: Ann" in once
