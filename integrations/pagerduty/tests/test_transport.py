"""Which URLs requests may go to: any host over TLS, only this machine without it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import httpx2
import pytest

from integrations.pagerduty.adapter.transport import BadAddress, Loopback, way
from integrations.pagerduty.adapter.wire import EventsWire, Wire


@pytest.mark.parametrize("url", ["https://api.pagerduty.com", "https://api.eu.pagerduty.com", "https://127.0.0.1:8"])
def test_an_address_with_tls_is_left_to_the_client(url: str) -> None:
    assert way(url) == (url, None)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://127.0.0.1:8001/pagerduty/api", "https://127.0.0.1:8001/pagerduty/api"),
        ("http://localhost", "https://localhost"),
        ("http://[::1]:9/x", "https://[::1]:9/x"),
    ],
)
def test_a_plain_address_of_this_machine_is_carried_there(url: str, base: str) -> None:
    given, carrier = way(url)
    assert given == base
    assert isinstance(carrier, Loopback)


@pytest.mark.parametrize(
    "url",
    [
        "http://api.pagerduty.com",
        "http://127.0.0.1.example.com",
        "http://127.0.0.1@example.com/",
        "http://192.168.0.1",
        "http://0.0.0.0",
        "ftp://127.0.0.1",
        "127.0.0.1",
        "",
        "https://",
        "HTTP://example.com",
    ],
)
def test_any_other_address_is_refused(url: str) -> None:
    with pytest.raises(BadAddress, match="https://"):
        way(url)
    with pytest.raises(BadAddress):
        Wire(api_url=url, api_key="key", sender="a@example.com")
    with pytest.raises(BadAddress):
        EventsWire(events_url=url, routing_key="r" * 32)


@pytest.mark.parametrize("url", ["https://api.pagerduty.com/users", "http://127.0.0.1/users", "https://10.0.0.1/"])
def test_the_way_without_tls_leads_nowhere_else_whoever_asks(url: str) -> None:
    def never(request: httpx2.Request) -> httpx2.Response:
        raise AssertionError(request.url)

    with pytest.raises(httpx2.UnsupportedProtocol):
        Loopback(httpx2.MockTransport(never)).handle_request(httpx2.Request("GET", url))


class Answering(BaseHTTPRequestHandler):
    """Answers every request with the path it asked for."""

    asked: ClassVar[list[tuple[str, str, dict[str, str]]]] = []

    def do_GET(self) -> None:
        """Answer one request."""
        self.asked.append((self.command, self.path, dict(self.headers)))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"abilities": ["teams"]}')

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    Answering.asked.clear()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join(5)


def test_a_stand_in_below_a_path_is_reached_past_any_proxy(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    wire = Wire(api_url=f"http://127.0.0.1:{port}/pagerduty/api", api_key="sandbox", sender="a@example.com")
    assert wire.call("GET", "/abilities") == {"abilities": ["teams"]}
    (method, path, headers), *more = Answering.asked
    assert (method, path, more) == ("GET", "/pagerduty/api/abilities", [])
    sent = {name.lower(): value for name, value in headers.items()}
    assert (sent["authorization"], sent["from"]) == ("Token token=sandbox", "a@example.com")
    assert sent["host"] == f"127.0.0.1:{port}"
    wire.close()
