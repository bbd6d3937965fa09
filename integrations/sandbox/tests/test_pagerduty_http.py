"""The account over HTTP: its two APIs, the webhooks it sends, the door for people and tests."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from integrations.pagerduty import fake
from integrations.sandbox.pagerduty.acting import ACTS
from integrations.sandbox.tests.conftest import WEBHOOK_SECRET, App, Sandbox, serving
from stack.outside import waiting

HEADERS = {"Authorization": "Token token=sandbox", "From": "firekind@example.com", "Content-Type": "application/json"}


def rest(sandbox: Sandbox, method: str, path: str, body: Any = None, *, timeout_s: float = 5) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    address = f"{sandbox.url}/pagerduty/api{path}"
    request = urllib.request.Request(address, data, HEADERS, method=method)  # noqa: S310 -- our own server
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as response:  # noqa: S310 -- the same
            return response.status, json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def opened(sandbox: Sandbox, key: str = "k1") -> tuple[int, Any]:
    return rest(sandbox, "POST", "/incidents", incident(incident_key=key))


def incident(**more: str) -> Any:
    service = {"id": "PVFIREKIND", "type": "service_reference"}
    return {"incident": {"type": "incident", "title": "Checkout is slow", "service": service, **more}}


def act(sandbox: Sandbox, name: str, **body: Any) -> Any:
    return sandbox.ask("POST", f"/sandbox/pagerduty/act/{name}", body)


def triggered(sandbox: Sandbox, title: str = "Slow") -> str:
    return str(act(sandbox, "trigger", service="checkout-api", title=title)["id"])


def state(sandbox: Sandbox) -> Any:
    return sandbox.ask("GET", "/sandbox/pagerduty/state")


def told(app: App) -> list[str]:
    """List the types of the webhooks the app received, including repeated ones."""
    return [str(json.loads(body)["event"]["event_type"]).removeprefix("incident.") for _, body in app.received]


def idle(sandbox: Sandbox) -> None:
    assert sandbox.ask("GET", "/sandbox/pagerduty/idle")["ok"]


def until(app: App, *, n: int) -> None:
    waiting.until(lambda: len(app.received) >= n, what=f"delivery {n}", timeout_s=60)
    assert len(app.received) == n


def test_an_incident_is_opened_and_rings_who_is_on_call(sandbox: Sandbox) -> None:
    status, made = opened(sandbox)
    assert (status, made["incident"]["status"]) == (201, "triggered")
    assert opened(sandbox)[1]["error"]["code"] == 2002
    on_call = set(state(sandbox)["on_call"]["PSENGINEERINGONCALL"])
    rung = sandbox.ask("GET", f"/sandbox/pagerduty/rang?incident={made['incident']['id']}")["rang"]
    assert {one["user"] for one in rung} == on_call
    assert made["incident"]["html_url"].startswith(f"{sandbox.url}/pagerduty/incidents/")


def test_queries_and_refusals_go_through(sandbox: Sandbox) -> None:
    status, found = rest(sandbox, "GET", "/oncalls?escalation_policy_ids[]=PESUPPORT&limit=5")
    assert status == 200
    assert {one["escalation_policy"]["id"] for one in found["oncalls"]} == {"PESUPPORT"}
    assert rest(sandbox, "GET", "/oncalls?nonsense=1")[0] == 400
    assert rest(sandbox, "GET", "/nowhere")[0] == 404


def test_events_open_one_incident_a_key(sandbox: Sandbox) -> None:
    payload = {"summary": "Slow", "source": "x", "severity": "critical"}
    event = {"routing_key": fake.ROUTING_KEY, "event_action": "trigger", "dedup_key": "k", "payload": payload}
    for _ in range(2):
        request = urllib.request.Request(  # noqa: S310 -- our own server
            f"{sandbox.url}/pagerduty/events/v2/enqueue", json.dumps(event).encode(), HEADERS
        )
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310 -- the same
            assert response.status == 202
    assert [one["title"] for one in state(sandbox)["incidents"].values()] == ["Slow"]


@pytest.mark.parametrize(("kind", "done"), [("drop", 1), ("drop_before", 0), ("timeout", 1)])
def test_a_request_that_is_not_answered(sandbox: Sandbox, kind: str, done: int) -> None:
    sandbox.ask("POST", "/sandbox/pagerduty/faults", {"kind": kind, "method": "POST", "path": "/incidents", "times": 1})
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError, TimeoutError)):
        rest(sandbox, "POST", "/incidents", incident(), timeout_s=1 if kind == "timeout" else 30)
    waiting.until(lambda: len(state(sandbox)["incidents"]) == done, what="what was done of it", timeout_s=60)
    (call,) = sandbox.ask("GET", "/sandbox/pagerduty/calls?request=POST%20/incidents")["calls"]
    assert (call["fault"], call["done"]) == (kind, bool(done))


def test_a_rate_limit_is_said(sandbox: Sandbox) -> None:
    sandbox.ask("POST", "/sandbox/pagerduty/faults", {"kind": "ratelimited", "retry_after_s": 7})
    status, answer = rest(sandbox, "GET", "/users")
    assert (status, answer["error"]["code"]) == (429, 2020)
    sandbox.ask("DELETE", "/sandbox/pagerduty/faults")
    assert rest(sandbox, "GET", "/users")[0] == 200


def test_webhooks_are_signed_and_in_order(sandbox: Sandbox, app: App) -> None:
    id = triggered(sandbox)
    for name, more in (("acknowledge", {}), ("note", {"text": "Looking"}), ("resolve", {})):
        assert act(sandbox, name, user="ada", incident=id, **more)["ok"]
    idle(sandbox)
    assert told(app) == ["triggered", "acknowledged", "annotated", "resolved"]
    for headers, body in app.received:
        expected = hmac.new(WEBHOOK_SECRET.encode(), body, hashlib.sha256).hexdigest()
        assert headers["X-PagerDuty-Signature"] == f"v1={expected}"
    assert len({headers["X-Webhook-Id"] for headers, _ in app.received}) == 4


def test_what_was_delivered_is_repeated_newest_first_and_is_the_same(sandbox: Sandbox, app: App) -> None:
    id = triggered(sandbox)
    for name in ("acknowledge", "resolve"):
        act(sandbox, name, user="ada", incident=id)
    idle(sandbox)
    once = {headers["X-Webhook-Id"]: body for headers, body in app.received}
    assert act(sandbox, "repeat", n=2, skip=1)["sent"] == 2
    idle(sandbox)
    again = app.received[3:]
    assert sorted(told(app)[3:]) == ["acknowledged", "triggered"]
    assert all(once[headers["X-Webhook-Id"]] == body for headers, body in again)
    assert act(sandbox, "repeat", n=9)["sent"] == 3, "what is repeated is not counted as delivered again"


def test_two_secrets_sign_while_one_is_replaced(sandbox: Sandbox, app: App) -> None:
    act(sandbox, "subscription", secrets=["new", WEBHOOK_SECRET])
    triggered(sandbox)
    idle(sandbox)
    ((headers, body),) = app.received
    wanted = (hmac.new(s.encode(), body, hashlib.sha256).hexdigest() for s in ("new", WEBHOOK_SECRET))
    assert headers["X-PagerDuty-Signature"] == ",".join(f"v1={one}" for one in wanted)


def test_what_fails_is_tried_again_and_holds_up_its_incident_alone(sandbox: Sandbox, app: App) -> None:
    failing = iter([503, 429])

    def answer(body: bytes) -> tuple[int, bytes]:
        mine = json.loads(body)["event"]["data"].get("title") == "First"
        return (next(failing, 202) if mine else 202), b""

    app.answer = answer
    first = triggered(sandbox, "First")
    act(sandbox, "note", user="ada", incident=first, text="Still looking")
    triggered(sandbox, "Second")
    until(app, n=5)
    events = [json.loads(body)["event"] for _, body in app.received]
    of_first = [one["event_type"] for one in events if one["data"].get("title") == "First" or "content" in one["data"]]
    assert of_first == ["incident.triggered"] * 3 + ["incident.annotated"]
    keys = [headers["X-Webhook-Id"] for headers, body in app.received if b'"First"' in body and b"triggered" in body]
    assert len(set(keys[:3])) == 1, "the same id across attempts"
    verdicts = [one["verdict"] for one in sandbox.ask("GET", "/sandbox/pagerduty/deliveries")["deliveries"]]
    assert sorted(verdicts) == ["delivered"] * 3 + ["retry"] * 2


def test_an_app_that_does_not_answer_in_time_is_asked_again(sandbox: Sandbox, app: App) -> None:
    slow = iter([1.8])

    def answer(_: bytes) -> tuple[int, bytes]:
        time.sleep(next(slow, 0))
        return 202, b""

    app.answer = answer
    triggered(sandbox)
    until(app, n=2)


def test_three_refusals_in_a_row_switch_the_subscription_off_until_it_is_enabled(sandbox: Sandbox, app: App) -> None:
    app.answer = lambda _: (403, b"")
    for n in range(3):
        triggered(sandbox, f"Refused {n}")
        idle(sandbox)
    triggered(sandbox, "Not told")
    idle(sandbox)
    assert len(app.received) == 3
    assert state(sandbox)["told"] == {"PWFIREKIND": False}
    assert [one["verdict"] for one in sandbox.ask("GET", "/sandbox/pagerduty/deliveries")["deliveries"]] == [
        "dropped",
        "dropped",
        "disabled",
    ]
    app.answer = lambda _: (202, b"")
    act(sandbox, "subscription", active=True)
    triggered(sandbox, "Told again")
    idle(sandbox)
    assert json.loads(app.received[-1][1])["event"]["data"]["title"] == "Told again"
    assert len(app.received) == 4, "what came while it was off is lost"


def test_a_storm_opens_many_at_once(sandbox: Sandbox, app: App) -> None:
    ids = act(sandbox, "storm", service="payments", title="Payments {fail}", n=12)["ids"]
    idle(sandbox)
    assert len(ids) == len(app.received) == 12
    titles = {one["title"] for one in state(sandbox)["incidents"].values()}
    assert {"Payments {fail}, host 1", "Payments {fail}, host 12"} <= titles


def test_schedules_are_changed(sandbox: Sandbox) -> None:
    now, schedule = time.time(), "PSPLATFORMLEADERSHIP"
    (before,) = state(sandbox)["on_call"][schedule]
    made = act(sandbox, "override", schedule=schedule, who="grace", start=now - 1, end=now + 600)["id"]
    assert state(sandbox)["on_call"][schedule] == ["PUGRACE"]
    act(sandbox, "move_override", schedule=schedule, override=made, start="2027-01-01T09:00", end="2027-01-01T10:00")
    assert state(sandbox)["on_call"][schedule] == [before]
    assert not act(sandbox, "move_override", schedule=schedule, override=made, start=2, end=1)["ok"]
    act(sandbox, "remove_override", schedule=schedule, override=made)
    assert state(sandbox)["schedules"][schedule]["overrides"] == []
    act(sandbox, "handover", schedule=schedule)
    time.sleep(0.02)
    assert state(sandbox)["on_call"][schedule] != [before]


def test_an_override_of_a_v3_schedule_replaces_whom_it_says(sandbox: Sandbox) -> None:
    now, schedule = time.time(), "PSENGINEERINGONCALL"
    before = state(sandbox)["on_call"][schedule]
    act(sandbox, "override", schedule=schedule, who="tariq", replaced=before[-1], start=now - 1, end=now + 600)
    assert set(state(sandbox)["on_call"][schedule]) == {*before[:-1], "PUTARIQ"}


@pytest.mark.parametrize(
    ("name", "body", "error"),
    [
        ("acknowledge", {"user": "ada"}, "'incident' is missing"),
        ("acknowledge", {"user": "ada", "incident": 404}, "There is no incident 404"),
        ("trigger", {"service": "nowhere", "title": "x"}, "there is no 'nowhere'"),
        ("override", {"schedule": "x", "who": "ada", "start": "soon", "end": 1}, "'start' is not a time"),
        ("dance", {}, "no act 'dance'"),
    ],
)
def test_what_cannot_be_done_is_said(sandbox: Sandbox, name: str, body: dict[str, Any], error: str) -> None:
    answer = act(sandbox, name, **body)
    assert not answer["ok"]
    assert error in answer["error"]


def test_the_account_is_found_again_and_told_with_todays_secrets(app: App, tmp_path: Path) -> None:
    file = tmp_path / "sandbox.json"
    with serving(app, file) as first:
        triggered(first, "Remember me")
        idle(first)
    with serving(app, file) as second:
        kept = state(second)
        assert [one["title"] for one in kept["incidents"].values()] == ["Remember me"]
        assert [one["url"] for one in kept["subscriptions"].values()] == [f"{app.url}/pagerduty/webhook"]
        triggered(second, "And me")
        idle(second)
        second.ask("POST", "/sandbox/pagerduty/reset", {})
        assert state(second)["incidents"] == {}
        triggered(second, "After it")
        idle(second)
    assert unique(headers["X-Webhook-Id"] for headers, _ in app.received)
    file.with_name("pagerduty.json").write_text("{broken", encoding="utf-8")
    with serving(app, file) as third:
        assert state(third)["incidents"] == {}


def unique(ids: Iterable[str]) -> bool:
    found = list(ids)
    return len(found) == len(set(found)) == 3


def test_the_documentation_names_every_act_and_fault() -> None:
    text = (Path(__file__).parents[3] / "docs" / "sandbox.md").read_text(encoding="utf-8")
    assert [name for name in (*ACTS, *fake.KINDS) if f"`{name}`" not in text] == []
