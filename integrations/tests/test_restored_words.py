"""What was posted in the time that a restore lost is withdrawn as well, once its incident is private."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from django.core.management import call_command
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.house import House, announce_in
from integrations.tests.losing import lost
from integrations.tests.test_restored import own_house, said
from workflows.channels import room_looks
from workflows.effects.failing import failures
from workflows.models import Effect
from workflows.reconcile import reconcile

__all__ = ["own_house"]  # the fixture `house` of this module

LOST: Final[dict[str, Callable[[House, Incident], object]]] = {
    "update": lambda house, incident: lifecycle.update(
        incident, text="Keys are out", by=house.person("dee"), at=timezone.now()
    ),
    "announcement": lambda house, incident: house.confirm(incident, "ambiguous"),
}


@pytest.fixture
def restored(house: House, request: pytest.FixtureRequest) -> Incident:
    """An incident from before a restore, which lost what someone did in it."""
    incident = house.declare("Keys leaked", type="internal")
    with lost():
        LOST[request.param](house, incident)
        house.settle(incident)
    call_command("restored")
    return house.settle(Incident.objects.get(pk=incident.pk))


@pytest.mark.parametrize("restored", LOST, indirect=True)
def test_what_no_entry_says_any_more_is_withdrawn(house: House, restored: Incident) -> None:
    assert [name for name, text in said(house) if "Keys" in text]
    house.retype(restored, "security")
    public = {one.name for one in house.slack.workspace.channels.values() if not one.is_private}
    assert not [(name, text) for name, text in said(house) if name in public and "Keys" in text]


@pytest.mark.parametrize("restored", ["update"], indirect=True)
def test_what_people_said_stays_and_the_farewell_too(house: House, restored: Incident) -> None:
    name = house.channel(restored)
    house.slack.acts.say("dee", name, "I look into it")
    house.retype(restored, "security")
    words = [one.text for one in house.slack.messages(name)]
    assert "I look into it" in words
    assert len([text for text in words if "has ended here" in text]) == 1


@pytest.mark.parametrize("kept", ["in it", "archived", "out of it"])
def test_what_was_announced_elsewhere_meanwhile_is_withdrawn_too(
    house: House, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings named another channel for some time, in which people also retyped it and announced it."""
    house.slack.add_channel("outages", members=["dee", "firekind"])
    incident = house.declare("Keys leaked", type="internal")
    with lost(), pytest.MonkeyPatch.context() as meanwhile:
        announce_in(meanwhile, "outages")
        house.retype(incident, "ambiguous")
    assert [text for where, text in said(house) if where == "outages" and "Keys" in text]
    announce_in(monkeypatch, "incidents")
    call_command("restored")
    if kept == "archived":
        house.slack.acts.archive("dee", "outages")
    if kept == "out of it":
        house.slack.acts.kick("dee", "outages", "firekind")
    incident = house.retype(Incident.objects.get(pk=incident.pk), "security")
    stays = [text for where, text in said(house) if where == "outages" and "Keys" in text]
    assert bool(stays) == (kept != "in it")


def look(house: House, incident: Incident) -> None:
    for id in incident.resources.filter(kind="channel").values_list("external_id", flat=True):
        room_looks.look(house.chat, id, at=timezone.now())


def test_of_a_channel_that_could_not_be_looked_for_while_it_turned_private_people_are_told(house: House) -> None:
    """It was opened, and archived by someone, in what was lost."""
    incident = lifecycle.declare("Keys leaked", by=house.person("dee"), at=house.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    with lost():
        house.settle(incident)
        (name,) = [one.name for one in house.slack.workspace.channels.values() if incident.codename in one.name]
        house.slack.acts.join("dee", name)
        house.slack.acts.archive("dee", name)
    call_command("restored")
    house.slack.faults.add("error", error="token_revoked", times=999)
    incident = house.retype(Incident.objects.get(pk=incident.pk), "security")
    house.slack.faults.clear()
    for _ in range(2):
        failures.retry_all(Effect.objects.filter(incident=incident, state="failed"), at=timezone.now())
        incident = house.settle(incident)
        look(house, incident)
    incident = house.settle(incident)
    assert [text for where, text in said(house) if where == name and "Keys" in text]
    assert incident.resources.filter(key="gap/kept/1").exists()

    house.slack.acts.unarchive("dee", name)
    look(house, incident)
    incident = house.settle(incident)
    assert not [text for where, text in said(house) if where == name and "Keys" in text]
    assert not incident.resources.filter(key="gap/kept/1").exists()
