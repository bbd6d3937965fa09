"""A loopback server that answers every request with the same bytes, like a proxy or a broken vendor."""

from __future__ import annotations

import gzip
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

LENGTH: Final = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
PATIENCE_S: Final = 5


def reply(status: int, body: bytes = b"", **headers: str) -> bytes:
    """Return an answer's bytes on the wire."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close", **named}
    return b"".join([f"HTTP/1.1 {status} X\r\n".encode(), *_lines(lines), b"\r\n", body])


def _lines(headers: Mapping[str, str]) -> Iterator[bytes]:
    return (f"{name}: {value}\r\n".encode() for name, value in headers.items())


PAGE: Final = b"<html><body>Sign in to the network</body></html>"
HTML: Final = "text/html; charset=utf-8"
CHUNKED: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n"

# Answers that no vendor gives to any request.
FOREIGN: Final[dict[str, bytes]] = {
    **{f"a page with {status}": reply(status, PAGE, Content_Type=HTML) for status in (200, 403, 404, 407, 502, 503)},
    **{f"nothing with {status}": reply(status) for status in (200, 201, 202)},
    "half of its JSON": reply(200, b'{"ok": true, "channel": {"id": "C1'),
    "less than it said": reply(200, b'{"ok": true}', Content_Length="500"),
    "null": reply(200, b"null"),
    "a word": reply(200, b'"ok"'),
    "a number": reply(200, b"3"),
    "a list of numbers": reply(200, b"[1]"),
    "an empty object": reply(200, b"{}"),
    "another one's object": reply(200, b'{"message": "sign in"}'),
    "brackets without end": reply(200, b"[" * 100_000),
    "what says that it is packed": reply(200, b"\x1f\x8bgarbage", Content_Encoding="gzip"),
    "half of what is packed": reply(200, gzip.compress(bytes(range(256)) * 9)[:99], Content_Encoding="gzip"),
    "what is packed and does not say so": reply(200, gzip.compress(b'{"ok": true}')),
    "bytes of another type": reply(200, b"\x1f\x8bxx", Content_Type="application/gzip"),
    "what is no text": reply(200, b'{"ok": "\xff\xfe"}'),
    "what is no text, with 502": reply(502, b"\xff\xfe"),
    "an unknown encoding": reply(502, b"{}", Content_Type="application/json; charset=none"),
    "no HTTP": b"\x15\x03\x01\x00\x02\x02\x46",
    "no chunk": CHUNKED + b"zz\r\n{}\r\n",
    "half a chunk": CHUNKED + b'5\r\n{"ok',
    "not a byte": b"",
    "another place": reply(302, b"", Location="/elsewhere"),
    "a place that is none": reply(302, b"", Location="http://[none/"),
    "no place": reply(307),
}
# Rate limits, by their Retry-After.
WAITS: Final = ("inf", "nan", "99999999999", "Wed, 21 Oct 2026 07:28:00 GMT", "-5", "")


class SameAnswer:
    """Answers everyone with ``says``; ``heard`` are the heads of the requests."""

    def __init__(self) -> None:
        self.says = b""
        self.heard: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def run(self) -> None:
        """Answer one connection after the other until closed."""
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(PATIENCE_S)
                self._answer(connection)

    def close(self) -> None:
        """Stop answering."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _answer(self, connection: socket.socket) -> None:
        try:
            self._hear(connection)
            connection.sendall(self.says)
        except OSError:
            return  # the client has seen enough

    def _hear(self, connection: socket.socket) -> None:
        heard = b""
        while b"\r\n\r\n" not in heard and (more := connection.recv(1 << 16)):
            heard += more
        head, _, body = heard.partition(b"\r\n\r\n")
        self.heard.append(head)
        said = LENGTH.search(head)
        while said and len(body) < int(said[1]) and (more := connection.recv(1 << 16)):
            body += more


@contextmanager
def answering() -> Iterator[SameAnswer]:
    """Serve for the length of a block."""
    server = SameAnswer()
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(PATIENCE_S)
