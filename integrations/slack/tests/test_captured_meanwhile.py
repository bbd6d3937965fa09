"""What becomes of a message while it is put on the timeline is followed, though news of it find no entry yet."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from incidents import timeline
from incidents.models import Incident
from integrations.slack.fake import PendingDelivery
from integrations.slack.listeners.timeline import meanwhile
from integrations.slack.tests.door import Door

SAID = "the password is hunter2"
# What people do, and what the entry says in the end.
MEANWHILE: dict[str, list[str]] = {
    "": [SAID],
    "edit": ["edit"],
    "edit, edit again": ["edit again"],
    "delete": [],
    "reply, delete": [],
    "edit, delete": [],
    "unreact": [],
    "unreact, react": [SAID],
}
ORDERS = [
    pytest.param(story, order, id=f"{story or 'nothing'}: {''.join(map(str, order))}")
    for story in MEANWHILE
    for order in permutations(range(len(story.split(", "))))
]


def act(door: Door, channel: str, ts: str, what: str) -> None:
    """Let somebody do one thing to the message."""
    acts = door.slack.acts
    if what.startswith("edit"):
        acts.edit("ben", channel, ts, what)
    elif what == "delete":
        acts.delete("ben", channel, ts)
    elif what == "reply":
        acts.say("lea", channel, "take that away", thread_ts=ts)
    elif what:
        getattr(acts, what)("ann", channel, ts, "pushpin")


def words(incident: Incident) -> list[str]:
    """What captured messages say by now."""
    entries = timeline.latest(incident, limit=99, reader=None)
    return [one.text for one in entries if one.event.kind == "captured" and one.retracted is None]


def once_read(monkeypatch: pytest.MonkeyPatch, then: Callable[[], object]) -> None:
    """Let something happen between the first reading of the message and what follows from it."""
    read = meanwhile.read

    def reads(*args: str) -> Any:
        raw = read(*args)
        monkeypatch.undo()
        then()
        return raw

    monkeypatch.setattr(meanwhile, "read", reads)


def news(door: Door, channel: str, ts: str, story: str) -> list[PendingDelivery]:
    """Let a story happen, and return what Slack tells of it."""
    told = []
    for what in story.split(", "):
        act(door, channel, ts, what)
        told += [one for one in door.slack.take_deliveries() if what != "reply"]
    return told


@pytest.mark.parametrize(("story", "order"), ORDERS)
def test_what_is_told_while_a_message_is_captured_is_followed(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch, story: str, order: tuple[int, ...]
) -> None:
    channel = door.house.channel(incident)
    ts = door.slack.acts.say("ben", channel, SAID)
    door.slack.acts.react("ann", channel, ts, "pushpin")
    (pin,) = [one for one in door.slack.take_deliveries() if one.type == "reaction_added"]

    def happens() -> None:
        told = news(door, channel, ts, story)
        for n in order:
            if n < len(told):
                door.post(told[n])

    once_read(monkeypatch, happens)
    assert door.post(pin).status_code == 200
    assert words(incident) == MEANWHILE[story]


@pytest.mark.parametrize("story", [one for one in MEANWHILE if "react" not in one])
def test_so_it_is_with_what_a_shortcut_adds(door: Door, incident: Incident, story: str) -> None:
    channel = door.house.channel(incident)
    ts = door.slack.acts.say("ben", channel, SAID)
    pressed = door.slack.acts.shortcut("ann", "firekind:capture-this", channel=channel, ts=ts)
    for one in news(door, channel, ts, story):
        door.post(one)
    door.send(pressed)
    assert words(incident) == MEANWHILE[story]


def test_a_long_message_that_nobody_touched_stays_as_it_was_captured(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    ts = door.slack.acts.say("ben", channel, "slow " * 3000)
    door.slack.acts.react("ann", channel, ts, "pushpin")
    door.deliver()
    assert not incident.events.filter(kind="edited").exists()
