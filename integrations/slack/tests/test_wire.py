"""The wire over real HTTP, through Slack's own SDK: nothing is sent twice, and every failure has its meaning."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from integrations.sandbox.app import build
from integrations.sandbox.settings import Settings
from integrations.slack import fake
from integrations.slack.adapter.wire import Wire
from workflows.ports import VendorError

PATIENCE_S = 4  # with less, a busy machine looks like a vendor that does not answer


class Served:
    """A stand-in workspace behind HTTP, and the wire to it."""

    def __init__(self, port: int, slack: fake.FakeSlack) -> None:
        self.slack = slack
        self.wire = Wire(api_url=f"http://127.0.0.1:{port}/api/", token="xoxb-sandbox", timeout_s=PATIENCE_S)

    def count(self, method: str) -> int:
        """Return how often a method was called."""
        return self.slack.calls.count(method)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    program = build(Settings(port=port, app_url="http://127.0.0.1:9"))
    config = uvicorn.Config(program, log_level="critical", access_log=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    app = program.app
    yield Served(port, app.state.slack)  # type: ignore[attr-defined]  # Starlette's, behind the layer that hangs up
    server.should_exit = True
    thread.join(5)
    listening.close()


def test_a_call_and_its_answer(served: Served) -> None:
    answer = served.wire.call("auth.test")
    assert answer["user_id"] == fake.BOT_USER
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "*hi*"}}]
    posted = served.wire.call("chat.postMessage", channel="#incidents", text="hi", blocks=blocks, thread_ts=None)
    assert served.slack.channel("incidents").messages[posted["ts"]].blocks[0]["text"]["text"] == "*hi*"


@pytest.mark.parametrize(
    ("kind", "code", "unknown"),
    [
        ("drop", "connection_lost", True),
        ("drop_before", "connection_lost", True),
        ("fatal_error", "fatal_error", True),
        ("server_error", None, True),
        ("ratelimited", "ratelimited", False),
    ],
)
def test_a_call_that_fails_is_not_sent_again(served: Served, kind: str, code: str | None, unknown: bool) -> None:
    served.slack.faults.add(kind, method="conversations.create", retry_after_s=11)
    with pytest.raises(VendorError) as caught:
        served.wire.call("conversations.create", name="inc-a-b")
    error = caught.value
    assert (error.retryable, error.unknown) == (True, unknown)
    assert code in (None, error.code)
    assert error.retry_after == (11 if kind == "ratelimited" else None)
    assert served.count("conversations.create") == 1


def test_an_answer_that_does_not_come_in_time_is_unknown(served: Served) -> None:
    served.slack.faults.add("latency", method="conversations.create", ms=PATIENCE_S * 1_500)
    with pytest.raises(VendorError) as caught:
        served.wire.call("conversations.create", name="inc-a-b")
    assert (caught.value.code, caught.value.unknown) == ("connection_lost", True)
    assert caught.value.lingers, "it may still be carried out"


def test_a_connection_that_was_never_made_did_nothing() -> None:
    with pytest.raises(VendorError) as caught:
        Wire(api_url="http://127.0.0.1:9/api/", token="xoxb-sandbox", timeout_s=1).call("auth.test")
    assert (caught.value.code, caught.value.retryable, caught.value.unknown) == ("connection_failed", True, False)


def test_an_answer_through_an_interactions_own_address(served: Served) -> None:
    delivery = served.slack.acts.command("ada", "incidents", "/incident help")
    served.wire.respond(delivery.payload["response_url"], text="hello", response_type="ephemeral", blocks=None)
    assert served.slack.ephemerals("ada")[-1].text == "hello"
    with pytest.raises(VendorError):
        served.wire.respond(f"{delivery.payload['response_url']}x", text="hello")


def test_something_that_is_not_slack_at_the_other_end(served: Served) -> None:
    url = served.wire._web.base_url.replace("/api/", "/health?")
    with pytest.raises(VendorError) as caught:
        Wire(api_url=url, token="xoxb-sandbox").call("auth.test")
    assert caught.value.retryable
    assert len(caught.value.code) < 40
