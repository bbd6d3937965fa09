"""What was posted in the time that a restore lost is withdrawn as well, once its incident is private."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from django.core.management import call_command
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.house import House
from integrations.tests.losing import lost
from integrations.tests.test_restored import own_house, said

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
