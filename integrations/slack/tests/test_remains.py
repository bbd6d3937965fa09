"""Others' messages in a channel are counted, in threads and from other apps, but not ours or Slack's own."""

from __future__ import annotations

import pytest

from integrations.slack import fake
from integrations.slack.adapter import channel_state
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.fake import changes
from integrations.slack.tests.straight import StraightWire
from workflows.planning.wording.card import Card

TOKEN = "xoxb-test"


@pytest.fixture
def slack() -> fake.FakeSlack:
    slack = fake.FakeSlack(bot_token=TOKEN)
    for handle in ("ann", "ben"):
        slack.add_person(handle)
    return slack


@pytest.fixture
def chat(slack: fake.FakeSlack) -> SlackChat:
    wire = StraightWire(slack, token=TOKEN)
    return SlackChat(wire, identity=Identity(wire))


@pytest.fixture
def room(slack: fake.FakeSlack, chat: SlackChat) -> str:
    """A channel of ours with two people and one of our messages in it."""
    room = chat.open_channel("inc-amber-otter", private=False).id
    chat.invite(room, [slack.person("ann").id, slack.person("ben").id])
    chat.post(room, Card("told", title="", text="ours"), mark="1/1")
    return room


def test_nothing_of_ours_and_no_line_of_slacks_own_counts(chat: SlackChat, room: str) -> None:
    chat.set_topic(room, "Major")
    assert chat.remains(room).messages == 0


def test_what_stands_below_a_message_counts_for_who_wrote_it(slack: fake.FakeSlack, chat: SlackChat, room: str) -> None:
    (ours,) = [one.ts for one in slack.messages(room)]
    slack.acts.say("ann", room, "below yours", thread_ts=ours)
    first = slack.acts.say("ann", room, "mine")
    slack.acts.say("ben", room, "below hers", thread_ts=first)
    slack.acts.share("ben", room, "graph.png", b"\x89PNG", thread_ts=ours)
    found = chat.remains(room)
    assert found.authors == {slack.person("ann").id: 2, slack.person("ben").id: 2}
    assert (found.files, found.more) == (1, False)


def test_what_another_app_posted_counts_too(slack: fake.FakeSlack, chat: SlackChat, room: str) -> None:
    changes.post(slack, slack.channel(room), "", subtype="bot_message", bot_id="B0OTHER", text="deployed")
    assert chat.remains(room).authors == {"B0OTHER": 1}


def test_what_is_not_looked_at_is_said_to_be_more(
    slack: fake.FakeSlack, chat: SlackChat, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel_state, "THREADS", 1)
    for _ in range(2):
        slack.acts.say("ben", room, "below", thread_ts=slack.acts.say("ann", room, "above"))
    found = chat.remains(room)
    assert (found.messages, found.more) == (3, True)
