"""The pager over real HTTP to the sandbox, with PagerDuty's own client: nothing is sent and no one paged twice."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
import uvicorn

from integrations.pagerduty import fake
from integrations.pagerduty.adapter.client import PagerDutyPager
from integrations.pagerduty.adapter.wire import EventsWire, Wire
from integrations.pagerduty.protocol.setup import Setup
from integrations.pagerduty.tests.straight import SETUP, OwnRoutes
from integrations.sandbox.app import build
from integrations.sandbox.settings import Settings
from workflows.pager_port import PageRequest
from workflows.ports import VendorError

RING = PageRequest(
    "fk-1", "policy/PEMAJORINCIDENTS", "PVFIREKIND", "Checkout is down", "", "https://firekind.example/i"
)

PATIENCE_S = 4  # with less, a busy machine looks like a vendor that does not answer


class Served:
    """A stand-in account behind HTTP, and a pager that waits a few seconds at most."""

    def __init__(self, port: int, account: fake.FakeAccount) -> None:
        self.account = account
        home = f"http://127.0.0.1:{port}/pagerduty"
        self.setup = replace(SETUP, api_url=f"{home}/api", events_url=f"{home}/events")
        self.pager = PagerDutyPager(self.setup, routes=OwnRoutes(), rest=self._rest, fallback=self._events)

    @staticmethod
    def _rest(setup: Setup) -> Wire:
        return Wire(api_url=setup.api_url, api_key=setup.api_key, sender=setup.sender, timeout_s=PATIENCE_S)

    @staticmethod
    def _events(setup: Setup) -> EventsWire:
        return EventsWire(events_url=setup.events_url, routing_key=setup.routing_key, timeout_s=PATIENCE_S)

    def sent(self, method: str, path: str) -> int:
        """Return how often a request reached the account."""
        return sum((call.method, call.path) == (method, path) for call in self.account.calls)


@pytest.fixture
def served() -> Iterator[Served]:
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    program = build(Settings(port=port, app_url="http://127.0.0.1:9"))
    config = uvicorn.Config(program, log_level="critical", access_log=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    served = Served(port, program.app.state.pagerduty.account)  # type: ignore[attr-defined]  # Starlette's, behind a layer
    yield served
    served.pager.close()
    server.should_exit = True
    thread.join(5)
    listening.close()


def test_a_page_from_its_opening_to_its_end(served: Served) -> None:
    assert len(served.pager.targets()) > 10
    rung = served.pager.ring(RING)
    served.pager.retitle(rung.id, "Checkout is slow")
    served.pager.resolve(rung.id, key="fk-1", via="rest")
    now = served.pager.look(rung.id)
    assert now is not None
    assert (now.status, now.title) == ("resolved", "Checkout is slow")


@pytest.mark.parametrize("kind", ["drop", "error_after", "timeout", "latency"])
def test_a_page_whose_opening_was_not_answered_is_sent_once_and_found(served: Served, kind: str) -> None:
    served.account.faults.add(kind, method="POST", path="/incidents", times=1, ms=PATIENCE_S * 1_500)
    assert served.pager.ring(RING).status == "triggered"
    assert served.sent("POST", "/incidents") == 1
    assert len(served.account.account.incidents) == 1


def test_a_rate_limit_is_not_slept_through(served: Served) -> None:
    served.account.faults.add("ratelimited", method="POST", path="/incidents", times=1, retry_after_s=13)
    with pytest.raises(VendorError) as caught:
        served.pager.ring(RING)
    assert caught.value.retry_after == 13
    assert served.sent("POST", "/incidents") == 1


def test_the_fallback_takes_over_and_both_know_the_page_by_its_key(served: Served) -> None:
    served.account.faults.add("server_error", method="POST", path="/incidents")
    assert served.pager.ring(RING).via == "events"
    served.account.faults.clear()
    assert served.pager.ring(replace(RING, unsure=True)).via == "events"
    served.pager.resolve("", key="fk-1", via="events")
    (incident,) = served.account.account.incidents.values()
    assert incident.status == "resolved"
