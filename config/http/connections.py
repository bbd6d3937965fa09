"""Connections cannot be held open for nothing: limits on headers, on time, and on the number of connections.

uvicorn with httptools has no limit on headers, copies a header again with every piece of it that arrives, and has no
time-out other than the one between two requests. The limits on a request's body are in `request_body`.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES: Final = 64 * 1024  # for a request's line and headers, and for any other bytes that lead to no request
HEAD_S: Final = 10.0  # from a connection's start, or a further request's first byte, to the end of its headers
UNREAD_S: Final = 20.0  # within which a reader must take at least some of what is sent
KEPT_FILES: Final = 128  # file descriptors that connections leave for everything else
HEAD, READER = "head", "reader"
TOO_LARGE: Final = "The request's headers are too large."
TOO_SLOW: Final = "The request took too long to arrive."
STATUS: Final = {TOO_LARGE: b"431 Request Header Fields Too Large", TOO_SLOW: b"408 Request Timeout"}


class HeadTooLarge(Exception):
    """A request's headers exceed the limit."""


def raise_file_limit() -> None:
    """Raise this process's limit of open files, and so of connections, to the maximum allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Connection(HttpToolsProtocol):
    """A connection that ends if it sends too much or too little; the one idle longest also ends if others need its
    place.

    uvicorn's own limit answers 503 to everyone once it is reached, so that idle connections would shut everyone out.
    This one makes room instead, by ending the connections that have kept us waiting longest.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.idle_since: float | None = None  # set while we wait for the other side
        self._in_head = True
        self._head_bytes = 0
        self._fruitless = 0
        self._unread = 0
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept a connection; if there are too many, end the one that has been idle longest."""
        super().connection_made(transport)  # type: ignore[arg-type]  # as uvicorn narrows it
        self._make_room()
        self.idle_since = self.loop.time()
        self._within(HEAD_S, HEAD, self._head_is_late)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._forget(HEAD)
        self._forget(READER)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read incoming data, as long as it leads to requests."""
        if self._in_head and HEAD not in self._timers:
            self._within(HEAD_S, HEAD, self._head_is_late)  # a further request has begun
        self._fruitless += len(data)
        super().data_received(data)
        if self._fruitless > HEAD_BYTES and not self.transport.is_closing():
            self._refuse(TOO_LARGE)

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be parsed; uvicorn also calls this when a callback raises."""
        if self._head_bytes > HEAD_BYTES:
            self._refuse(TOO_LARGE)
        else:
            super().send_400_response(msg)

    def on_url(self, url: bytes) -> None:
        """Count a piece of the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header or trailer."""
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start answering; the time for the body is checked where it is read."""
        self._in_head, self._fruitless, self._head_bytes = False, 0, 0
        self._forget(HEAD)
        self.idle_since = None
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass on a piece of the body."""
        self._fruitless = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Wait for the next request."""
        self._in_head, self._fruitless, self._head_bytes = True, 0, 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Idle until the next request, within uvicorn's time-out, and until the response has been read."""
        super().on_response_complete()
        if not self._is_answering():
            self.idle_since = self.loop.time()
        if self.transport.get_write_buffer_size():
            self._watch_reader()

    def timeout_keep_alive_handler(self) -> None:
        """End a connection without further requests, even if the client never reads what was sent."""
        super().timeout_keep_alive_handler()
        self._watch_reader()

    def pause_writing(self) -> None:
        """Wait for a slow reader, as long as it reads something now and then."""
        super().pause_writing()
        self.idle_since = self.loop.time()
        self._watch_reader()

    def resume_writing(self) -> None:
        """Continue writing."""
        super().resume_writing()
        self._forget(READER)
        if self._is_answering():
            self.idle_since = None

    def end(self) -> None:
        """Close the connection immediately, and stop counting it."""
        self.connections.discard(self)
        self.transport.abort()

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > HEAD_BYTES:
            raise HeadTooLarge

    def _make_room(self) -> None:
        if self.limit_concurrency is None or len(self.connections) < min(self.limit_concurrency, _files()):
            return
        idle = [one for one in self.connections if isinstance(one, Connection) and one.idle_since is not None]
        if idle:
            min(idle, key=lambda one: one.idle_since or 0.0).end()

    def _is_answering(self) -> bool:
        return not getattr(self.cycle, "response_complete", True)  # there is none before the first request

    def _head_is_late(self) -> None:
        if self._fruitless:
            self._refuse(TOO_SLOW)
        else:
            self.transport.close()

    def _watch_reader(self) -> None:
        self._unread = self.transport.get_write_buffer_size()
        self._within(UNREAD_S, READER, self._reader_is_late)

    def _reader_is_late(self) -> None:
        if not (left := self.transport.get_write_buffer_size()):
            return
        if left >= self._unread:
            self.transport.abort()
        else:
            self._watch_reader()

    def _refuse(self, says: str) -> None:
        if self._is_answering() and self.cycle.response_started:
            self.transport.abort()  # a response cannot be put into the middle of another
            return
        said = f"{says}\n".encode()
        head = [b"HTTP/1.1 %s" % STATUS[says], b"content-type: text/plain", b"content-length: %d" % len(said)]
        self.transport.write(b"\r\n".join([*head, b"connection: close", b"", said]))
        self.transport.close()
        self._watch_reader()

    def _within(self, seconds: float, what: str, late: Callable[[], None]) -> None:
        self._forget(what)
        self._timers[what] = self.loop.call_later(seconds, self._late, what, late)

    def _late(self, what: str, late: Callable[[], None]) -> None:
        del self._timers[what]
        late()

    def _forget(self, what: str) -> None:
        if timer := self._timers.pop(what, None):
            timer.cancel()


def _files() -> int:
    """Return how many connections the limit of open files leaves room for."""
    return max(KEPT_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - KEPT_FILES)
