"""Channels that the app was removed from, or that were archived, in the time that a restore lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

import pytest
from django.core.management import call_command
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Event, Incident
from integrations.tests.house import House
from integrations.tests.losing import lost
from integrations.tests.test_restored import own_house
from workflows.reconcile import reconcile

__all__ = ["own_house"]  # the fixture `house` of this module

WORDS: Final = "Payments fail"


def removed(house: House, name: str) -> None:
    """Remove the app from a channel."""
    house.slack.acts.kick("dee", name, "firekind")


def archived(house: House, name: str) -> None:
    """Archive a channel."""
    house.slack.acts.archive("dee", name)


HANDS: Final[Mapping[str, Callable[[House, str], None]]] = {"removed": removed, "archived": archived}


def planned(house: House) -> Incident:
    """Declare and plan, so that a channel is owed."""
    by = house.person("dee")
    incident = lifecycle.declare(WORDS, by=by, at=timezone.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    return incident


def channel_of(house: House) -> str:
    """Return the name of the newest channel that the app made."""
    ours = [one for one in house.slack.workspace.channels.values() if one.creator == house.chat.self_id]
    return ours[-1].name


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("restores", [True, False], ids=["restored", "as it was"])
def test_what_is_left_in_public_by_an_incident_that_turns_private_is_withdrawn_or_named(
    house: House, hand: str, restores: bool
) -> None:
    incident = planned(house)
    if restores:
        with lost():
            house.settle(incident)
            name = channel_of(house)
            HANDS[hand](house, name)
        call_command("restored")
    else:
        house.settle(incident)
        name = channel_of(house)
        HANDS[hand](house, name)
    house.settle(Incident.objects.get(pk=incident.pk))
    house.retype(Incident.objects.get(pk=incident.pk), "security")
    said = str(list(house.slack.channel(name).messages.values()))
    told = " ".join(Event.objects.filter(incident=incident).values_list("text", flat=True))
    instructions = str(list(Event.objects.filter(incident=incident, kind="failed").values_list("data", flat=True)))
    named = re.search(rf"#{name}(?![\w-])", told + instructions)
    assert WORDS not in said or named


@pytest.mark.parametrize("hand", HANDS)
def test_the_channel_of_an_incident_that_was_lost_is_named(
    house: House, hand: str, capsys: pytest.CaptureFixture[str]
) -> None:
    house.declare("Known")
    with lost():
        house.declare(WORDS)
        name = channel_of(house)
        HANDS[hand](house, name)
    capsys.readouterr()
    call_command("restored")
    _, _, told = capsys.readouterr().out.partition("but they are unknown here")
    assert f"  #{name}" in told
