"""A server that is called with a secret may redirect: the secret is not sent elsewhere, and the reason is given."""

from __future__ import annotations

import dataclasses
import logging
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import pytest
import requests

from audit import tracing
from audit.sealed import heads
from config.process.span_export import SpanExport
from integrations.identity import adapters
from integrations.slack.doors import socket_mode
from integrations.slack.management.commands import slack_socket
from integrations.slack.protocol import setup
from integrations.tests.test_broken_ways import TOKEN, serving
from integrations.tests.test_slow_ways import WIRES
from workflows.ports import VendorError

STATUSES: Final = (301, 302, 303, 307, 308)
LENGTH: Final = b"content-length: "


def asked(taken: socket.socket) -> None:
    """Read a request to its end."""
    taken.settimeout(5)
    with taken.makefile("rb") as heard:
        length = 0
        while (line := heard.readline().strip().lower()) != b"":
            length = int(line.removeprefix(LENGTH)) if line.startswith(LENGTH) else length
        heard.read(length)


def plain(url: str) -> str:
    return url.replace("https", "http")


def vendor(url: str, ask: Callable[[str, float], object]) -> str:
    with pytest.raises(VendorError) as raised:
        ask(url, 5)
    return raised.value.says


def collector(url: str, _: float) -> None:
    export = SpanExport(url, headers={"Api-Key": TOKEN}, service="here")
    spans: list[tracing.CommandSpan] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tracing, "listeners", [spans.append])
        with tracing.span("declared"):
            pass
    export._waiting.extend(spans)
    export.flush()


def head(url: str, _: float) -> None:
    heads._try(partial(heads._send, webhook=url), heads.Head(1, datetime.now(UTC), "00"))


def over_a_socket(url: str, _: float) -> None:
    given: Any = setup.current()
    handler = socket_mode.handler(dataclasses.replace(given, api_url=f"{url}/api/", app_token=TOKEN))
    try:
        handler.connect()  # type: ignore[no-untyped-call]  # Bolt's
    except Exception as broken:  # noqa: BLE001 (as the command does)
        logging.getLogger().warning(slack_socket._why(broken))
    finally:
        handler.client.close()


def provider(url: str, **given: Any) -> None:
    with adapters.Joining().get_requests_session() as session, suppress(requests.RequestException):
        session.request(url=url, **given)


ASK: Final[dict[str, Callable[[str, float], object]]] = {
    **{name: lambda url, s, ask=ask: vendor(url, ask) for name, ask in WIRES.items()},  # type: ignore[misc]
    "a collector of traces": collector,
    "a webhook for the audit's head": head,
    "Socket Mode": over_a_socket,
    "a provider, for a token": lambda url, _: provider(url, method="POST", data={"client_secret": TOKEN}),
    "a provider, for claims": lambda url, _: provider(url, method="GET", headers={"Authorization": TOKEN}),
}
SAID: Final = ("a collector of traces", "a webhook for the audit's head", "Socket Mode")


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("way", ASK)
def test_a_secret_goes_nowhere_else(way: str, status: int, caplog: pytest.LogCaptureFixture) -> None:
    came: list[int] = []

    def elsewhere(taken: socket.socket, over: threading.Event) -> None:
        came.append(1)
        asked(taken)
        taken.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")

    with serving(elsewhere) as other:

        def leads_on(taken: socket.socket, over: threading.Event) -> None:
            asked(taken)
            taken.sendall(f"HTTP/1.1 {status} Moved\r\nLocation: {plain(other)}/x\r\n".encode())
            taken.sendall(b"Content-Length: 0\r\nConnection: close\r\n\r\n")

        with serving(leads_on) as url:
            ASK[way](plain(url), 5)
    assert not came
    assert TOKEN not in caplog.text
    assert ("redirects" in caplog.text) == (way in SAID)
