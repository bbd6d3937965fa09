"""Whichever statement PostgreSQL aborts, and why: the person is told what to do, and nothing is half done."""

from __future__ import annotations

import dataclasses
import itertools
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from evidence.intake import tokens
from evidence.models import Evidence
from incidents import lifecycle
from incidents.live import live_stream
from incidents.models import Event, Incident
from incidents.outages import database_watch
from incidents.outages.runbook import BY_HAND
from incidents.tests.ended import DAMAGED, STATES, ended, moments
from integrations.pagerduty import tasks
from integrations.pagerduty.fake.server import deliveries
from integrations.pagerduty.models import Webhook
from integrations.pagerduty.tests import posted
from integrations.pagerduty.webhooks import inbox, translate_webhook
from integrations.slack.tests.conftest import behind
from integrations.slack.tests.door import Door
from integrations.tests.house import House
from integrations.tests.test_faults import nothing_twice


@dataclass(slots=True)
class Place:
    """Ann's incident, and everyone at its doors."""

    door: Door
    pager: posted.Door
    browser: Client
    incident: Incident
    channel: str
    token: str
    heard: list[logging.LogRecord]

    def facts(self) -> list[Any]:
        """Return what is recorded."""
        rows = [model.objects.order_by("pk").values_list("pk", flat=True) for model in (Event, Evidence, Webhook)]
        return [list(one) for one in rows] + list(Incident.objects.values_list("status", "last_n", "lead_id"))


class Heard(logging.Handler):
    """What would be printed."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.addFilter(settings.LOGGING["filters"]["outages"]["callback"])

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def hearing() -> Iterator[list[logging.LogRecord]]:
    heard, root = Heard(), logging.getLogger()
    root.addHandler(heard)
    try:
        yield heard.records
    finally:
        root.removeHandler(heard)


@pytest.fixture
def place(house: House, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Place]:
    settings.FIREKIND = dataclasses.replace(
        settings.FIREKIND, pagerduty=posted.GIVEN, evidence_storage=str(tmp_path / "evidence")
    )
    monkeypatch.setattr(tasks, "hint", lambda number: None)
    monkeypatch.setattr(database_watch, "answers", lambda: True)
    monkeypatch.setattr(live_stream, "let_go", lambda: None)  # the connection is the test's
    with behind(house), hearing() as heard:
        incident = house.declare(by="ann")
        ann = house.person("ann")
        ann.user = User.objects.create_user("ann")
        ann.save(update_fields=["user"])
        browser = Client(raise_request_exception=False)
        browser.force_login(ann.user)
        door = Door(house, client=Client(raise_request_exception=False))
        token = tokens.issue(ann, at=timezone.now(), incident=incident).secret
        pager = posted.Door(Client(raise_request_exception=False))
        heard.clear()
        yield Place(door, pager, browser, incident, house.channel(incident), token, heard)


Ask = Callable[[Place], Callable[[], Any]]
Told = Callable[[Place, Any], bool]


def command(place: Place) -> Callable[[], Any]:
    return lambda: place.door.command("ann", "update still looking", channel=place.channel)


def action(place: Place) -> Callable[[], Any]:
    def press() -> str:
        before = len(place.door.slack.ephemerals("ann"))
        place.door.press("ann", "firekind:update", channel=place.channel)
        return " ".join(one.text for one in place.door.slack.ephemerals("ann")[before:])

    return press


def submission(place: Place) -> Callable[[], Any]:
    place.door.press("ann", "firekind:update", channel=place.channel)

    def submit() -> str:
        place.door.submit("ann", text="still looking")
        view = place.door.slack.modal("ann")
        return place.door.reads(view) if view else ""

    return submit


def event(place: Place) -> Callable[[], Any]:
    name = next(one for one in ("ben", "lea") if one in place.door.slack.members(place.channel))
    place.door.slack.take_deliveries()
    place.door.slack.acts.leave(name, place.channel)
    delivery = next(one for one in place.door.slack.take_deliveries() if one.type == "member_left_channel")
    place.door.slack.acts.join(name, place.channel)
    place.door.slack.take_deliveries()
    return lambda: place.door.post(delivery)


def page(place: Place) -> Callable[[], Any]:
    return lambda: place.browser.get(f"/incidents/{place.incident.codename}/")


def form(place: Place) -> Callable[[], Any]:
    return lambda: place.browser.post(f"/incidents/{place.incident.codename}/write", {"text": "still looking"})


def stream(place: Place) -> Callable[[], Any]:
    return lambda: place.browser.get(f"/incidents/{place.incident.codename}/stream?n=0")


def api(place: Place) -> Callable[[], Any]:
    client, address = Client(raise_request_exception=False), f"/api/v1/incidents/{place.incident.codename}/evidence"
    bearer = {"Authorization": f"Bearer {place.token}"}
    kind = "application/x-www-form-urlencoded"
    return lambda: client.generic("POST", address, b"a;b 1\n", content_type=kind, headers=bearer)


def pager(place: Place) -> Callable[[], Any]:
    body = json.dumps({"event": posted.event("acknowledged")}).encode()
    return lambda: place.pager.client.post(
        posted.ADDRESS,
        data=body,
        content_type="application/json",
        headers={"X-PagerDuty-Signature": deliveries.signature(body, posted.SECRETS[0])},
    )


def told_in_slack(answer: Any) -> bool:
    return "Firekind's database" in answer and "may not have been recorded" in answer and BY_HAND in answer


def asked_to_send_it_again(answer: HttpResponse) -> bool:
    return answer.status_code == 503 and "Retry-After" in answer


def told_on_a_page(answer: HttpResponse) -> bool:
    words = answer.content.decode().replace("&#x27;", "'")
    return asked_to_send_it_again(answer) and "Firekind's database" in words and BY_HAND in words


DOORS = {
    "command": (command, told_in_slack),
    "action": (action, told_in_slack),
    "submission": (submission, told_in_slack),
    "event": (event, asked_to_send_it_again),
    "page": (page, told_on_a_page),
    "form": (form, told_on_a_page),
    "stream": (stream, asked_to_send_it_again),
    "api": (api, asked_to_send_it_again),
    "pager": (pager, asked_to_send_it_again),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("state", STATES | DAMAGED, ids=(STATES | DAMAGED).values())
def test_at_every_door_it_is_said_and_nothing_is_half_done(place: Place, state: str, door: str) -> None:
    opened, told = DOORS[door]
    before, answer = place.facts(), None
    for at in moments():
        ask = opened(place)
        with ended(state, at=at) as seen:
            answer = ask()
        transaction.set_rollback(False)  # from a statement that outside of tests has no transaction of its own
        if not seen.happened:
            break
        assert told(answer), f"statement {at}: {getattr(answer, 'content', answer)!r}"
        assert place.facts() == before, f"statement {at} left something"
    assert at, "there was nothing to end"
    assert not told(answer), "it is healed"
    assert not [one.getMessage() for one in place.heard if one.exc_info or "Traceback" in one.getMessage()]
    errors = {one.getMessage() for one in place.heard if one.levelno >= logging.ERROR}
    assert all(state in DAMAGED and f"damaged ({state})" in one for one in errors), errors


@pytest.mark.parametrize(("at", "state"), list(zip(range(0, 52, 2), itertools.cycle(STATES), strict=False)))
def test_a_worker_goes_on_and_does_everything_once(house: House, at: int, state: str) -> None:
    incident = lifecycle.declare(
        "Checkout is slow", by=house.person("dee"), at=house.now(), type=house.type("ambiguous")
    )
    with ended(state, at=at) as seen, suppress(DatabaseError):
        house.settle(incident)
    transaction.set_rollback(False)
    house.settle(incident)
    assert seen.happened
    nothing_twice(house, incident)


@pytest.mark.parametrize("state", STATES, ids=STATES.values())
def test_a_webhook_is_tried_until_the_database_lets_it_be_acted_on(
    place: Place, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    act = translate_webhook.act

    def interrupted(webhook: Webhook, **more: Any) -> str:
        with ended(state, at=0):
            return act(webhook, **more)

    assert place.pager.send(posted.event("acknowledged")).status_code == 202
    with monkeypatch.context() as broken:
        broken.setattr(translate_webhook, "act", interrupted)
        for day in range(inbox.ATTEMPTS + 5):
            place.pager.work(after_s=day * 86_400)
    assert inbox.stuck() == (1, 0)
    place.pager.work(after_s=100 * 86_400)
    assert set(Webhook.objects.values_list("state", flat=True)) == {"done"}
    assert not [one for one in place.heard if one.exc_info]
