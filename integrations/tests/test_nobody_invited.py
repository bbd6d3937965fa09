"""No one in the workspace can be invited to a private channel: someone is told, and all come in once they can."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.house import House
from integrations.tests.test_by_hand import direct, refuse
from workflows.channels import membership
from workflows.models import Resource
from workflows.status import missing

METHOD = "conversations.invite"
OF_ALL = ["no_permission", "missing_scope", "restricted_action", "ekm_access_denied"]
OF_EACH = ["cant_invite", "org_user_not_in_team", "user_is_restricted"]


def declared(house: House) -> Incident:
    return house.declare("Someone has our keys", type="security")


def retyped(house: House) -> Incident:
    return house.retype(house.declare("Someone has our keys", type="internal"), "security")


def led(house: House) -> Incident:
    incident = house.declare("Someone has our keys", type="internal")
    lifecycle.set_lead(incident, lead=house.person("sam"), by=house.person("dee"), at=house.now())
    return house.retype(house.settle(incident), "security")


WAYS: dict[str, tuple[Callable[[House], Incident], str]] = {
    "declared": (declared, "dee"),
    "retyped": (retyped, "dee"),
    "led by someone else": (led, "sam"),
}


def gaps(incident: Incident) -> list[str]:
    return [*Resource.objects.filter(incident=incident, key__startswith="gap/empty/").values_list("key", flat=True)]


def everywhere_else(house: House, channel: str) -> str:
    """Return everything the app says outside the private channel."""
    others = [one for one in house.slack.workspace.channels.values() if one.name != channel]
    return " ".join(str([m.text, m.blocks]) for one in others for m in one.messages.values() if not m.is_system)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("code", [*OF_ALL, *OF_EACH])
def test_whoever_leads_is_told_once_and_all_come_in_once_they_can(house: House, code: str, way: str) -> None:
    act, whom = WAYS[way]
    refuse(house, METHOD, code)
    incident = act(house)
    channel = house.channel(incident)
    assert house.slack.members(channel) == {"firekind"}
    assert direct(house, whom).count("so no one can read it") == 1
    assert channel in direct(house, whom)
    assert "keys" not in everywhere_else(house, channel)
    (key,) = gaps(incident)

    with pytest.raises(lifecycle.Refused):
        missing.mended(key, incident, by=house.person("dee"), at=house.now())
    asked = house.slack.calls.count(METHOD)
    incident = house.settle(incident)
    assert house.slack.calls.count(METHOD) == asked, "nobody is asked again and again"

    house.slack.faults.clear()
    missing.mended(key, incident, by=house.person("dee"), at=house.now())
    incident = house.settle(incident)
    assert {"dee", "sam", "sia", "pat"} <= house.slack.members(channel)
    assert not gaps(incident)
    assert direct(house, whom).count("so no one can read it") == 1


def test_whoever_comes_in_by_hand_ends_it(house: House) -> None:
    refuse(house, METHOD, "cant_invite")
    incident = declared(house)
    house.slack.channel(house.channel(incident)).members.append(house.slack.person("dee").id)
    membership.poll(at=timezone.now() + timedelta(minutes=1))
    assert not gaps(house.settle(incident))


def test_nobody_is_told_where_people_are_in_or_can_come_in_by_themselves(house: House) -> None:
    house.slack.person("pat").deleted = True
    assert not gaps(declared(house))
    refuse(house, METHOD, "cant_invite")
    assert not gaps(house.declare(type="major"))
    assert direct(house, "dee") == ""
