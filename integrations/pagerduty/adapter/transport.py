"""The transport to PagerDuty: TLS, or plain HTTP to a stand-in on this machine, with a limit on the whole answer."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final
from urllib.parse import urlsplit

import httpcore2
import httpx2

from incidents.claiming import in_hand
from integrations import bounded
from integrations.bounded import PIECE, Ending

_ending: ContextVar[Ending | None] = ContextVar("ending", default=None)
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class BadAddress(ValueError):
    """A URL that nothing may be sent to; the message says why."""


class Loopback(httpx2.BaseTransport):
    """Sends requests that the client addressed to https:// over plain HTTP to this machine.

    PagerDuty's client accepts only https:// base URLs, and a stand-in has no certificate. Requests to any other host
    are always refused, because the key must not leave this machine unencrypted.
    """

    def __init__(self, inner: httpx2.BaseTransport | None = None) -> None:
        # Without CA certificates: loading them takes megabytes and milliseconds, and plain HTTP uses none.
        self.inner = inner or httpx2.HTTPTransport(trust_env=False, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to this machine. Raises ``UnsupportedProtocol`` for any other host."""
        if request.url.scheme != "https" or request.url.host not in LOOPBACK:
            raise httpx2.UnsupportedProtocol("only this machine is reached without TLS", request=request)
        plain = httpx2.Request(
            request.method,
            request.url.copy_with(scheme="http"),
            headers=request.headers,
            stream=request.stream,
            extensions=request.extensions,
        )
        return self.inner.handle_request(plain)

    def close(self) -> None:
        """Close the connections."""
        self.inner.close()


def way(url: str) -> tuple[str, httpx2.BaseTransport | None]:
    """Return the base URL for the client, and the transport for its requests; None means its own.

    Raises ``BadAddress`` for a plain http:// URL of another machine.
    """
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url, None
    if parts.scheme == "http" and parts.hostname in LOOPBACK:
        return f"https://{parts.netloc}{parts.path}", Loopback()
    raise BadAddress("PagerDuty is only reached over https://; http:// is for this machine.")


@contextmanager
def within(whole_s: float) -> Iterator[None]:
    """Limit how long a request made in this block may take, including its whole answer."""
    token = _ending.set(Ending(whole_s))
    try:
        yield
    finally:
        _ending.reset(token)


def bound(client: httpx2.Client) -> None:
    """Make every connection of a client respect ``within``.

    httpx2 has no public way to set its network backend, nor a time-out that covers more than one byte.
    """
    own = client._transport  # noqa: SLF001 (said above; a test of a server that trickles holds it)
    for way in (own.inner if isinstance(own, Loopback) else own, *client._mounts.values()):  # noqa: SLF001 (the same)
        if isinstance(way, httpx2.HTTPTransport):
            pool = way._pool  # noqa: SLF001 (the same)
            pool._network_backend = _Network(pool._network_backend)  # noqa: SLF001 (the same)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for begin in range(0, len(buffer), PIECE):  # the time-out restarts for each chunk
            self._inner.write(buffer[begin : begin + PIECE], _left(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        try:
            left = _left(timeout, httpcore2.ConnectTimeout)
        except httpcore2.ConnectTimeout:
            self.close()  # nothing else would
            raise
        return _ready(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Network(httpcore2.NetworkBackend):
    def __init__(self, inner: httpcore2.NetworkBackend) -> None:
        self._inner = inner

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        failed: Exception | None = None
        for address in _addresses(host, port):
            left = _left(timeout, httpcore2.ConnectTimeout)
            try:
                return _ready(self._inner.connect_tcp(address, port, left, local_address, socket_options))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = failed or error
        raise failed or httpcore2.ConnectError("the name has no address")


def _addresses(host: str, port: int) -> list[str]:
    """Resolve a host name, so that each address gets the time that is left; connecting to the name tries them all."""
    try:
        return bounded.addresses(host, port)
    except OSError as error:
        raise httpcore2.ConnectError(str(error)) from error


def _ready(stream: httpcore2.NetworkStream) -> _Stream:
    """Return a stream to send on, if there is time left and the request is still wanted."""
    try:
        _left(None, httpcore2.ConnectTimeout)
        in_hand.before_sending()
    except BaseException:
        stream.close()
        raise
    return _Stream(stream)


def _left(patience_s: float | None, late: type[httpcore2.TimeoutException]) -> float | None:
    ending = _ending.get()
    try:
        return ending.left(patience_s) if ending else patience_s
    except TimeoutError as error:
        raise late(*error.args) from error
