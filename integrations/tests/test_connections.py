"""There are fewer database connections than threads, so a thread that waits for anything else holds none."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from incidents import lifecycle
from incidents.claiming import in_hand
from incidents.models import Incident, Person
from integrations.pagerduty.adapter.wire import EventsWire
from integrations.pagerduty.adapter.wire import Wire as PagerWire
from integrations.profilers import asking
from integrations.profilers.sources import Listed
from integrations.slack.adapter.wire import Wire as SlackWire
from integrations.slack.tests.straight import StraightWire
from integrations.tests.house import House, house
from integrations.trackers.adapter.wire import Wire as TrackerWire
from workflows.effects import effect_queue
from workflows.effects.work import Work
from workflows.performing import perform
from workflows.ports import VendorError
from workflows.reconcile import reconcile

CONNECTIONS, CALLS = 3, 12
GONE = "http://127.0.0.1:9"
SOURCE = Listed("api", "pprof", GONE, {}, internal=True)


@pytest.fixture(name="house")
def own_house(erasable: None, transactional_db: None) -> Iterator[House]:
    """A house whose rows other threads see."""
    with house() as made:
        yield made


@pytest.fixture
def few_connections(house: House) -> Iterator[None]:
    """A pool as small relative to the calls as a worker's is in a storm, with a short time-out."""
    options = connection.settings_dict["OPTIONS"]
    connection.close()
    options["pool"] = {"min_size": 1, "max_size": CONNECTIONS, "timeout": 2}
    yield
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL wrapper alone, which this is
    del options["pool"]


def entries(house: House) -> tuple[Incident, list[Work]]:
    """Return an incident with this many entries to post, all of them claimed."""
    incident = house.declare()
    for n in range(CALLS):
        lifecycle.update(incident, text=f"Update {n}", by=house.person("dee"), at=house.now())
    reconcile.reconcile(incident.pk, at=timezone.now())
    return incident, effect_queue.claim(incident.pk, at=timezone.now(), limit=CALLS)


@pytest.mark.parametrize("unsure", range(0, CALLS + 1, 3))
def test_answers_that_come_together_are_all_recorded(
    few_connections: None, house: House, monkeypatch: pytest.MonkeyPatch, unsure: int
) -> None:
    """However many were sent before, and so are first searched for and recorded."""
    _, works = entries(house)
    assert len(works) == CALLS
    for work in works[:unsure]:
        work.effect.unsure = True
    together, call = threading.Barrier(CALLS), StraightWire.call

    def late(self: StraightWire, method: str, **arguments: Any) -> dict[str, Any]:
        with suppress(threading.BrokenBarrierError):
            together.wait(timeout=0.5)
        return call(self, method, **arguments)

    monkeypatch.setattr(StraightWire, "call", late)

    def act(work: Work) -> None:
        try:
            perform.perform(house.chat, work)
        finally:
            connection.close()

    with ThreadPoolExecutor(CALLS) as pool:
        for one in [pool.submit(act, work) for work in works]:
            one.result()


def slack() -> SlackWire:
    return SlackWire(api_url=f"{GONE}/api/", token="xoxb-1")


ASKED: dict[str, Callable[[], object]] = {
    "a method of Slack's": lambda: slack().call("auth.test"),
    "a file to Slack": lambda: slack().upload(f"{GONE}/file", b"1"),
    "a file from Slack": lambda: next(slack().download(f"{GONE}/file")),
    "an answer to an interaction": lambda: slack().respond(f"{GONE}/answer", text="Done"),
    "PagerDuty": lambda: PagerWire(api_url=GONE, api_key="key", sender="a@example.com").call("GET", "/users"),
    "PagerDuty's events": lambda: EventsWire(events_url=GONE, routing_key="key").send({}),
    "a tracker": lambda: TrackerWire("Jira", GONE, {}, limited=lambda _: None).call("tracker.look", "GET", "/"),
    "a source of profiles": lambda: asking.get(SOURCE, "/", environ={}, patience_s=1),
}


@pytest.mark.parametrize("who", ASKED)
def test_whoever_asks_a_vendor_holds_no_connection_meanwhile(
    erasable: None, transactional_db: None, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    held: list[bool] = []

    def connect(self: socket.socket, address: object) -> None:
        held.append(connection.connection is not None)
        raise ConnectionRefusedError

    Person.objects.exists()
    assert connection.connection is not None
    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(VendorError):
        ASKED[who]()
    assert held
    assert not any(held)


@pytest.mark.parametrize("who", [who for who in ASKED if who != "an answer to an interaction"])  # not from a worker
@pytest.mark.parametrize(("ours", "wanted"), [(False, True), (True, False)])
def test_who_stood_still_asks_no_vendor_for_what_is_no_longer_theirs_or_wanted(
    monkeypatch: pytest.MonkeyPatch, who: str, ours: bool, wanted: bool
) -> None:
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: pytest.fail("it asks"))
    with in_hand.working(is_ours=lambda: ours, is_wanted=lambda: wanted), pytest.raises(in_hand.OutOfHand):
        ASKED[who]()


@pytest.mark.parametrize("who", [who for who in ASKED if who != "an answer to an interaction"])
def test_what_no_vendor_took_was_not_begun(monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    """The next request for the same thing, for example by another name, is sent only if it is still wanted."""

    def refuses(self: socket.socket, address: object) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", refuses)
    wanted = [True]
    with in_hand.working(is_ours=lambda: True, is_wanted=lambda: wanted[0]):
        with pytest.raises(VendorError):
            ASKED[who]()
        wanted[0] = False
        with pytest.raises(in_hand.OutOfHand):
            ASKED[who]()


def test_what_was_begun_is_gone_on_with_while_it_is_ours() -> None:
    wanted = iter([True, True])
    with in_hand.working(is_ours=lambda: True, is_wanted=lambda: next(wanted)):
        in_hand.before_request(writes=False)
        in_hand.before_request(writes=True)
        in_hand.before_request(writes=True)
