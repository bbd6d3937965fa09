"""The server for every stand-in."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@dataclass(slots=True)
class SourceRequest:
    """One request."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes

    def one(self, name: str, default: str = "") -> str:
        """Return a parameter's single value."""
        return self.query.get(name, [default])[0]


@dataclass(slots=True)
class SourceReply:
    """An answer."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class Fake:
    """A stand-in: it records its requests, and gives the answers in ``next`` first, if there are any."""

    def __init__(self) -> None:
        self.asked: list[SourceRequest] = []
        self.next: list[SourceReply] = []

    def answer(self, asked: SourceRequest) -> SourceReply:
        """Answer as the real one would."""
        raise NotImplementedError

    def handle(self, asked: SourceRequest) -> SourceReply:
        """Record a request and answer it."""
        self.asked.append(asked)
        return self.next.pop(0) if self.next else self.answer(asked)


@contextmanager
def serving(fake: Fake) -> Iterator[str]:
    """Serve a stand-in on a free port of the loopback for the length of a block; yield its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(fake: Fake) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = SourceRequest(self.command, parts.path, parse_qs(parts.query), dict(self.headers), body)
            reply = fake.handle(asked)
            try:
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)
            except OSError:
                return  # the client has disconnected

        do_POST = do_GET  # noqa: N815  # the name that http.server looks for

        def log_message(self, *words: object) -> None:
            """Log nothing."""

    return Handler
