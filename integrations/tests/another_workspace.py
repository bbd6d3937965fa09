"""Another Slack workspace than before: the same people under ids of its own, and nothing of ours in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from integrations.slack import fake
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.straight import StraightWire
from integrations.tests.house import GROUPS, TOKEN, House
from workflows import ports
from workflows.pager_port import Pager

TEAM: Final = "T9OTHER"
SERIAL: Final = 500_000  # ids are never given out twice in Slack


def workspace(people: Iterable[str]) -> fake.FakeSlack:
    """Make a workspace with these people, by their handles, and the groups that the shipped policies name."""
    slack = fake.FakeSlack(bot_token=TOKEN, workspace=fake.Workspace(team_id=TEAM, domain="another"))
    slack.resume(serial=SERIAL, last_ts=slack.last_ts)
    for handle in people:
        slack.add_person(handle, name=handle.capitalize(), email=f"{handle}@example.com", id=f"U9{handle.upper()}")
    slack.add_channel("incidents", members=["firekind"], id="C9INCIDENTS")
    for handle, members in GROUPS.items():
        slack.add_group(handle, members=members, id=f"S9{handle.upper()}")
    return slack


def chat_on(slack: fake.FakeSlack) -> SlackChat:
    """Return what a process that has just been started talks to a workspace by."""
    wire = StraightWire(slack, token=TOKEN)
    return SlackChat(wire, identity=Identity(wire))


@contextmanager
def connected(house: House, slack: fake.FakeSlack, *, pager: Pager | None = None) -> Iterator[House]:
    """Have the house talk to another workspace for the length of a block, and to its own again after that."""
    before = house.slack
    house.slack, house.chat = slack, chat_on(slack)
    with ports.using(chat=house.chat, pager=pager):
        yield house
    house.slack, house.chat = before, chat_on(before)


def handles(slack: fake.FakeSlack) -> list[str]:
    """Return everyone of a workspace who is no bot."""
    return [one.handle for one in slack.workspace.people.values() if not one.is_bot]
