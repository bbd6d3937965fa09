"""A sandbox served over HTTP, and an app that records what it is sent."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from slack_sdk import WebClient

from integrations.sandbox.app import build
from integrations.sandbox.settings import PagerDutyStandIn, Settings

SECRET = "test secret"
WEBHOOK_SECRET = "test webhook secret"


@dataclass
class App:
    """The requests to the app, and its answers: status, body and seconds of delay."""

    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    answer: Callable[[bytes], tuple[int, bytes]] = lambda body: (200, b"")
    headers: dict[str, str] = field(default_factory=dict)
    url: str = ""


@dataclass
class Sandbox:
    """A running sandbox and clients for it."""

    url: str
    app: App
    client: WebClient

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Use the control door."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)  # noqa: S310 -- our own server
        try:
            with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310 -- the same
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return json.load(error)

    def act(self, name: str, **body: Any) -> Any:
        """Act as a person."""
        return self.ask("POST", f"/sandbox/{name}", body)


@pytest.fixture
def app() -> Iterator[App]:
    state = App()

    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.received.append((dict(self.headers), body))
            status, answer = state.answer(body)
            self.send_response(status)
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            with suppress(BrokenPipeError):  # the caller has given up
                self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 64

    server = Server(("127.0.0.1", 0), Door)
    state.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield state
    server.shutdown()
    server.server_close()


@pytest.fixture
def sandbox(app: App, tmp_path: Path) -> Iterator[Sandbox]:
    with serving(app, tmp_path / "sandbox.json") as running:
        yield running


class serving:  # noqa: N801 -- used as a `with` statement reads
    """Serve a sandbox in a thread for the length of the block."""

    def __init__(self, app: App, data_file: Path, **more: Any) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        port = self._socket.getsockname()[1]
        chosen = Settings(
            port=port,
            app_url=app.url,
            signing_secret=SECRET,
            data_file=data_file,
            retry_after_s=(0.05,),
            patience_s=0.3,
            pagerduty=PagerDutyStandIn(
                webhook_secrets=(WEBHOOK_SECRET,),
                data_file=data_file.with_name("pagerduty.json"),
                retry_s=(0.05,),
                patience_s=1.5,
            ),
            **more,
        )
        config = uvicorn.Config(build(chosen), log_level="critical", access_log=False, timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        client = WebClient("xoxb-sandbox", base_url=f"{chosen.own_url}/api/", retry_handlers=[], timeout=30)
        self._running = Sandbox(chosen.own_url, app, client)

    def __enter__(self) -> Sandbox:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self._running

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(5)
        self._socket.close()
