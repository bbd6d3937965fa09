"""The Events API: what machines report."""

from __future__ import annotations

import json

import pytest

from .furnished import Strict, incident, ref, small


@pytest.fixture
def account() -> Strict:
    return small()


def test_an_event_opens_an_incident_whose_key_is_its_alerts(account: Strict) -> None:
    reply = account.event(key="k")
    assert (reply.status, reply.body["dedup_key"]) == (202, "k")
    found = account.ok("GET /incidents")["incidents"][0]
    assert (found["incident_key"], found["title"], found["status"]) == (None, "It burns", "triggered")
    alerts = account.ok(f"GET /incidents/{found['id']}/alerts", alert_key="k")["alerts"]
    assert [(a["alert_key"], a["severity"]) for a in alerts] == [("k", "critical")]
    assert [r.user for r in account.rang] == ["PUADA"]
    assert account.told() == ["triggered"]


def test_the_same_key_joins_while_it_is_open_and_opens_anew_afterwards(account: Strict) -> None:
    for _ in range(2):
        account.event(key="k")
    assert len(account.account.incidents) == 1
    account.event("acknowledge", "k")
    account.event("resolve", "k")
    account.event("resolve", "k")
    account.event(key="k")
    assert [i.status for i in account.account.incidents.values()] == ["resolved", "triggered"]
    assert account.told() == ["triggered", "acknowledged", "resolved", "triggered"]


def test_an_event_joins_the_open_incident_that_has_its_key_on_the_service(account: Strict) -> None:
    account.ok("POST /incidents", incident(key="k"))
    assert account.event(key="k").status == 202
    assert len(account.account.incidents) == 1
    assert len(account.rang) == 1
    account.event("resolve", "k")
    assert account.acts.incident(1).status == "resolved"


def test_an_incident_cannot_take_the_key_of_an_open_alert_on_the_service(account: Strict) -> None:
    account.event(key="k")
    assert account.code("POST /incidents", incident(key="k")) == (400, 2002)
    assert account.ok("POST /incidents", incident(key="k", service=ref("PVWEB", "service")))


@pytest.mark.parametrize("status", ["maintenance", "disabled"])
def test_an_event_for_a_service_that_is_switched_off_is_accepted_and_dropped(account: Strict, status: str) -> None:
    account.event(key="open")
    (service,) = {one.service for one in account.account.incidents.values()}
    account.service(service).status = status
    assert {account.event(key="k").status, account.event("resolve", "open").status} == {202}
    assert [one.status for one in account.account.incidents.values()] == ["triggered"]


def test_an_event_is_accepted_though_nobody_could_be_rung(account: Strict) -> None:
    account.schedule("Primary").layers.clear()
    account.policy("Main").levels.pop()
    assert account.event().status == 202
    assert account.account.incidents == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"routing_key": "unknown"},
        {"event_action": "sing"},
        {"event_action": "resolve", "dedup_key": ""},
        {"payload": None},
        {"payload": {"summary": "x", "source": "y", "severity": "awful"}},
        {"dedup_key": "k" * 256},
        {"colour": "red"},
    ],
)
def test_what_is_no_event_is_refused(account: Strict, wrong: dict[str, object]) -> None:
    whole = {"routing_key": account.routing_key, "event_action": "trigger", "dedup_key": "k"}
    payload = {"payload": {"summary": "It burns", "source": "host", "severity": "critical"}}
    reply = account.enqueue(json.dumps({**whole, **payload, **wrong}).encode())
    assert reply.status == 400
    assert reply.body["errors"]
    assert account.account.incidents == {}


def test_events_are_limited_by_the_minute(account: Strict) -> None:
    account.rates.enabled = True
    account.rates.events_per_minute = 2
    assert [account.event().status for _ in range(3)] == [202, 202, 429]
    account.clock.now += 60
    assert account.event().status == 202
