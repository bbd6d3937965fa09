"""Socket Mode after a process stood still, or its network did: what Slack has given up by then isn't done."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import pytest
from slack_bolt import Ack, App
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient

from incidents.models import Incident
from incidents.outages import answer_time, outage_answer
from integrations.slack.doors import socket_mode
from integrations.slack.tests.door import Door
from integrations.slack.tests.test_socket_mode import handle
from stack.outside import until

TEXT, PING, PONG = 0x81, 0x89, 0x8A
ACCEPTS = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
STOOD_S = 10


class FarEnd:
    """Slack's end of a web socket. While its line is held, nothing that it sends arrives."""

    def __init__(self, door: socket.socket) -> None:
        self.acknowledged: list[dict[str, Any]] = []
        self.pongs = 0
        self._held: list[bytes] | None = None
        self._lock = threading.Lock()
        self._door = door
        self._line: socket.socket | None = None
        threading.Thread(target=self._serve, daemon=True).start()

    def send(self, kind: str, **payload: Any) -> None:
        """Send an envelope whose id is what someone typed."""
        envelope = {"type": kind, "envelope_id": payload.get("text", "hello"), "payload": payload}
        data = json.dumps(envelope).encode()
        self._out(bytes([TEXT, 126]) + struct.pack("!H", len(data)) + data)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the line, and then let everything through, in order."""
        with self._lock:
            self._held = []
        yield
        with self._lock:
            held, self._held = self._held or [], None
            self._sent(b"".join(held))

    def _out(self, data: bytes) -> None:
        with self._lock:
            if self._held is None:
                self._sent(data)
            else:
                self._held.append(data)

    def _sent(self, data: bytes) -> None:
        assert self._line is not None
        self._line.sendall(data)

    def _serve(self) -> None:
        self._line, _ = self._door.accept()
        with closing(self._line), self._line.makefile("rb") as said, suppress(OSError, ValueError):
            key = next(line for line in iter(said.readline, b"\r\n") if line.lower().startswith(b"sec-websocket-key"))
            while said.readline() != b"\r\n":
                pass
            accept = base64.b64encode(hashlib.sha1(key.split()[1] + ACCEPTS).digest())  # noqa: S324 (the protocol's)
            self._sent(b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: %s\r\n\r\n" % accept)
            while True:
                opcode, length = said.read(2)
                self._take(opcode, length, said.read)

    def _take(self, opcode: int, length: int, read: Callable[[int], bytes]) -> None:
        length &= 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", read(2))
        mask = read(4)
        data = bytes(byte ^ mask[at % 4] for at, byte in enumerate(read(length)))
        if opcode == PING:
            self._out(bytes([PONG, len(data)]) + data)
            self.pongs += 1
        elif opcode == TEXT:
            self.acknowledged.append(json.loads(data))


class Heard:
    """A process that is connected, and for how long each command could still be answered when it was taken."""

    def __init__(self) -> None:
        self.left_s: dict[str, float] = {}
        self.let_go = threading.Event()
        self.hung = 0
        app = App(
            name="late",
            signing_secret="unused",
            client=WebClient(),
            authorize=lambda: AuthorizeResult(enterprise_id=None, team_id="T1"),
            process_before_response=True,
        )
        app.command("/incident")(self._note)
        app.event("message")(self._note)
        self.handler = socket_mode.Handler(app, "xapp-test", web_client=WebClient())

    def _note(self, body: dict[str, Any], ack: Ack) -> None:
        if body["text"].startswith("hangs") and answer_time.left_s():
            self.hung += 1
            assert self.let_go.wait(60)
        self.left_s[body["text"]] = answer_time.left_s()
        ack()


@pytest.fixture
def far() -> Iterator[FarEnd]:
    with closing(socket.create_server(("127.0.0.1", 0))) as door:
        yield FarEnd(door)


@pytest.fixture
def heard(far: FarEnd) -> Iterator[Heard]:
    made = Heard()
    made.handler.client.wss_uri = f"ws://127.0.0.1:{far._door.getsockname()[1]}/link"
    made.handler.connect()  # type: ignore[no-untyped-call]  # Bolt's
    until(lambda: far.pongs > 0, what="it is not connected")
    yield made
    made.let_go.set()
    made.handler.close()  # type: ignore[no-untyped-call]  # Bolt's


def typed(far: FarEnd, text: str) -> None:
    far.send("slash_commands", command="/incident", text=text, team_id="T1", user_id="U1", channel_id="C1")


def happened(far: FarEnd, text: str) -> None:
    far.send("events_api", type="event_callback", event={"type": "message"}, event_id="E1", text=text)


def test_however_many_events_hang_a_command_is_answered(far: FarEnd, heard: Heard) -> None:
    for n in range(30):
        happened(far, f"hangs {n}")
    typed(far, "meanwhile")
    until(lambda: far.acknowledged, what="the command waits for the events")
    assert [one["envelope_id"] for one in far.acknowledged] == ["meanwhile"]
    heard.let_go.set()
    until(lambda: len(far.acknowledged) == 31, what="an event is not acknowledged")


def test_however_many_requests_hang_a_command_is_answered_in_time_and_not_done_later(far: FarEnd, heard: Heard) -> None:
    for n in range(30):
        typed(far, f"hangs {n}")
    typed(far, "meanwhile")
    happened(far, "event")
    until(lambda: {"meanwhile", "event"} <= set(heard.left_s), what="it waits for those that hang")
    assert heard.left_s["meanwhile"] == 0, "it could not begin in time"
    until(lambda: len(far.acknowledged) == 32 - heard.hung, what="one that did not begin is not answered")
    assert len({one["envelope_id"] for one in far.acknowledged}) == len(far.acknowledged)
    heard.let_go.set()
    until(lambda: len(far.acknowledged) == 32, what="one that hung is not acknowledged")
    typed(far, "after")
    until(lambda: heard.left_s.get("after"), what="there is no thread for it")


def test_what_was_typed_while_nothing_arrived_has_no_time_left(
    far: FarEnd, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(far, "before")
    until(lambda: "before" in heard.left_s, what="it is not taken")
    clock, ahead = time.time, [0]
    monkeypatch.setattr(time, "time", lambda: clock() + ahead[0])
    with far.held():
        typed(far, "meanwhile")
        happened(far, "event")
        ahead[0] = STOOD_S
    until(lambda: {"meanwhile", "event"} <= set(heard.left_s), what="they are not taken")
    pongs = far.pongs
    until(lambda: far.pongs > pongs + 1, what="it asks Slack no more whether it is there")
    typed(far, "after")
    until(lambda: "after" in heard.left_s, what="it is not taken")
    assert 0 < heard.left_s["before"] <= answer_time.SLACK_S
    assert heard.left_s["meanwhile"] == 0
    assert heard.left_s["event"] == math.inf, "Slack sends events for an hour, and nobody repeats them"
    assert 0 < heard.left_s["after"] <= answer_time.SLACK_S
    until(lambda: len(far.acknowledged) == 4, what="one is not acknowledged")


def test_a_command_that_slack_gave_up_is_not_done_over_a_socket(door: Door) -> None:
    delivery = door.slack.acts.command("ann", "lobby", "/incident declare checkout is slow")
    with answer_time.until(time.monotonic()):
        (sent,) = handle(delivery.payload)
    assert sent.payload is not None
    assert sent.payload["text"].startswith(outage_answer.LATE)
    assert not Incident.objects.exists()


def test_a_command_that_slack_gave_up_is_not_done_over_http(door: Door) -> None:
    with answer_time.until(time.monotonic()):
        assert door.command("ann", "declare checkout is slow").startswith(outage_answer.LATE)
    assert not Incident.objects.exists()
