"""The same listeners answer over a socket; the envelope is acknowledged once the work is done."""

from __future__ import annotations

import dataclasses
import threading
from http.client import IncompleteRead
from io import StringIO
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from django.utils import timezone
from slack_sdk import WebClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from incidents.models import Incident
from integrations.slack.doors import socket_mode
from integrations.slack.interaction import afterwards
from integrations.slack.management.commands import slack_socket
from integrations.slack.protocol import setup
from integrations.slack.tests.door import Door
from workflows.status import workers


class Client:
    """The far end of a socket."""

    logger = socket_mode.log

    def __init__(self) -> None:
        self.sent: list[SocketModeResponse] = []

    def send_socket_mode_response(self, response: SocketModeResponse) -> None:
        """Record an acknowledgement."""
        self.sent.append(response)


def handle(payload: dict[str, Any], *, kind: str = "slash_commands") -> list[SocketModeResponse]:
    """Receive one envelope, and return what was sent back."""
    given: Any = setup.current()
    handler = socket_mode.handler(dataclasses.replace(given, app_token="xapp-test"))
    client: Any = Client()
    request = SocketModeRequest(type=kind, envelope_id="e1", payload=payload)
    # In one of Bolt's threads the connection is closed around this; the test's own has to stay open.
    with patch.object(socket_mode, "close_old_connections"):
        handler.handle(client, request)
    handler.client.close()
    sent: list[SocketModeResponse] = client.sent
    return sent


def test_a_command_over_a_socket(door: Door) -> None:
    delivery = door.slack.acts.command("ann", "lobby", "/incident declare checkout is slow")
    (sent,) = handle(delivery.payload)
    assert sent.envelope_id == "e1"
    assert sent.payload is not None
    assert "Declared " in sent.payload["text"]
    assert Incident.objects.get().title == "checkout is slow"


def test_what_is_left_for_later_begins_after_the_envelope_is_acknowledged(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[int] = []
    monkeypatch.setattr(afterwards, "begin", lambda deeds: began.append(len(deeds)))
    monkeypatch.setattr(Client, "send_socket_mode_response", lambda client, response: began.append(-1))
    door.slack.unfurl_domains = frozenset({"testserver"})
    door.slack.acts.invite("ann", "lobby", ["firekind"])
    door.slack.acts.say("ann", "lobby", f"{setup.base_url()}/incidents/amber-otter/")
    for told in (one for one in door.slack.take_deliveries() if one.type == "link_shared"):
        handle(told.payload, kind="events_api")
    assert began == [-1, 0, -1, 1], "one is still being written, one is posted"


@pytest.mark.parametrize("payload", [{"type": "event_callback"}, {"type": "from_the_future"}, {"event": None}])
def test_what_is_odd_is_acknowledged_and_not_sent_again(door: Door, payload: Any) -> None:
    (sent,) = handle(payload, kind="events_api")
    assert (sent.envelope_id, sent.payload) == ("e1", {})
    assert not Incident.objects.exists()


PAGE = "<html><body>502 Bad Gateway</body></html>"
# Answers from Slack, or from a proxy in its place, about where to connect.
ODD: list[Any] = [
    {"status": 502, "headers": {}, "body": PAGE},
    {"status": 200, "headers": {}, "body": ""},
    {"status": 200, "headers": {}, "body": '{"ok": true, "url": "wss:'},
    {"status": 200, "headers": {}, "body": '{"ok": true}'},
    {"status": 200, "headers": {}, "body": "[]"},
    {"status": 200, "headers": {}, "body": '{"ok": false, "error": "internal_error"}'},
    {"status": 429, "headers": {"Retry-After": "later"}, "body": '{"ok": false, "error": "ratelimited"}'},
    OSError("no route"),
    IncompleteRead(b""),
    UnicodeDecodeError("utf-8", b"x", 0, 1, "odd"),
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: str(odd if isinstance(odd, Exception) else odd["body"]))
def test_it_connects_once_slack_says_where_whatever_it_said_before(odd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [odd, {"status": 200, "headers": {}, "body": '{"ok": true, "url": "wss://slack.test"}'}]

    def answer(*_: object, **__: object) -> Any:
        said = answers.pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    def connect() -> None:
        """Ask Slack where to connect, as the library does, and start with its answer."""
        asks: Any = SimpleNamespace(web_client=WebClient(), app_token="xapp-test", logger=socket_mode.log)
        BaseSocketModeClient.issue_new_wss_url(asks).strip()

    monkeypatch.setattr(WebClient, "_perform_urllib_http_request", answer)
    monkeypatch.setattr(slack_socket, "FIRST_WAITS_S", (0,) * 5)
    said, handler = StringIO(), SimpleNamespace(connect=connect)
    assert slack_socket.Command(stderr=said, no_color=True).connected(handler, threading.Event())  # type: ignore[arg-type]  # what is used of it
    assert not answers
    assert "Slack" in said.getvalue()
    assert PAGE not in said.getvalue()


@pytest.mark.parametrize("connected", [True, False])
def test_it_is_seen_to_live_while_it_hears_slack(connected: bool, db: None) -> None:
    stop, handler = threading.Event(), SimpleNamespace(client=SimpleNamespace(is_connected=lambda: connected))
    stop.set()
    with patch.object(slack_socket, "close_old_connections"):  # the test's own has to stay open
        slack_socket.Command().listen(handler, stop)  # type: ignore[arg-type]  # what is used of it
    assert (workers.SOCKET in workers.living(at=timezone.now())) is connected
