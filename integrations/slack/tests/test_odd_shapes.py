"""Whatever a field of a signed payload contains, Slack neither repeats it nor shows our answer as an error.

Missing, null and wrongly typed values are tried in every field of every payload. No answer is a 5xx, and a payload that
can be read is always answered with 200, because Slack repeats an event after any other answer.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import time
from itertools import count, product
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from django.db import transaction

from incidents.models import Incident
from incidents.tests.oddities import LEFT_OUT, Path, places, with_odd
from integrations.slack import fake, listeners
from integrations.slack.doors import bolt
from integrations.slack.interaction import replying
from integrations.slack.protocol import setup
from integrations.slack.tests.door import Door, secret

ODD: Final[tuple[Any, ...]] = (
    None,
    LEFT_OUT,
    5,
    "x",
    "",
    [],
    {},
    True,
    [None],
    {"id": None},
    [{}],
    -1.5,
    "\0",
    "U" * 300,
    [["x"]],
    "9" * 400,
    "nan",
    10**30,
)
# A form contains only text.
ODD_IN_FORMS: Final = (LEFT_OUT, "", "\0", "x", "U" * 300, "null", "5", "9" * 400, "\u0665")
DEEPEST: Final = 4
PEOPLE: Final = {"team": {"id": "T0"}, "user": {"id": "U0ANN", "name": "ann"}, "channel": {"id": "C0LOBBY"}}
# Payloads of legacy apps, and of apps with more features than this one.
OTHERS: Final[dict[str, dict[str, Any]]] = {
    "dialog_submission": {
        **PEOPLE,
        "submission": {"name": "Sigourney"},
        "callback_id": "firekind:declare",
        "state": "kept",
        "action_ts": "1526.5",
        "response_url": "https://slack.invalid/actions/1",
    },
    "dialog_cancellation": {**PEOPLE, "callback_id": "firekind:declare", "action_ts": "1526.5"},
    "dialog_suggestion": {**PEOPLE, "callback_id": "firekind:declare", "name": "type", "value": "se"},
    "interactive_message": {
        **PEOPLE,
        "actions": [{"name": "retry", "type": "button", "value": "1"}],
        "callback_id": "firekind:retry",
        "attachment_id": "1",
        "message_ts": "1526.5",
        "original_message": {"text": "which?", "attachments": [{"id": 1, "callback_id": "firekind:retry"}]},
        "response_url": "https://slack.invalid/actions/2",
        "trigger_id": "1.2.3",
    },
    "block_suggestion": {**PEOPLE, "action_id": "firekind:retype-type", "block_id": "type", "value": "se"},
    "workflow_step_edit": {**PEOPLE, "callback_id": "firekind:declare", "workflow_step": {"workflow_id": "1"}},
    "view_closed": {**PEOPLE, "view": {"callback_id": "firekind:declare", "id": "V1"}, "is_cleared": False},
    "app_rate_limited": {"team_id": "T0", "minute_rate_limited": 1518467820, "api_app_id": "A0"},
}


def deliveries(door: Door) -> list[fake.PendingDelivery]:
    """Return one of each kind of delivery, caused by what people do."""
    door.slack.unfurl_domains = frozenset({urlsplit(setup.base_url()).hostname or ""})
    incident = door.declared()
    channel, acts = door.slack.channel(door.house.channel(incident)).id, door.slack.acts
    ts = acts.say("ben", channel, "customers call")
    acts.react("ann", channel, ts, "pushpin")
    door.deliver()  # puts it on the timeline, so that the following events are about it
    acts.edit("ben", channel, ts, "customers call again")
    acts.unreact("ann", channel, ts, "pushpin")
    acts.react("lea", channel, ts, "pushpin")
    acts.say("ann", "lobby", f"look at {setup.base_url()}{incident.get_absolute_url()}")
    acts.join("eve", channel)
    acts.kick("ann", channel, "eve")
    acts.rename("ann", channel, "inc-checkout")
    other = acts.say("ben", channel, "never mind")
    acts.delete("ben", channel, other)
    acts.archive("ann", channel)
    acts.unarchive("ann", channel)
    acts.invite("ann", channel, ["firekind", "ben", "lea"])
    acts.open_home("ann")
    acts.set_group("support", ["ann", "ben"])
    acts.arrive("new", name="New")
    acts.deactivate("new")
    acts.convert("ann", "lobby", is_private=True)
    sent = {_kind(one): one for one in door.slack.take_deliveries()}
    found = [one for kind, one in sent.items() if not kind.startswith("message channel")]
    said = acts.say("ben", channel, "hello")
    door.slack.take_deliveries()
    update, retype = (acts.press("ann", f"firekind:{word}", channel=channel) for word in ("update", "retype"))
    assert update is not None
    assert retype is not None
    door.send(update)
    submitted = acts.submit("ann", {"text": {"text": "hello"}})
    door.send(retype)
    chosen = acts.press("ann", "firekind:retype-type", value="major")
    assert chosen is not None
    found += [
        update,
        submitted,
        chosen,
        acts.shortcut("ann", "firekind:capture-this", channel=channel, ts=said),
        acts.shortcut("ann", "firekind:declare"),
        acts.command("ann", "lobby", "/incident note hello"),
    ]
    for n, (type, payload) in enumerate(OTHERS.items()):
        kind: Any = "event" if type == "app_rate_limited" else "interaction"
        found.append(fake.PendingDelivery(10_000 + n, kind, type, {"type": type, **payload}))
    return found


def _kind(event: fake.PendingDelivery) -> str:
    told = event.payload["event"]
    return f"{told['type']} {told.get('subtype', '')}"


def spoilt(good: fake.PendingDelivery, path: Path, value: Any) -> fake.PendingDelivery:
    """Return the same delivery with another value in one place."""
    return dataclasses.replace(good, payload=with_odd(good.payload, path, value))


def answered(door: Door, delivery: fake.PendingDelivery) -> int:
    """Deliver it, and roll everything back."""
    headers, body = fake.signed(delivery, secret(), at=time.time())
    with transaction.atomic():
        status = door.raw(body, headers).status_code
        transaction.set_rollback(True)
    return status


@pytest.mark.slow
def test_no_field_of_anything_that_slack_signs_makes_it_fail_or_come_again(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    """Each place gets a few odd values, and the next place others; ``EVERY_VALUE=1`` tries all of them everywhere.

    An internal error is reported to people in an answer that Slack accepts, so only the log shows it.
    """
    turn, wrong = count(), {}
    door.client.raise_request_exception = False
    for good in deliveries(door):
        assert answered(door, good) == 200, good.type
        odd = ODD_IN_FORMS if good.kind == "command" else ODD
        for path in places(good.payload, deepest=DEEPEST):
            for value in odd if os.environ.get("EVERY_VALUE") else (odd[next(turn) % len(odd)],):
                caplog.clear()
                status = answered(door, spoilt(good, path, value))
                broke = [one.getMessage()[:60] for one in caplog.records if one.levelno >= logging.ERROR]
                if status != 200 or broke:
                    wrong[good.type, path, repr(value)[:20]] = (status, broke)
    assert not wrong, f"{len(wrong)} of them, first {list(wrong.items())[:20]}"


@pytest.mark.parametrize("said", ["9" * 400, "nan", "-inf", "1e308", "", None, [], 5])
def test_a_message_of_any_time_is_followed_or_left_alone(door: Door, said: Any) -> None:
    edited = next(one for one in deliveries(door) if one.payload.get("event", {}).get("subtype") == "message_changed")
    for path in (("event", "message", "edited", "ts"), ("event", "message", "edited"), ("event", "event_ts")):
        assert answered(door, spoilt(edited, path, said)) == 200, path


def test_an_event_whose_field_is_null_is_not_sent_again(door: Door) -> None:
    for type, name in product(sorted(listeners.EVENTS), ("user", "channel", "item", "ts", "event_ts")):
        event = {
            "type": type,
            "user": "U0ANN",
            "channel": "C0LOBBY",
            "reaction": "pushpin",
            "item": {"type": "message"},
        }
        told = {"type": "event_callback", "event_id": "Ev1", "team_id": "T0", "event": {**event, name: None}}
        assert answered(door, fake.PendingDelivery(1, "event", type, told)) == 200, (type, name)


@pytest.mark.parametrize("type", OTHERS)
def test_what_is_not_for_us_is_acknowledged_and_does_nothing(door: Door, type: str) -> None:
    other = fake.PendingDelivery(1, "interaction", type, {"type": type, **OTHERS[type]})
    answer = door.post(other)
    assert (answer.status_code, answer.content) == (200, b"")
    assert not Incident.objects.exists()


def test_people_are_told_when_what_they_sent_could_not_be_read(door: Door) -> None:
    typed = door.slack.acts.command("ann", "lobby", "/incident declare checkout is slow")
    del typed.payload["user_id"]
    assert bolt.UNREAD in door.post(typed).content.decode()
    assert not Incident.objects.exists()


def test_a_form_that_could_not_be_read_comes_back_and_nobody_is_told_to_submit_it_as_it_is() -> None:
    form = {"type": "view_submission", "view": {"previous_view_id": None, "root_view_id": "V1"}}
    said = json.dumps(bolt.excuse(form))
    assert bolt.UNREAD in said
    assert replying.KEPT in said
    assert replying.AGAIN not in said
    assert replying.AGAIN in json.dumps(bolt.excuse(form, bolt.BROKEN))


@pytest.mark.parametrize(
    ("type", "path", "value"),
    [
        ("block_actions", ("channel",), "C0LOBBY"),
        ("block_actions", ("channel", "id"), None),
        ("view_submission", ("view", "type"), LEFT_OUT),
        ("view_submission", ("view", "state"), None),
        ("message_action", ("channel",), "C0LOBBY"),
        ("message_action", ("message", "files"), [None]),
    ],
)
def test_what_once_broke_it_does_not(door: Door, type: str, path: Path, value: Any) -> None:
    good = next(one for one in deliveries(door) if one.type == type)
    if path == ("message", "files"):
        good.payload["message"]["files"] = []
    assert answered(door, spoilt(good, path, value)) == 200


@pytest.mark.parametrize("body", [b"ssl_check=1", b"token=x&ssl_check=1"])
def test_a_check_of_the_certificate_needs_no_signature(door: Door, body: bytes) -> None:
    answer = door.raw(body, {"Content-Type": "application/x-www-form-urlencoded"})
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("body", [b"ssl_check=0", b"ssl_check=", b"text=%26ssl_check%3D1", b'{"ssl_check": "1"}'])
def test_nothing_else_goes_unsigned(door: Door, body: bytes) -> None:
    kind = "application/json" if body.startswith(b"{") else "application/x-www-form-urlencoded"
    assert door.raw(body, {"Content-Type": kind}).status_code == 401


@pytest.mark.parametrize("url", ["x", "file:///etc/passwd", "https://slack.invalid/used-up"])
def test_an_address_that_leads_nowhere_is_not_answered(door: Door, url: str) -> None:
    channel = door.house.channel(door.declared())
    pressed = door.slack.acts.press("ann", "firekind:update", channel=channel)
    assert pressed is not None
    pressed.payload |= {"response_url": url, "trigger_id": "1.2.3"}
    assert answered(door, pressed) == 200
