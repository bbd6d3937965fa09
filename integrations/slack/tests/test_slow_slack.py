"""Slack answers late but does what it was asked: no one is told that Firekind did not respond."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from incidents.models import Followup, Incident, Person
from integrations.slack import fake
from integrations.slack.adapter import current
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.interaction import soon
from integrations.slack.tests.door import Door, DoorWire, secret
from integrations.tests.house import TOKEN

GIVEN_UP_S = 2.0  # a door that waits this long has waited for Slack


@dataclass(slots=True)
class SlowSlack:
    """A workspace that answers only when told to; ``waited`` lists the methods that waited in vain."""

    wire: DoorWire
    threads: ThreadPoolExecutor
    over: threading.Event = field(default_factory=threading.Event)
    waited: list[str] = field(default_factory=list)
    given_up_s: float = GIVEN_UP_S

    def hold(self, method: str) -> None:
        if not self.over.wait(self.given_up_s):
            self.waited.append(method)

    def answers(self) -> None:
        """Answer everything that was asked."""
        self.over.set()
        self.threads.shutdown()


class SlowWire(DoorWire):
    """A wire to such a workspace."""

    holding: SlowSlack

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        self.holding.hold(method)
        return super().call(method, **arguments)

    def respond(self, url: str, **message: Any) -> None:
        self.holding.hold("response_url")
        super().respond(url, **message)


@pytest.fixture
def slow(door: Door, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowSlack]:
    threads = ThreadPoolExecutor(soon.AT_ONCE)
    monkeypatch.setattr(soon, "_pool", threads)
    monkeypatch.setattr(soon, "WAIT_S", 0.01)
    wire = SlowWire(door.slack, token=TOKEN)
    wire.holding = SlowSlack(wire, threads)
    with current.using(SlackChat(wire, identity=Identity(wire))):
        yield wire.holding
    wire.holding.answers()


def command(text: str) -> Callable[[Door, str], fake.PendingDelivery]:
    return lambda door, channel: door.slack.acts.command("ann", channel, f"/incident {text}")


def button(action_id: str) -> Callable[[Door, str], fake.PendingDelivery]:
    def pressed(door: Door, channel: str) -> fake.PendingDelivery:
        delivery = door.slack.acts.press("ann", action_id, channel=channel)
        assert delivery is not None
        return delivery

    return pressed


def shortcut(door: Door, channel: str) -> fake.PendingDelivery:
    said = door.slack.acts.say("ben", channel, "somebody should call the bank")
    return door.slack.acts.shortcut("ann", "firekind:task-of", channel=channel, ts=said)


WINDOWS: dict[str, Callable[[Door, str], fake.PendingDelivery]] = {
    "a command": command("declare"),
    "a button": button("firekind:update"),
    "a shortcut of a message": shortcut,
}


@pytest.mark.parametrize("way", WINDOWS)
def test_a_door_answers_before_slack_does_and_the_window_opens_once_it_does(
    door: Door, incident: Incident, slow: SlowSlack, way: str
) -> None:
    delivery = WINDOWS[way](door, door.house.channel(incident))
    response = door.post(delivery)
    assert (response.status_code, slow.waited) == (200, [])
    assert door.slack.modal("ann") is None
    slow.answers()
    assert door.slack.modal("ann") is not None


@pytest.mark.parametrize("way", WINDOWS)
def test_only_the_first_wait_for_a_slack_that_is_slow(
    door: Door, incident: Incident, slow: SlowSlack, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, slow.given_up_s = door.house.channel(incident), 30
    assert door.post(WINDOWS["a command"](door, channel)).status_code == 200
    monkeypatch.setattr(soon, "WAIT_S", 60)  # a door that still waits does so until Slack gives up
    for _ in range(5):
        assert door.post(WINDOWS[way](door, channel)).status_code == 200
    assert slow.waited == []
    slow.answers()
    assert not soon._late  # the next one is waited for again


def test_what_a_button_says_is_said_once_slack_takes_it(door: Door, incident: Incident, slow: SlowSlack) -> None:
    channel = door.house.channel(incident)
    before = len(door.slack.ephemerals("ben"))
    door.slack.person("ben")
    pressed = [door.slack.acts.press(who, "firekind:take-lead", channel=channel) for who in ("ann", "ben")]
    for delivery in pressed:
        assert delivery is not None
        assert door.post(delivery).status_code == 200
    assert slow.waited == []
    slow.answers()
    assert len(door.slack.ephemerals("ben")) == before + 1


def test_a_window_that_slack_no_longer_opens_is_said_where_it_was_asked_for(
    door: Door, incident: Incident, slow: SlowSlack
) -> None:
    channel = door.house.channel(incident)
    asked = door.slack.acts.command("ann", channel, "/incident declare")
    assert door.post(asked).content == b""
    door.slack.faults.add("error", method="views.open", error="expired_trigger_id")
    slow.answers()
    assert slow.waited == []
    assert "too long for Slack to open a window" in door.slack.ephemerals("ann")[-1].text


@pytest.mark.parametrize("kind", ["ratelimited", "drop_before", "server_error"])
def test_a_window_that_could_not_be_opened_is_to_be_asked_for_again(door: Door, incident: Incident, kind: str) -> None:
    door.slack.faults.add(kind, method="views.open")
    said = door.post(command("declare")(door, door.house.channel(incident))).content
    assert b"Try again in a moment." in said
    assert b"automatically" not in said


def test_which_day_it_is_for_someone_is_not_waited_for(door: Door, incident: Incident, slow: SlowSlack) -> None:
    """The time zone that Slack last reported is used instead."""
    days = []
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):  # always one or two days apart
        Person.objects.filter(pk=door.house.person("ann").pk).update(zone=zone)
        response = door.post(command("followup @ben write it down by tomorrow")(door, door.house.channel(incident)))
        assert (response.status_code, slow.waited) == (200, [])
        days.append(Followup.objects.filter(incident=incident).latest("pk").due_on)
    ahead, behind = days
    assert ahead is not None
    assert behind is not None
    assert ahead > behind


def test_more_than_may_wait_are_answered_at_once(
    door: Door, incident: Incident, slow: SlowSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soon, "_room", threading.BoundedSemaphore(1))
    channel = door.house.channel(incident)
    first, second = (door.post(command("declare")(door, channel)) for _ in range(2))
    assert (first.content, slow.waited) == (b"", [])
    assert b"Slack did not open the window" in second.content


def test_what_a_button_says_is_said_after_the_answer_where_more_than_may_wait_do(
    door: Door, incident: Incident, slow: SlowSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soon, "_room", threading.BoundedSemaphore(1))
    channel = door.house.channel(incident)
    assert door.post(command("declare")(door, channel)).content == b""
    late: list[Callable[[], object]] = []
    for who in ("ann", "ben"):
        delivery = door.slack.acts.press(who, "firekind:take-lead", channel=channel)
        assert delivery is not None
        headers, body = fake.signed(delivery, secret(), at=time.time())
        assert (door.raw(body, headers).status_code, slow.waited) == (200, [])
        late += door.late
    before = len(door.slack.ephemerals("ben"))
    slow.answers()
    for deed in late:
        deed()
    assert len(door.slack.ephemerals("ben")) == before + 1


def test_what_breaks_beside_an_answer_is_logged_without_its_words(
    door: Door, incident: Incident, slow: SlowSlack, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    words = "the keys of Ana Ruiz"

    def breaks(method: str, **arguments: object) -> dict[str, object]:
        slow.hold(method)
        raise RuntimeError(words)

    monkeypatch.setattr(slow.wire, "call", breaks)
    assert door.post(command("declare")(door, door.house.channel(incident))).content == b""
    slow.answers()
    assert "RuntimeError" in caplog.text
    assert words not in caplog.text
