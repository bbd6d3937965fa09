"""Slack's door acts only on requests that Slack signed recently and that can be parsed, and on each only once."""

from __future__ import annotations

import copy
import dataclasses
import functools
import json
import logging
import time
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.utils import timezone

from incidents.models import Incident, Person
from integrations.slack import fake
from integrations.slack.adapter import current
from integrations.slack.doors import bolt, http
from integrations.slack.interaction import inbox
from integrations.slack.models import Delivery
from integrations.slack.tests.door import Door, secret

FORM = "application/x-www-form-urlencoded"


def command(door: Door, text: str = "declare checkout is slow") -> fake.PendingDelivery:
    """Return the delivery of a command."""
    return door.slack.acts.command("ann", "lobby", f"/incident {text}")


def signed(body: bytes, *, content_type: str = "application/json", at: float | None = None) -> dict[str, str]:
    """Return the headers that Slack would send with these bytes."""
    stamp = str(int(at or time.time()))
    return {
        "Content-Type": content_type,
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": fake.signature(body, secret(), stamp=stamp),
    }


def test_the_address_is_verified(door: Door) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc", "token": ""}).encode()
    answer = door.raw(body, signed(body))
    assert (answer.status_code, json.loads(answer.content)) == (200, {"challenge": "abc"})


def test_a_forged_request_is_refused(door: Door) -> None:
    headers, body = fake.signed(command(door), "somebody else's secret", at=time.time())
    assert door.raw(body, headers).status_code == 401
    assert not Incident.objects.exists()


def test_a_body_that_was_changed_on_the_way_is_refused(door: Door) -> None:
    headers, body = fake.signed(command(door), secret(), at=time.time())
    assert door.raw(body.replace(b"slow", b"fast"), headers).status_code == 401


@pytest.mark.parametrize("age_s", [301, 86_400, -400])
def test_a_stale_request_is_refused_and_the_log_tells_what_to_look_at(
    door: Door, age_s: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert door.post(command(door), at=time.time() - age_s).status_code == 401
    assert not Incident.objects.exists()
    assert "set the clock by NTP" in caplog.text
    headers, body = fake.signed(command(door), "somebody else's secret", at=time.time() - age_s)
    caplog.clear()
    assert door.raw(body, headers).status_code == 401
    assert "clock" not in caplog.text


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Slack-Request-Timestamp": "1700000000"},
        {"X-Slack-Signature": "v0=00"},
        {"X-Slack-Request-Timestamp": "soon", "X-Slack-Signature": "v0=00"},
        {"X-Slack-Request-Timestamp": "\uff11\uff17", "X-Slack-Signature": "v0=00"},
        {"X-Slack-Request-Timestamp": "9" * 400, "X-Slack-Signature": "v0=00"},
        {"X-Slack-Request-Timestamp": str(int(time.time())), "X-Slack-Signature": "v0=é"},
    ],
)
def test_headers_that_are_missing_or_odd_are_refused(door: Door, headers: dict[str, str]) -> None:
    assert door.raw(b"{}", headers).status_code == 401


BAD = [b" ", b"\xff\xfe\x00", b"{", b"[]", b"null", b'"event_callback"', b"[" * 100_000]
ODD_OBJECTS = [
    b'{"type": "event_callback"}',
    b'{"type": "event_callback", "event": "message"}',
    b'{"type": "event_callback", "event": {"type": 3}, "event_id": "Ev1"}',
    b'{"type": "event_callback", "event": {"type": "message"}}',
    b'{"type": 7}',
    b'{"user": 5}',
    b'{"type": "event_callback", "event": {"type": "message"}, "event_id": "Ev1", "authorizations": 3}',
]


@pytest.mark.parametrize("body", BAD, ids=range(len(BAD)))
def test_a_signed_body_that_cannot_be_read_is_a_bad_request_and_not_sent_again(door: Door, body: bytes) -> None:
    answer = door.raw(body, signed(body))
    assert (answer.status_code, answer["X-Slack-No-Retry"]) == (400, "1")


@pytest.mark.parametrize("body", ODD_OBJECTS)
def test_a_signed_object_of_an_unknown_shape_is_acknowledged(door: Door, body: bytes) -> None:
    assert door.raw(body, signed(body)).status_code == 200
    assert not Delivery.objects.exists()


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "block_actions", "user": {"id": "U0ANN"}, "actions": []},
        {"type": "block_actions", "user": {"id": "U0ANN"}},
        {"type": "block_actions", "user": None, "actions": [{"action_id": "firekind:retry"}]},
        {"type": "view_submission", "user": {"id": "U0ANN"}, "view": {}},
        {"type": "message_action", "user": {"id": "U0ANN"}, "callback_id": "firekind:capture-this"},
    ],
)
def test_an_interaction_without_what_it_needs_does_nothing(door: Door, payload: Any) -> None:
    body = urlencode({"payload": json.dumps(payload)}).encode()
    assert door.raw(body, signed(body, content_type=FORM)).status_code == 200
    assert not Delivery.objects.exists()


ODD: dict[str, list[tuple[tuple[Any, ...], Any]]] = {
    "reaction_added": [
        (("event_id",), "\0"),
        (("event", "user"), 5),
        (("event", "user"), "U" * 300),
        (("event", "item"), "x"),
        (("event", "item", "channel"), 5),
        (("event", "item", "ts"), "\ud800"),
        (("authorizations", 0), None),
    ],
    "block_actions": [(("user", "id"), "U" * 300), (("actions", 0), ["x"]), (("trigger_id",), "\0")],
    "view_submission": [
        (("view", "private_metadata"), "x"),
        (("view", "private_metadata"), None),
        (("view", "blocks", 0), None),
        (("view", "state", "values", "text"), "x"),
        (("view", "state"), [1]),
    ],
    "message_action": [(("message", "ts"), "x"), (("message", "ts"), "1e999")],
}


@pytest.mark.parametrize("type", ODD)
def test_what_has_an_odd_value_somewhere_does_nothing(door: Door, type: str) -> None:
    incident = door.declared()
    channel = door.house.channel(incident)
    ts = door.slack.acts.say("ben", channel, "hello")
    door.slack.take_deliveries()
    door.slack.acts.react("ann", channel, ts, "pushpin")
    sent = door.slack.take_deliveries()
    pressed = door.slack.acts.press("ann", "firekind:update", channel=channel)
    assert pressed is not None
    door.send(pressed)
    sent += [pressed, door.slack.acts.submit("ann", {"text": {"text": "hello"}})]
    sent.append(door.slack.acts.shortcut("ann", "firekind:capture-this", channel=channel, ts=ts))
    good = next(one for one in sent if one.type == type)
    for path, value in ODD[type]:
        odd = dataclasses.replace(good, payload=copy.deepcopy(good.payload))
        *above, last = path
        functools.reduce(lambda at, step: at[step], above, odd.payload)[last] = value
        before = Delivery.objects.count()
        assert (door.post(odd).status_code, Delivery.objects.count()) == (200, before), (path, value)


def test_a_renamed_channel_that_is_no_object_is_acknowledged(door: Door) -> None:
    incident = door.declared()
    door.slack.acts.rename("ann", door.house.channel(incident), "inc-checkout")
    (renamed,) = (one for one in door.slack.take_deliveries() if one.type == "channel_rename")
    renamed.payload["event"]["channel"] = "C0"
    assert door.post(renamed).status_code == 200


def test_a_form_that_is_not_utf8_is_a_bad_request(door: Door) -> None:
    body = b"command=%2Fincident&user_id=U0ANN&channel_id=C0LOBBY&text=declare+\xff"
    assert door.raw(body, signed(body, content_type=FORM)).status_code == 400


def test_a_request_that_does_not_say_how_long_it_is_is_refused(door: Door) -> None:
    assert door.raw(b"", signed(b"")).status_code == 411


def test_more_than_slack_ever_sends_is_refused_unread(door: Door) -> None:
    body = b"x" * (http.LARGEST + 1)
    assert door.raw(body, signed(body)).status_code == 413


def test_only_posts_are_taken(door: Door) -> None:
    assert door.client.get("/slack/events").status_code == 405


def test_a_repeated_command_declares_once(door: Door) -> None:
    typed = command(door)
    first, second = door.post(typed), door.post(typed)
    assert (first.status_code, second.status_code) == (200, 200)
    assert Incident.objects.count() == 1
    assert b"Declared " in first.content
    assert second.content == b""


def test_a_repeated_event_is_followed_once(door: Door) -> None:
    incident = door.declared()
    channel = door.house.channel(incident)
    ts = door.slack.acts.say("ben", channel, "customers call")
    door.slack.acts.react("ann", channel, ts, "pushpin")
    deliveries = door.slack.take_deliveries()
    assert {door.post(one).status_code for one in deliveries * 3} == {200}
    assert [kind for kind, _ in door.told(incident)].count("captured") == 1


def test_an_event_of_a_kind_that_nobody_asked_for_is_acknowledged(door: Door) -> None:
    event = {"type": "event_callback", "event_id": "Ev1", "team_id": "T", "event": {"type": "emoji_changed"}}
    body = json.dumps(event).encode()
    assert door.raw(body, signed(body)).status_code == 200
    assert not Delivery.objects.exists()


def test_a_payload_of_an_unknown_kind_is_acknowledged(door: Door) -> None:
    body = urlencode({"payload": json.dumps({"type": "from_the_future", "user": {"id": "U1"}})}).encode()
    assert door.raw(body, signed(body, content_type=FORM)).status_code == 200


def test_another_workspace_is_turned_away(door: Door, settings: Any) -> None:
    slack = dataclasses.replace(settings.FIREKIND.slack, team_id="T0OTHER")
    settings.FIREKIND = dataclasses.replace(settings.FIREKIND, slack=slack)
    answer = door.post(command(door))
    assert answer.content.decode() == "This Firekind is connected to another workspace."
    assert not Incident.objects.exists()


@pytest.mark.parametrize("organisation", ["", "E0SANDBOX", "E0OTHER"])
@pytest.mark.parametrize("team", ["T0SANDBOX", "T0OTHER"])
def test_where_settings_name_none_the_workspace_is_the_one_of_the_token(
    door: Door, team: str, organisation: str
) -> None:
    door.slack.workspace.plan = "enterprise"
    slack = current.slack()
    assert slack is not None
    slack.identity.ask()
    asked = command(door)
    asked.payload |= {"team_id": team, "enterprise_id": organisation, "user_id": "U0STRANGER", "text": "list"}
    is_ours = team == "T0SANDBOX" or organisation == "E0SANDBOX"
    assert ("another workspace" in door.post(asked).content.decode()) is not is_ours
    assert Person.objects.filter(chat_id="U0STRANGER").exists() is is_ours


def test_without_slack_the_door_says_so(door: Door, settings: Any) -> None:
    headers, body = fake.signed(command(door), secret(), at=time.time())
    settings.FIREKIND = dataclasses.replace(settings.FIREKIND, slack=None)
    answer = door.raw(body, headers)
    assert answer.status_code == 503
    assert b"SLACK_BOT_TOKEN" in answer.content


@pytest.mark.parametrize("left", [None, ""], ids=["no token", "no secret"])
def test_before_the_secret_is_set_the_address_is_verified_and_the_log_says_what_is_missing(
    door: Door, settings: Any, caplog: pytest.LogCaptureFixture, left: str | None
) -> None:
    check = json.dumps({"type": "url_verification", "challenge": "3eZbrw1aBm2rZ", "token": "x"}).encode()
    ours, (headers, body) = signed(check), fake.signed(command(door), "anything", at=time.time())
    given = settings.FIREKIND.slack
    slack = None if left is None else dataclasses.replace(given, signing_secret=left)
    settings.FIREKIND = dataclasses.replace(settings.FIREKIND, slack=slack)
    answer = door.raw(check, ours)
    assert (answer.status_code, json.loads(answer.content)) == (200, {"challenge": "3eZbrw1aBm2rZ"})
    assert "set SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET" in caplog.text
    assert door.raw(body, headers).status_code == 503, "and nothing else is taken"
    assert not Incident.objects.exists()


@pytest.mark.parametrize(
    "challenge", ["", "<script>", 7, None, ["x"], "x y", "x" * 1_001, "ä"], ids=lambda one: str(one)[:10]
)
def test_only_a_challenge_is_given_back(door: Door, settings: Any, challenge: Any) -> None:
    long = {"type": "url_verification", "challenge": "x", "more": "x" * 10_000}
    tries = [{"type": kind, "challenge": challenge} for kind in ("url_verification", "event_callback")]
    sent = [(body := json.dumps(one).encode(), signed(body)) for one in (*tries, long)]
    settings.FIREKIND = dataclasses.replace(settings.FIREKIND, slack=None)
    assert {door.raw(body, headers).status_code for body, headers in sent} == {503}


def test_with_a_secret_the_check_has_to_be_signed_with_it(door: Door) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
    stamp = str(int(time.time()))
    headers = signed(body) | {"X-Slack-Signature": fake.signature(body, "another secret", stamp=stamp)}
    assert door.raw(body, headers).status_code == 401


def test_what_people_write_is_not_logged(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    typed = command(door, "declare our keys are on a forum")
    headers, body = fake.signed(typed, "wrong", at=time.time())
    door.raw(body, headers)
    door.post(typed)
    door.raw(b'{"type": "odd", "text": "our keys"}', signed(b'{"type": "odd", "text": "our keys"}'))
    assert "keys" not in caplog.text


def test_after_a_failure_people_are_told_and_slack_sends_events_again(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    incident = door.declared()
    channel = door.house.channel(incident)
    door.command("ann", "update", channel=channel)
    door.slack.acts.join("eve", channel)
    pressed = door.slack.acts.press("lea", "firekind:resolve", channel=channel)
    assert pressed is not None
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE slack_delivery")
    assert door.command("ann", "note our keys leaked", channel=channel) == bolt.BROKEN
    door.submit("ann", text="our keys leaked")
    assert bolt.BROKEN in door.reads(door.modal("ann"))
    door.send(pressed)
    assert door.slack.ephemerals("lea")[-1].text == bolt.BROKEN
    assert 500 in door.deliver()
    assert "keys" not in caplog.text
    assert "ProgrammingError" in caplog.text


def test_old_deliveries_are_swept_out(door: Door) -> None:
    now = timezone.now()
    inbox.take("old", at=now - timedelta(days=4))
    for n in range(inbox.SWEEP_EVERY + 1):
        inbox.take(f"new {n}", at=now)
    assert not Delivery.objects.filter(key="old").exists()
    assert Delivery.objects.count() == inbox.SWEEP_EVERY + 1
