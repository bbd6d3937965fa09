"""Webhooks to an app: payloads, signatures, subscriptions, and the rule that disables them."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest

from integrations.pagerduty import fake

from .furnished import HOUR, Strict, incident, small


@pytest.fixture
def account() -> Strict:
    account = small()
    account.ok("POST /incidents", incident())
    return account


def last(account: Strict) -> dict[str, Any]:
    payload: dict[str, Any] = account.take_deliveries()[-1].payload["event"]
    return payload


def test_an_incident_is_told_as_webhooks_do(account: Strict) -> None:
    event = last(account)
    assert set(event) == {"id", "event_type", "resource_type", "occurred_at", "agent", "client", "data"}
    assert (event["event_type"], event["resource_type"], event["agent"]["id"]) == (
        "incident.triggered", "incident", "PUBOT",
    )  # fmt: skip
    assert event["occurred_at"] == "2026-11-21T09:00:00.000Z"
    assert set(event["data"]) == {
        "id", "type", "self", "html_url", "summary", "number", "status", "incident_key", "created_at", "reopened_at",
        "title", "service", "assignees", "escalation_policy", "teams", "priority", "urgency", "conference_bridge",
        "resolve_reason", "incident_type",
    }  # fmt: skip
    assert (event["data"]["incident_key"], event["data"]["number"]) == ("k", 1)


def test_what_people_do_is_told_with_who_did_it(account: Strict) -> None:
    acts = account.acts
    acts.acknowledge("ada", 1)
    acts.unacknowledge("ada", 1)
    acts.escalate("ada", 1)
    acts.reassign("ada", 1, ["dan"])
    acts.reassign("ada", 1, "Other")
    acts.priority("ada", 1, "P1")
    acts.change_type("ada", 1, "major_incident")
    acts.move("ada", 1, "web")
    acts.resolve("ada", 1)
    acts.reopen("ada", 1)
    told = account.take_deliveries()[1:]
    assert [d.type.removeprefix("incident.") for d in told] == [
        "acknowledged", "unacknowledged", "escalated", "reassigned", "delegated", "priority_updated",
        "incident_type.changed", "service_updated", "resolved", "reopened",
    ]  # fmt: skip
    assert {d.payload["event"]["agent"]["id"] for d in told} == {"PUADA"}


def test_a_note_is_told(account: Strict) -> None:
    account.acts.note("ada", 1, "Looking")
    data = last(account)["data"]
    assert (data["type"], data["content"], data["incident"]["type"]) == (
        "incident_note",
        "Looking",
        "incident_reference",
    )


def test_an_update_of_the_status_is_told(account: Strict) -> None:
    account.acts.status_update("ada", 1, "We are on it")
    data = last(account)["data"]
    assert (data["type"], data["message"]) == ("incident_status_update", "We are on it")


@pytest.mark.parametrize(("accept", "state"), [(True, "accepted"), (False, "declined")])
def test_a_responder_and_their_answer_are_told(account: Strict, accept: bool, state: str) -> None:
    account.acts.add_responder("ada", 1, "dan", "Please look at the disks")
    asked = last(account)
    assert (asked["event_type"], asked["agent"]["id"]) == ("incident.responder.added", "PUADA")
    assert (asked["data"]["user"]["id"], asked["data"]["state"]) == ("PUDAN", "pending")
    account.acts.reply("dan", 1, accept=accept)
    answered = last(account)
    assert (answered["event_type"], answered["agent"]["id"], answered["data"]["state"]) == (
        "incident.responder.replied", "PUDAN", state,
    )  # fmt: skip


def test_each_secret_signs_the_raw_body(account: Strict) -> None:
    delivery = account.take_deliveries()[0]
    headers, body = fake.signed(delivery, ["old", "new"])
    expected = [f"v1={hmac.new(s, body, hashlib.sha256).hexdigest()}" for s in (b"old", b"new")]
    assert headers["X-PagerDuty-Signature"].split(",") == expected
    assert (headers["X-Webhook-Id"], headers["X-Webhook-Subscription"]) == (delivery.key, "PW1")
    assert json.loads(body) == delivery.payload


def test_every_subscription_hears_the_same_event_by_a_webhook_of_its_own(account: Strict) -> None:
    account.told()
    account.add_subscription(id="PW2")
    account.acts.note("ada", 1, "x")
    one, other = account.take_deliveries()
    assert one.event_id == other.event_id
    assert one.key != other.key


def test_a_subscription_hears_what_it_asked_for_about_what_it_may_see(account: Strict) -> None:
    account.told()
    account.account.subscriptions.clear()
    account.add_subscription(events=["incident.resolved"], filter_type="service_reference", filter_id="PVWEB")
    account.acts.trigger("web", "Slow")
    account.acts.resolve("ada", 1)
    account.acts.resolve("dan", 2)
    assert [d.incident for d in account.take_deliveries()] == [account.acts.incident(2).id]


def test_a_secret_is_shown_once(account: Strict) -> None:
    body = {
        "webhook_subscription": {
            "type": "webhook_subscription",
            "events": ["incident.resolved"],
            "filter": {"type": "account_reference"},
            "delivery_method": {"type": "http_delivery_method", "url": "https://app.example/hook"},
        }
    }
    made = account.ok("POST /webhook_subscriptions", body)["webhook_subscription"]
    path = f"/webhook_subscriptions/{made['id']}"
    assert made["delivery_method"]["secret"]
    assert account.ok(f"GET {path}")["webhook_subscription"]["delivery_method"]["secret"] is None
    account.ok(f"PUT {path}", {"webhook_subscription": {"active": False}})
    assert not account.is_active(made["id"])
    account.ok(f"DELETE {path}")
    assert account.ask(f"GET {path}").status == 404


def waiting(account: Strict, n: int) -> list[fake.PendingDelivery]:
    account.told()
    for number in range(n):
        account.acts.note("ada", 1, f"note {number}")
    return account.take_deliveries()


def test_three_refusals_in_a_row_switch_it_off_for_a_day_and_throw_the_rest_away(account: Strict) -> None:
    first, second, third = waiting(account, 3)
    account.acts.note("ada", 1, "still queued")
    assert [account.answered(d, 404) for d in (first, second, third)] == ["dropped", "dropped", "disabled"]
    account.acts.note("ada", 1, "unheard")
    assert account.take_deliveries() == []
    assert account.ok("GET /webhook_subscriptions/PW1")["webhook_subscription"]["delivery_method"][
        "temporarily_disabled"
    ]
    account.clock.now += 24 * HOUR
    account.acts.note("ada", 1, "heard again")
    assert len(account.take_deliveries()) == 1


def test_it_can_be_switched_on_again(account: Strict) -> None:
    for delivery in waiting(account, 3):
        account.answered(delivery, 400)
    account.ok("POST /webhook_subscriptions/PW1/enable")
    account.acts.note("ada", 1, "heard")
    assert len(account.take_deliveries()) == 1


def test_a_success_between_refusals_starts_the_count_anew(account: Strict) -> None:
    answers = [account.answered(d, status) for d, status in zip(waiting(account, 4), (404, 404, 202, 404), strict=True)]
    assert answers == ["dropped", "dropped", "delivered", "dropped"]


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_silence_and_trouble_are_tried_again_for_two_days(account: Strict, status: int) -> None:
    delivery = waiting(account, 1)[0]
    assert [account.answered(delivery, status) for _ in range(5)] == ["retry"] * 5
    account.clock.now += 48 * HOUR
    assert account.answered(delivery, status) == "expired"
