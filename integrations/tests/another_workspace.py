"""A second Slack workspace: the same people under different ids, with nothing of ours in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

import pytest
from django.utils import timezone

from incidents.models import Incident, Participant
from integrations.slack import fake
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.straight import StraightWire
from integrations.tests.house import GROUPS, TOKEN, House
from workflows import ports, tasks
from workflows.channels import membership, rooms
from workflows.effects.failing import announcements, recovering
from workflows.models import Resource
from workflows.pager_port import Pager
from workflows.planning.plan import Plan
from workflows.reconcile import retyping, sweep

TEAM: Final = "T9OTHER"
SECRET: Final = "Keys"  # in the titles of incidents
SERIAL: Final = 500_000  # Slack never issues an id twice


def workspace(people: Iterable[str]) -> fake.FakeSlack:
    """Create a workspace with these people, by handle, and the groups that the shipped policies name, of them alone."""
    people = [*people]
    slack = fake.FakeSlack(bot_token=TOKEN, workspace=fake.Workspace(team_id=TEAM, domain="another"))
    slack.resume(serial=SERIAL, last_ts=slack.last_ts)
    for handle in people:
        slack.add_person(handle, name=handle.capitalize(), email=f"{handle}@example.com", id=f"U9{handle.upper()}")
    slack.add_channel("incidents", members=["firekind"], id="C9INCIDENTS")
    for handle, members in GROUPS.items():
        slack.add_group(handle, members=[one for one in members if one in people], id=f"S9{handle.upper()}")
    return slack


def chat_on(slack: fake.FakeSlack) -> SlackChat:
    """Return the chat of a newly started process for a workspace."""
    wire = StraightWire(slack, token=TOKEN)
    return SlackChat(wire, identity=Identity(wire))


@contextmanager
def connected(house: House, slack: fake.FakeSlack, *, pager: Pager | None = None) -> Iterator[House]:
    """Connect the house to another workspace for the length of a block, and then back to its own."""
    before = house.slack
    house.slack, house.chat = slack, chat_on(slack)
    with ports.using(chat=house.chat, pager=pager):
        yield house
    house.slack, house.chat = before, chat_on(before)


def handles(slack: fake.FakeSlack) -> list[str]:
    """Return the handles of everyone in a workspace except bots."""
    return [one.handle for one in slack.workspace.people.values() if not one.is_bot]


@pytest.fixture
def other(house: House) -> fake.FakeSlack:
    """A workspace with the same people that the house is not connected to yet."""
    return workspace(handles(house.slack))


def settle(house: House, incident: Incident) -> Incident:
    """Settle like a newly started worker, which looks at the workspace and sweeps."""
    with ports.using(chat=house.chat):
        for _ in range(3):
            tasks.refresh_directory()
            incident = house.settle(incident)
    return incident


def gaps(incident: Incident) -> list[str]:
    """Return the gaps."""
    return list(Resource.objects.filter(incident=incident, kind="gap").values_list("label", flat=True))


def gaps_of_slack(incident: Incident) -> list[str]:
    """Return the gaps about a Slack workspace."""
    return [text for text in gaps(incident) if "Slack workspace" in text]


def public(slack: fake.FakeSlack) -> list[str]:
    """Return everything that anyone in a workspace can read, including topics."""
    open_ones = [one for one in slack.workspace.channels.values() if not one.is_private]
    said = [str([message.text, message.blocks]) for one in open_ones for message in one.messages.values()]
    system = {message.text for one in open_ones for message in one.messages.values() if message.is_system}
    return [text for text in said if not any(line in text for line in system)] + [one.topic.value for one in open_ones]


def elsewhere(house: House, other: fake.FakeSlack, incident: Incident, *, to: str = "") -> Incident:
    """Continue in a channel of another workspace for a while, then come back to the previous one."""
    with connected(house, other):
        incident = settle(house, incident)
        if f"channel/{incident.room}" in there(incident):
            return incident
        rooms.open_another(incident, by=house.person("dee"), at=house.now())
        incident = settle(house, incident)
        return house.retype(incident, to) if to else incident


def there(incident: Incident) -> set[str]:
    """Return the keys of resources that exist and are within reach."""
    return {*Resource.objects.filter(incident=incident, state="there").values_list("key", flat=True)}


def inside(incident: Incident) -> dict[int, str]:
    """Return the participants, names by key."""
    here = Participant.objects.filter(incident=incident, left_at=None)
    return dict(here.values_list("person", "person__name"))


def preview(house: House, incident: Incident, to: str) -> Plan:
    """Return the plan that is shown before a retype."""
    return retyping.preview(incident, to=house.type(to), by=house.person("dee"))


def quiet(house: House, slack: fake.FakeSlack, incident: Incident) -> bool:
    """Return whether regular looks ask the workspace nothing about an incident that is not in it."""
    old = set(Resource.objects.filter(kind="channel").values_list("external_id", flat=True))
    old -= set(slack.workspace.channels)
    before = slack.calls.total
    with ports.using(chat=house.chat):
        for minutes in range(3):
            at = timezone.now() + timedelta(minutes=10 * minutes)
            membership.poll(at=at)
            membership.poll_older(at=at)
            membership.poll_public(at=at)
            announcements.retry(at=at)
            recovering.retry(at=at)
            assert incident.pk not in sweep.unsettled()
            assert incident.pk not in sweep.unplanned(at=at)
    asked = slack.calls.since(before)
    return not [call for call in asked if old & set(map(str, call.args.values()))]
