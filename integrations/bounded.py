"""Connections that limit how long a whole answer may take, however slowly its bytes arrive.

A socket time-out restarts with every byte, so an answer that trickles in, for example through a broken proxy, could
hold its thread indefinitely. The time-out also restarts for each address of a host name, and for each chunk of a body
sent over TLS.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, cast

from incidents.claiming import in_hand

TIMES: Final = 2  # an answer as a whole may take this many times the time-out of one byte
LARGEST: Final = 1 << 26  # bytes; far above any JSON answer of a vendor
PIECE: Final = 1 << 14  # bytes that TLS sends at once


class NotReached(TimeoutError):
    """No connection was made in time, so nothing was sent."""


# A connection that was never made cannot have changed anything; one that broke later may have.
NEVER_SENT: Final = (ConnectionRefusedError, socket.gaierror, NotReached)


class Ending:
    """The deadline for a whole answer, counted from the moment this is created."""

    def __init__(self, whole_s: float) -> None:
        self._at = time.monotonic() + whole_s

    def left(self, patience_s: float | None) -> float:
        """Return how many seconds to wait for the next byte. Raises ``TimeoutError`` once the deadline has passed."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer as a whole took too long")
        return left if patience_s is None else min(patience_s, left)


class _Reading(io.RawIOBase):
    """Reads from a socket, waiting no longer than the time left until the deadline."""

    def __init__(self, sock: socket.socket, ending: Ending, patience_s: float | None) -> None:
        self._sock, self._ending, self._patience_s = sock, ending, patience_s
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(self._ending.left(self._patience_s))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Socket:
    """A socket that sends its request and reads its answer before the deadline, or raises."""

    def __init__(self, sock: socket.socket, ending: Ending, patience_s: float | None) -> None:
        self._sock, self._ending, self._patience_s = sock, ending, patience_s

    def makefile(self, mode: str = "rb") -> io.BufferedReader:
        assert mode == "rb", "http.client reads answers so"
        return io.BufferedReader(_Reading(self._sock, self._ending, self._patience_s))

    def sendall(self, data: bytes) -> None:
        """Send all data in chunks, because a time-out restarts for each chunk that TLS sends."""
        left = memoryview(data)
        while left:
            self._sock.settimeout(self._ending.left(self._patience_s))
            self._sock.sendall(left[:PIECE])
            left = left[PIECE:]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)


def addresses(host: str, port: int) -> list[str]:
    """Return the distinct addresses of a host name, since each can cost a time-out. Raises ``OSError``."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


@contextmanager
def asking_a_proxy(connection: http.client.HTTPConnection, ending: Ending, patience_s: float) -> Iterator[None]:
    """Apply the deadline to the proxy's answer to CONNECT as well."""
    plain = connection.sock
    connection.sock = keeping(plain, ending, patience_s)
    yield
    connection.sock = plain


def keeping(sock: socket.socket, ending: Ending, patience_s: float | None) -> socket.socket:
    """Return a socket that sends and reads before the deadline, or raises."""
    return cast("socket.socket", _Socket(sock, ending, patience_s))


class TimedConnection(http.client.HTTPConnection):
    """A plain HTTP connection for one request, which takes at most ``times`` times its time-out in total."""

    def __init__(self, *args: Any, times: float = TIMES, **more: Any) -> None:
        super().__init__(*args, **more)
        self._times = times

    def connect(self) -> None:
        """Connect, and start the deadline for the whole exchange.

        Raises ``NotReached``, and ``OutOfHand`` when the request is no longer wanted.
        """
        patience_s = cast("float", self.timeout)
        self._ending = ending = Ending(self._times * patience_s)
        self._create_connection = partial(_connected, ending=ending)
        try:
            super().connect()
            ending.left(patience_s)
        except TimeoutError as error:
            raise NotReached(*error.args) from error
        self.sock = keeping(self.sock, ending, patience_s)
        in_hand.before_sending()

    def _tunnel(self) -> None:
        """Ask the proxy to open the tunnel."""
        with asking_a_proxy(self, self._ending, cast("float", self.timeout)):
            super()._tunnel()  # type: ignore[misc]  # of http.client, which typeshed does not name


def _connected(
    address: tuple[str, int], timeout: float, source_address: tuple[str, int] | None = None, *, ending: Ending
) -> socket.socket:
    """Connect to the first address of a host name that accepts, within the time left."""
    failed: OSError | None = None
    host, port = address
    for one in addresses(host, port):
        left = ending.left(timeout)
        try:
            sock = socket.create_connection((one, port), left, source_address)
        except OSError as error:
            failed = failed or error
        else:
            sock.settimeout(ending.left(timeout))  # for the TLS handshake
            return sock
    raise failed or OSError("the name has no address")


class TimedTlsConnection(TimedConnection, http.client.HTTPSConnection):
    """The same, over TLS."""


def whole(answer: http.client.HTTPResponse, *, most: int = LARGEST) -> bytes:
    """Return the body of an answer. Raises ``HTTPException`` if it is longer than ``most`` or incomplete."""
    body = answer.read(most + 1)
    if len(body) > most:
        raise http.client.HTTPException("the answer is too large")
    if answer.length:  # `read` with a limit does not report a body that was cut short
        raise http.client.IncompleteRead(body, answer.length)
    return body


class Plainly(urllib.request.HTTPHandler):
    """Opens http:// URLs on connections with a deadline."""

    def __init__(self, *, times: float = TIMES) -> None:
        super().__init__()
        self._times = times

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open a URL."""
        return self.do_open(TimedConnection, req, times=self._times)


class OverTls(urllib.request.HTTPSHandler):
    """Opens https:// URLs on connections with a deadline."""

    def __init__(self, context: ssl.SSLContext, *, times: float = TIMES) -> None:
        super().__init__(context=context)
        self._tls, self._times = context, times

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open a URL."""
        return self.do_open(TimedTlsConnection, req, context=self._tls, times=self._times)
