"""Each request is sent once, whatever happens to it, and every failure has its meaning."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from integrations.pagerduty.adapter.wire import LAST, PAGE, EventsWire, Wire
from integrations.pagerduty.protocol import error_messages
from integrations.pagerduty.protocol.rules import RULES
from workflows.ports import VendorError

Answer = Callable[[httpx2.Request], httpx2.Response]
BODY = {"incident": {"type": "incident", "title": "x"}}


class Counting:
    """Answers as told, and counts requests."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return self.answer(request)


def wire_to(answer: Answer) -> tuple[Wire, Counting]:
    """Return a wire whose requests get this answer."""
    counting = Counting(answer)
    carrier = httpx2.MockTransport(counting)
    return Wire(api_url="https://api.example", api_key="key", sender="a@example.com", carrier=carrier), counting


def answering(status: int, body: Any = None, **headers: str) -> Answer:
    """Give every request the same answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: httpx2.Response(status, json=body, headers=named)


def failing(error: type[httpx2.TransportError]) -> Answer:
    """Break every connection with this error."""

    def fail(request: httpx2.Request) -> httpx2.Response:
        raise error("broken", request=request)

    return fail


def refused(code: int) -> dict[str, Any]:
    """Return an error in PagerDuty's format."""
    return {"error": {"code": code, "message": "No", "errors": ["because"]}}


FAILURES = [
    # what happens, code, is retried, may have been done
    (answering(400, refused(2001)), "2001", False, False),
    (answering(400, {"error": {"code": 2001, "errors": {"title": ["blank"]}}}), "2001", False, False),
    (answering(400, {"status": "invalid event"}), "http_400", False, False),
    (answering(401, refused(2006)), "2006", False, False),
    (answering(401), "http_401", False, False),
    (answering(402, refused(2014)), "2014", False, False),
    (answering(403, refused(2010)), "2010", False, False),
    (answering(404, refused(2100)), "2100", False, False),
    (answering(408), "unavailable", True, True),
    (answering(500, refused(2000)), "unavailable", True, True),
    (answering(503), "unavailable", True, True),
    (answering(302, location="https://elsewhere.example"), "moved", False, False),
    (lambda request: httpx2.Response(201, text="<html>"), "unreadable_answer", True, True),
    (answering(200, ["a list"]), "unreadable_answer", True, True),
    (failing(httpx2.ConnectError), "connection_failed", True, False),
    (failing(httpx2.ConnectTimeout), "connection_failed", True, False),
    (failing(httpx2.PoolTimeout), "connection_failed", True, False),
    (failing(httpx2.ProxyError), "connection_failed", True, False),
    (failing(httpx2.ReadTimeout), "connection_lost", True, True),
    (failing(httpx2.WriteTimeout), "connection_lost", True, True),
    (failing(httpx2.ReadError), "connection_lost", True, True),
    (failing(httpx2.WriteError), "connection_lost", True, True),
    (failing(httpx2.RemoteProtocolError), "connection_lost", True, True),
]


@pytest.mark.parametrize(("answer", "code", "again", "unknown"), FAILURES)
def test_what_fails_is_sent_once_and_means_one_thing(answer: Answer, code: str, again: bool, unknown: bool) -> None:
    wire, counting = wire_to(answer)
    with pytest.raises(VendorError) as caught:
        wire.call("POST", "/incidents", body=BODY)
    error = caught.value
    assert (error.code, error.retryable, error.unknown) == (code, again, unknown)
    assert (error.method, error.retry_after) == ("pagerduty POST /incidents", None)
    assert error.says.removesuffix(" PagerDuty says: because") == error_messages.words(code)
    assert len(counting.requests) == 1


@pytest.mark.parametrize(("method", "lingers"), [("POST", True), ("PUT", True), ("GET", False)])
def test_a_write_that_is_not_answered_in_time_may_still_be_carried_out(method: str, lingers: bool) -> None:
    wire, _ = wire_to(failing(httpx2.ReadTimeout))
    with pytest.raises(VendorError) as caught:
        wire.call(method, "/incidents")
    assert caught.value.lingers == lingers


@pytest.mark.parametrize(("answer", "code", "again", "unknown"), FAILURES)
def test_what_only_looks_leaves_nothing_in_doubt(answer: Answer, code: str, again: bool, unknown: bool) -> None:
    wire, counting = wire_to(answer)
    with pytest.raises(VendorError) as caught:
        wire.call("GET", "/incidents/{id}", id="Q1")
    assert (caught.value.code, caught.value.retryable, caught.value.unknown) == (code, again, False)
    assert len(counting.requests) == 1


@pytest.mark.parametrize(
    ("reset", "waits"), [("7", 7.0), ("0", 1.0), ("0.2", 1.0), ("", 5.0), ("soon", 5.0), ("86400", 120.0)]
)
def test_a_rate_limit_says_how_long_it_lasts_and_is_not_slept_through(
    reset: str, waits: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    headers = {"ratelimit_reset": reset} if reset else {}
    wire, counting = wire_to(answering(429, refused(2020), **headers))
    with pytest.raises(VendorError) as caught:
        wire.call("POST", "/incidents", body=BODY)
    error = caught.value
    assert (error.code, error.retry_after, error.retryable, error.unknown) == ("ratelimited", waits, True, False)
    assert error.method == "pagerduty POST /incidents"
    assert len(counting.requests) == 1
    assert slept == []


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({"retry_after": "30"}, 30.0),
        ({"retry_after": "30", "ratelimit_reset": "7"}, 7.0),
        ({"retry_after": "Fri, 27 Nov 2026 21:00:00 GMT"}, 5.0),
    ],
)
def test_a_rate_limit_of_what_stands_before_pagerduty_is_kept_to_too(headers: dict[str, str], waits: float) -> None:
    wire, _ = wire_to(answering(429, refused(2020), **headers))
    with pytest.raises(VendorError) as caught:
        wire.call("GET", "/oncalls")
    assert caught.value.retry_after == waits


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_events_are_sent_once_too(status: int) -> None:
    counting = Counting(answering(status))
    wire = EventsWire(events_url="https://events.example", routing_key="r" * 32, carrier=httpx2.MockTransport(counting))
    with pytest.raises(VendorError) as caught:
        wire.send({"event_action": "resolve", "dedup_key": "k"})
    assert caught.value.method == "pagerduty POST /v2/enqueue"
    assert len(counting.requests) == 1


def test_a_request_says_who_asks_and_waits_ten_seconds_at_most() -> None:
    wire, counting = wire_to(answering(200, {"incident": {"id": "Q1", "status": "triggered"}}))
    wire.call("POST", "/incidents", body=BODY)
    (request,) = counting.requests
    assert request.headers["authorization"] == "Token token=key"
    assert request.headers["from"] == "a@example.com"
    assert request.headers["accept"] == "application/vnd.pagerduty+json;version=2"
    assert request.extensions["timeout"] == {"connect": 5.0, "read": 10.0, "write": 10.0, "pool": 10.0}


def test_an_id_stays_in_its_place_in_the_address() -> None:
    wire, counting = wire_to(answering(200, {"incident": {"id": "Q1", "status": "triggered"}}))
    wire.call("GET", "/incidents/{id}", id="../users?x=1#")
    assert counting.requests[0].url.raw_path == b"/incidents/..%2Fusers%3Fx%3D1%23"


def test_a_list_is_read_to_its_end() -> None:
    def page(request: httpx2.Request) -> httpx2.Response:
        offset = int(request.url.params["offset"])
        users = [{"id": str(n)} for n in range(offset, min(offset + PAGE, 250))]
        return httpx2.Response(200, json={"users": users, "more": offset + PAGE < 250})

    wire, counting = wire_to(page)
    assert [one["id"] for one in wire.pages("/users", of="users")] == list(map(str, range(250)))
    assert len(counting.requests) == 3


@pytest.mark.parametrize("found", [[], [{"id": "P"}] * PAGE])
def test_a_list_that_never_ends_is_left(found: list[dict[str, str]]) -> None:
    wire, counting = wire_to(answering(200, {"users": found, "more": True}))
    assert len(list(wire.pages("/users", of="users"))) == (LAST if found else 0)
    assert len(counting.requests) <= LAST // PAGE


def test_what_a_rate_limit_applies_to_fits_where_it_is_kept() -> None:
    assert all(len(f"pagerduty {name}") <= 60 for name in RULES)
    assert len("pagerduty POST /v2/enqueue") <= 60
