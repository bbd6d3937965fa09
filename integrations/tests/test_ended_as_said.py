"""The form for ending an incident says which pages stay open and who is not told, and that is what happens."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Final

import pytest
from django.test import Client

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.tests.conftest import behind
from integrations.slack.tests.door import Door
from integrations.tests.duty import Duty
from integrations.tests.test_people_laws import account
from workflows import ports
from workflows.channels import rooms
from workflows.models import Page


def archived(duty: Duty, name: str) -> None:
    duty.house.slack.acts.archive("dee", name)
    rooms.archived_by_hand(duty.house.slack.channel(name).id, archived=True, at=duty.house.now())


def deleted(duty: Duty, name: str) -> None:
    channel = duty.house.slack.channel(name)
    duty.house.slack.person("dee").is_owner = True
    duty.house.slack.acts.delete_channel("dee", name)
    rooms.deleted(channel.id, at=duty.house.now())


def thrown_out(duty: Duty, name: str) -> None:
    duty.house.slack.acts.kick("dee", name, "firekind")
    rooms.thrown_out(duty.house.slack.channel(name).id, stamp=0.0)


OUT_OF_REACH: Final[dict[str, Callable[[Duty, str], None]]] = {
    "is archived, so nothing is posted there.": archived,
    "is gone, so nothing is posted there.": deleted,
    "Firekind is no longer in": thrown_out,
}
NOTHING: Final = ("not connected", "so nothing is posted there")


def on_the_page(duty: Duty, incident: Incident, verb: str) -> str:
    client = Client()
    client.force_login(account(duty.house.person("dee")))
    return unescape(client.get(f"/incidents/{incident.codename}/{verb}").content.decode())


@pytest.mark.parametrize("says", OUT_OF_REACH)
@pytest.mark.parametrize("verb", ["resolve", "cancel", "duplicate"])
def test_that_no_one_is_told_in_the_channel_is_said_before(duty: Duty, verb: str, says: str) -> None:
    incident = duty.house.declare(type="major")
    assert not [one for one in NOTHING if one in on_the_page(duty, incident, verb)]
    name = duty.house.channel(incident)
    OUT_OF_REACH[says](duty, name)
    incident = duty.house.settle(incident)
    assert says in on_the_page(duty, incident, verb)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_that_pages_stay_open_is_said_before(duty: Duty, elsewhere: bool) -> None:
    house = duty.house
    incident = house.declare(type="major")
    if elsewhere:
        Page.objects.update(elsewhere=True)
    with ports.using(chat=house.chat, pager=duty.pager if elsewhere else None):
        said = on_the_page(duty, incident, "resolve")
        with behind(house), ports.using(chat=house.chat, pager=duty.pager if elsewhere else None):
            door = Door(house)
            door.press("dee", "firekind:resolve", channel=house.channel(incident))
            in_slack = door.reads(door.modal("dee"))
        lifecycle.resolve(incident, by=house.person("dee"), at=house.now())
        house.settle(incident)
    expected = (
        "1 page is in a PagerDuty account"
        if elsewhere
        else "PagerDuty is not connected, so open pages are resolved once it is."
    )
    assert expected in said
    assert expected in in_slack
    assert duty.opened(incident) == ["Major incidents: triggered"]
