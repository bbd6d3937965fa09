"""Connections on which a whole answer has to come in time, however slowly its bytes do.

A time-out counts from one byte to the next: an answer that trickles, as one does through a broken proxy, would hold
the thread that waits for it for as long as it likes. It counts for each of a name's addresses, too, and for each piece
of a body that is sent over TLS.
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

TIMES: Final = 2  # so many time-outs, of one byte each, may an answer take as a whole
LARGEST: Final = 1 << 26  # bytes that no vendor's answer in JSON comes near
PIECE: Final = 1 << 14  # what TLS sends at once


class NotReached(TimeoutError):
    """There was no connection in time: nothing was sent."""


# A connection that was never made did nothing; every other broken one may have.
NEVER_SENT: Final = (ConnectionRefusedError, socket.gaierror, NotReached)


class Ending:
    """When an answer has to be whole: counted from now."""

    def __init__(self, whole_s: float) -> None:
        self._at = time.monotonic() + whole_s

    def left(self, patience_s: float | None) -> float:
        """Return how long the next byte may be waited for; raise ``TimeoutError`` where it would come too late."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer as a whole took too long")
        return left if patience_s is None else min(patience_s, left)


class _Reading(io.RawIOBase):
    """Reads what a socket brings, each time for as long as is left."""

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
    """A socket that takes a request and gives its answer in time or not at all."""

    def __init__(self, sock: socket.socket, ending: Ending, patience_s: float | None) -> None:
        self._sock, self._ending, self._patience_s = sock, ending, patience_s

    def makefile(self, mode: str = "rb") -> io.BufferedReader:
        assert mode == "rb", "http.client reads answers so"
        return io.BufferedReader(_Reading(self._sock, self._ending, self._patience_s))

    def sendall(self, data: bytes) -> None:
        """Send all of it, piece by piece: over TLS a time-out would count for each of them."""
        left = memoryview(data)
        while left:
            self._sock.settimeout(self._ending.left(self._patience_s))
            self._sock.sendall(left[:PIECE])
            left = left[PIECE:]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)


def addresses(host: str, port: int) -> list[str]:
    """Return the addresses of a name, each once: each may be waited for. Raises ``OSError``."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


@contextmanager
def asking_a_proxy(connection: http.client.HTTPConnection, ending: Ending, patience_s: float) -> Iterator[None]:
    """Have what a proxy answers before it leads on come in time as well."""
    plain = connection.sock
    connection.sock = keeping(plain, ending, patience_s)
    yield
    connection.sock = plain


def keeping(sock: socket.socket, ending: Ending, patience_s: float | None) -> socket.socket:
    """Have a socket take what is sent, and give what is answered, in time or not at all."""
    return cast("socket.socket", _Socket(sock, ending, patience_s))


class TimedConnection(http.client.HTTPConnection):
    """A connection for one request, in the clear; the whole takes so many time-outs at most."""

    def __init__(self, *args: Any, times: float = TIMES, **more: Any) -> None:
        super().__init__(*args, **more)
        self._times = times

    def connect(self) -> None:
        """Connect; the whole comes in time from then on.

        Raises ``NotReached``, and ``OutOfHand`` where nobody wants it any more.
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
        """Ask a proxy to lead on."""
        with asking_a_proxy(self, self._ending, cast("float", self.timeout)):
            super()._tunnel()  # type: ignore[misc]  # of http.client, which typeshed does not name


def _connected(
    address: tuple[str, int], timeout: float, source_address: tuple[str, int] | None = None, *, ending: Ending
) -> socket.socket:
    """Connect to the first address of a name that takes it, with what is left for each."""
    failed: OSError | None = None
    host, port = address
    for one in addresses(host, port):
        left = ending.left(timeout)
        try:
            sock = socket.create_connection((one, port), left, source_address)
        except OSError as error:
            failed = failed or error
        else:
            sock.settimeout(ending.left(timeout))  # of the handshake
            return sock
    raise failed or OSError("the name has no address")


class TimedTlsConnection(TimedConnection, http.client.HTTPSConnection):
    """The same over TLS."""


def whole(answer: http.client.HTTPResponse, *, most: int = LARGEST) -> bytes:
    """Return the bytes of an answer; raise ``HTTPException`` for one that is longer, or shorter than it says."""
    body = answer.read(most + 1)
    if len(body) > most:
        raise http.client.HTTPException("the answer is too large")
    if answer.length:  # a read with a limit does not say so itself
        raise http.client.IncompleteRead(body, answer.length)
    return body


class Plainly(urllib.request.HTTPHandler):
    """Opens plain addresses on such connections."""

    def __init__(self, *, times: float = TIMES) -> None:
        super().__init__()
        self._times = times

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open an address."""
        return self.do_open(TimedConnection, req, times=self._times)


class OverTls(urllib.request.HTTPSHandler):
    """Opens addresses over TLS on such connections."""

    def __init__(self, context: ssl.SSLContext, *, times: float = TIMES) -> None:
        super().__init__(context=context)
        self._tls, self._times = context, times

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open an address."""
        return self.do_open(TimedTlsConnection, req, context=self._tls, times=self._times)
