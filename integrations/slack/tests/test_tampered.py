"""A field of Slack's answer is missing, null or of another type: it is read alike or refused, and never recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from integrations.slack import fake, manifest
from integrations.slack.adapter import files
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.straight import StraightWire
from integrations.tests import tampering
from workflows.chat_port import Posted
from workflows.planning.wording.card import Card
from workflows.ports import VendorError

CARD: Final = Card("headline", "Checkout is slow", text="We are looking")
SINCE: Final = datetime.now(UTC) - timedelta(minutes=5)

MADE: Final[list[str]] = []  # files


class Recorded(StraightWire):
    """Calls the workspace, and keeps what it answered."""

    def __init__(self, slack: fake.FakeSlack) -> None:
        super().__init__(slack, token="xoxb-sandbox")
        self.answers: list[tuple[str, dict[str, Any]]] = []

    def _answered(self, method: str, form: dict[str, Any]) -> dict[str, Any]:
        answer = super()._answered(method, form)
        self.answers.append((method, json.loads(json.dumps(answer))))
        return answer


class Replayed(StraightWire):
    """Answers with what was kept, in the same order, and after that not at all."""

    def __init__(self, slack: fake.FakeSlack, answers: list[tuple[str, Any]]) -> None:
        super().__init__(slack, token="xoxb-sandbox")
        self.left = list(answers)

    def _answered(self, method: str, form: dict[str, Any]) -> dict[str, Any]:
        if not self.left:
            raise VendorError("no answer", code="connection_lost", method=method, retryable=True, unknown=True)
        return self._whole(method, self.left.pop(0)[1])


Call = Callable[[SlackChat, str, Posted], object]
CALLS: Final[dict[str, Call]] = {
    "open": lambda chat, room, at: chat.open_channel("inc-new-name", private=True),
    "find": lambda chat, room, at: chat.find_channel("inc-amber-otter", since=SINCE, everywhere=True),
    "made": lambda chat, room, at: chat.channels_made(since=SINCE),
    "entered": lambda chat, room, at: chat.entered(),
    "invite": lambda chat, room, at: chat.invite(room, ["U0BEN", "U0EVE", "U0OLD"]),
    "members": lambda chat, room, at: chat.members(room),
    "topic": lambda chat, room, at: chat.has_topic(room, "slow"),
    "bookmark": lambda chat, room, at: chat.add_bookmark(room, title="t", link="https://example.com/2"),
    "find bookmark": lambda chat, room, at: chat.find_bookmark(room, link="https://example.com"),
    "post": lambda chat, room, at: chat.post(room, CARD, mark="m2"),
    "announce": lambda chat, room, at: chat.post("#incidents", CARD, mark="m3"),
    "find post": lambda chat, room, at: chat.find_post(room, marks=["m1"], since=SINCE),
    "find announcement": lambda chat, room, at: chat.find_post("#incidents", marks=["m1"], since=SINCE),
    "look": lambda chat, room, at: chat.look(room),
    "is open": lambda chat, room, at: chat.is_open("#incidents"),
    "outside": lambda chat, room, at: chat.is_read_outside(room),
    "room": lambda chat, room, at: chat.room("inc-amber-otter"),
    "another's": lambda chat, room, at: chat.is_anothers(room),
    "says": lambda chat, room, at: chat.says(room, at.ts, CARD),
    "shown": lambda chat, room, at: chat.shown(room, at.ts),
    "remains": lambda chat, room, at: chat.remains(room),
    "tell": lambda chat, room, at: chat.tell("U0ANN", CARD, mark="m4"),
    "upload": lambda chat, room, at: chat.upload("a.png", b"x", alt="a"),
    "is shared": lambda chat, room, at: chat.is_shared(MADE[-1], below=at),
    "file": lambda chat, room, at: files.find(chat.wire, MADE[-1]),
    "groups": lambda chat, room, at: chat.groups(),
    "people": lambda chat, room, at: chat.people(),
    "who we are": lambda chat, room, at: (chat.workspace_id, chat.self_id),
}


@dataclass(frozen=True, slots=True)
class Begun:
    """A workspace with a channel of ours, in which we and others wrote; ``at`` is our message there."""

    slack: fake.FakeSlack
    room: str
    at: Posted


@pytest.fixture(scope="module")
def begun() -> Begun:
    slack = fake.FakeSlack(scopes=manifest.scopes())
    for handle in ("ann", "ben", "eve"):
        slack.add_person(handle)
    slack.add_person("old", deleted=True)
    slack.add_channel("incidents", members=["ann", "firekind"])
    slack.add_group("support", members=["ann", "ben"])
    chat = SlackChat(wire := StraightWire(slack, token="xoxb-sandbox"), identity=Identity(wire))
    room = chat.open_channel("inc-amber-otter", private=False).id
    chat.invite(room, ["U0ANN"])
    chat.set_topic(room, "slow")
    chat.add_bookmark(room, title="t", link="https://example.com")
    at = chat.post(room, CARD, mark="m1", alike="a1")
    slack.acts.say("ann", room, "It is slow", thread_ts=at.ts)
    slack.acts.say("ann", room, "Very slow")
    MADE.append(chat.upload("a.png", b"x", alt="a"))
    chat.share(MADE[-1], title="t", below=at)
    return Begun(slack, room, at)


@pytest.mark.parametrize("named", sorted(CALLS))
def test_no_field_of_another_type_is_taken_for_an_answer(begun: Begun, named: str) -> None:
    wire, room, at = Recorded(begun.slack), begun.room, begun.at
    CALLS[named](SlackChat(wire, identity=Identity(wire)), room, at)
    assert wire.answers
    for n, (method, answer) in enumerate(wire.answers):
        for how, changed in tampering.tampered(answer):
            again = Replayed(begun.slack, [*wire.answers[:n], (method, changed), *wire.answers[n + 1 :]])
            with suppress(VendorError):
                result = CALLS[named](SlackChat(again, identity=Identity(again)), room, at)
                assert not tampering.taken(result), (method, how, result)


def test_what_another_app_puts_into_its_messages_is_not_in_the_way_of_finding_ours(begun: Begun) -> None:
    wire = Recorded(begun.slack)
    chat = SlackChat(wire, identity=Identity(wire))
    found = chat.find_post(begun.room, marks=["m1"], since=SINCE)
    ((method, answer),) = [one for one in wire.answers if one[0] == "conversations.history"]
    other = {"ts": "1700000000.000100", "text": "", "metadata": {"event_type": "task", "event_payload": {"mark": 5}}}
    again = Replayed(begun.slack, [(method, {**answer, "messages": [other, *answer["messages"]]})])
    assert found is not None
    assert SlackChat(again, identity=Identity(again)).find_post(begun.room, marks=["m1"], since=SINCE) == found
