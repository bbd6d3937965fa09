"""Changes of a message while it is being captured are followed, although the events find no timeline entry yet."""

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
    """Return an act on the message by a person."""
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
    """Return the current text of the captured messages."""
    entries = timeline.latest(incident, limit=99, reader=None)
    return [one.text for one in entries if one.event.kind == "captured" and one.retracted is None]


def once_read(monkeypatch: pytest.MonkeyPatch, then: Callable[[], object]) -> None:
    """Make something happen between the first reading of the message and its capture."""
    read = meanwhile.read

    def reads(*args: str) -> Any:
        raw = read(*args)
        monkeypatch.undo()
        then()
        return raw

    monkeypatch.setattr(meanwhile, "read", reads)


def news(door: Door, channel: str, ts: str, story: str) -> list[PendingDelivery]:
    """Play a story, and return the events that Slack sends about it."""
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


MOMENTS = [(0.7, 0.8, 0.9), (0.7, 1.1, 1.2), (0.7, 1.2, 2.1), (0.7, 0.9, 1.0)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=str)
@pytest.mark.parametrize("at", MOMENTS, ids=str)
def test_edits_are_followed_however_fast_they_come_and_in_whatever_order_they_are_told(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch, at: tuple[float, ...], order: tuple[int, ...]
) -> None:
    """Slack gives the second of an edit, which can equal that of the message or of another edit."""
    channel, began = door.house.channel(incident), float(int(door.slack.now()) + 10)
    posted, *edited = (began + one for one in at)
    monkeypatch.setattr(door.slack, "now", lambda: posted)
    ts = door.slack.acts.say("ben", channel, SAID)
    door.slack.acts.react("ann", channel, ts, "pushpin")
    door.deliver()
    assert words(incident) == [SAID]
    for n, moment in enumerate(edited):
        monkeypatch.setattr(door.slack, "now", lambda moment=moment: moment)
        door.slack.acts.edit("ben", channel, ts, f"edit {n}")
    told = door.slack.take_deliveries()
    for n in order:
        door.post(told[n])
    assert words(incident) == ["edit 1"]
    message = door.slack.channel(channel).messages[ts]
    assert message.edited == {"user": door.slack.person("ben").id, "ts": f"{int(edited[1])}.000000"}
