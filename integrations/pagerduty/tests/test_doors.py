"""PagerDuty's door: only signed webhooks are stored, each once for good, and no signed webhook is refused."""

from __future__ import annotations

import dataclasses
import json
import logging
from typing import Any

import pytest
from django.db import OperationalError

from integrations.pagerduty import tasks, webhook_door
from integrations.pagerduty.fake.server import deliveries
from integrations.pagerduty.models import Webhook
from integrations.pagerduty.tests import posted
from integrations.pagerduty.tests.posted import SECRETS, Door, event
from integrations.pagerduty.webhooks import inbox

pytestmark = pytest.mark.django_db


@pytest.fixture
def door(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Door:
    settings.FIREKIND = dataclasses.replace(settings.FIREKIND, pagerduty=posted.GIVEN)
    monkeypatch.setattr(tasks, "hint", lambda number: None)
    return Door()


def stored() -> list[tuple[str, str]]:
    return list(Webhook.objects.order_by("pk").values_list("kind", "state"))


def test_a_webhook_is_stored_and_answered(door: Door) -> None:
    assert door.send(event("acknowledged")).status_code == 202
    webhook = Webhook.objects.get()
    assert webhook.body is not None
    assert (webhook.kind, webhook.page_id, webhook.state) == ("incident.acknowledged", "PI1", "waiting")
    assert webhook.at == posted.NINE
    assert webhook.body["data"]["title"] == "Checkout is slow"


def test_any_valid_secret_will_do_and_any_of_several_signatures(door: Door) -> None:
    for secrets in ([SECRETS[1]], ["of somebody else", SECRETS[0]], SECRETS):
        assert door.send(event("acknowledged"), secrets=secrets).status_code == 202


@pytest.mark.parametrize("given", ["", "v1=", "v1=00", "v0=00,v1=é", "," * 1_000, "sha256=0"])
def test_what_is_not_signed_is_refused(door: Door, given: str) -> None:
    body = json.dumps({"event": event("acknowledged")}).encode()
    answer = door.client.post(
        posted.ADDRESS, data=body, content_type="application/json", headers={"X-PagerDuty-Signature": given}
    )
    assert answer.status_code == 403
    assert door.raw(body, secrets=["of somebody else"]).status_code == 403
    assert not stored()


def test_a_body_that_was_changed_on_the_way_is_refused(door: Door) -> None:
    body = json.dumps({"event": event("acknowledged")}).encode()
    signed = deliveries.signature(body, SECRETS[0])
    changed = body.replace(b"Eve", b"Ann")
    answer = door.client.post(
        posted.ADDRESS, data=changed, content_type="application/json", headers={"X-PagerDuty-Signature": signed}
    )
    assert answer.status_code == 403


def test_another_attempt_is_known(door: Door) -> None:
    sent = event("acknowledged")
    assert [door.send(sent, key="one").status_code for _ in range(3)] == [202, 200, 200]
    assert len(stored()) == 1


def test_a_replay_under_another_name_is_known_by_its_event(door: Door) -> None:
    sent = event("acknowledged")
    door.send(sent, key="one")
    assert door.send(sent, key="two").status_code == 200
    assert len(stored()) == 1


def test_a_replay_is_known_after_it_was_acted_on(door: Door) -> None:
    sent = event("priority_updated")
    door.send(sent)
    assert door.work() == 1
    assert door.send(sent).status_code == 200
    webhook = Webhook.objects.get()
    assert (webhook.state, webhook.body) == ("done", None)


def test_a_ping_is_answered_and_nothing_follows(door: Door) -> None:
    ping = {"id": "01PING", "event_type": "pagey.ping", "occurred_at": "2026-11-21T09:00:00Z", "data": {"message": "!"}}
    assert door.send(ping).status_code == 202
    assert stored() == [("pagey.ping", "done")]
    assert door.work() == 0


def test_a_kind_from_the_future_is_taken_and_ignored(door: Door) -> None:
    assert door.send(event("from_the_future")).status_code == 202
    assert stored() == [("incident.from_the_future", "done")]


ODD = [
    b" ",
    b"\xff",
    b"{",
    b"[]",
    b"null",
    b'{"event": null}',
    b'{"event": []}',
    b"[" * 100_000,
    b'{"event": ' + b'{"data": ' * 60 + b"1" + b"}" * 61,
]


@pytest.mark.parametrize("body", ODD, ids=range(len(ODD)))
def test_what_is_signed_and_cannot_be_read_is_kept_and_said_and_not_refused(door: Door, body: bytes) -> None:
    assert door.raw(body).status_code == 202
    assert {state for _, state in stored()} == {"failed"}
    assert "cannot be read" in Webhook.objects.latest("pk").says


STRANGE = [
    {"id": 5, "event_type": "incident.acknowledged", "data": {"id": "PI1"}},
    {"event_type": "incident.acknowledged"},
    {"id": "E", "event_type": "incident.acknowledged", "occurred_at": 7, "agent": "x", "data": {"id": "PI1"}},
    {"id": "E\0", "event_type": "incident.acknowledged", "occurred_at": "soon", "data": {"id": "P\0", "number": 1e400}},
    {"id": "\ud800", "event_type": "incident.annotated", "data": {"incident": {"id": "P1"}, "content": ["\0"]}},
    {"id": "E" * 500, "event_type": "incident.escalated", "data": {"id": "P" * 500, "assignees": {"a": 1}}},
    {"id": "E", "event_type": "x" * 500, "data": None},
    {"id": "E", "event_type": "incident.resolved", "occurred_at": "2026-11-21T09:00:00", "data": {"id": "PI1"}},
]


@pytest.mark.parametrize("odd", STRANGE, ids=range(len(STRANGE)))
def test_whatever_is_odd_in_a_signed_webhook_it_is_taken_and_breaks_nothing(door: Door, odd: dict[str, Any]) -> None:
    assert door.raw(json.dumps({"event": odd}).encode()).status_code == 202
    door.work()
    assert {state for _, state in stored()} == {"done"}


def test_without_the_name_of_a_webhook_its_event_is_enough(door: Door) -> None:
    body = json.dumps({"event": event("acknowledged")}).encode()
    assert [door.raw(body, key="").status_code for _ in range(2)] == [202, 200]


def test_while_the_database_is_away_it_is_asked_for_again(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(inbox, "store", away)
    answer = door.send(event("acknowledged"))
    assert answer.status_code == 503
    assert b"Send it again" in answer.content


@pytest.mark.parametrize("given", [None, posted.without(webhook_secrets=())])
def test_without_a_secret_it_is_asked_for_again_and_says_what_is_missing(door: Door, settings: Any, given: Any) -> None:
    settings.FIREKIND = dataclasses.replace(settings.FIREKIND, pagerduty=given)
    answer = door.send(event("acknowledged"))
    assert answer.status_code == 503
    assert b"PAGERDUTY_WEBHOOK_SECRETS" in answer.content
    assert not stored()


def test_more_than_pagerduty_ever_sends_is_refused(door: Door) -> None:
    assert door.raw(b"x" * (webhook_door.LARGEST + 1)).status_code == 413
    assert door.raw(b"x" * webhook_door.LARGEST).status_code == 202


def test_only_posts_are_taken(door: Door) -> None:
    assert door.client.get(posted.ADDRESS).status_code == 405


def test_storing_takes_one_statement(door: Door, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        door.send(event("acknowledged"))


def test_nothing_of_a_webhook_is_logged(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    door.send(event("annotated", posted.about(content="our keys leaked")))
    door.send(event("annotated", posted.about(content="our keys leaked")), secrets=["wrong"])
    door.raw(b"our keys leaked")
    door.work()
    assert "keys" not in caplog.text
