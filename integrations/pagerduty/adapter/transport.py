"""The transport to PagerDuty: TLS, or plain HTTP to a stand-in on this machine only; a whole answer comes in time."""

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
    """An address that nothing may be sent to; the message says why."""


class Loopback(httpx2.BaseTransport):
    """Carries requests that the client addressed over TLS by plain HTTP to this machine.

    PagerDuty's client takes no base address but one with https://, and a stand-in has no certificate. Whatever leads
    elsewhere is always refused: the key must not leave this machine in the clear.
    """

    def __init__(self, inner: httpx2.BaseTransport | None = None) -> None:
        # Without authorities, which take megabytes and milliseconds to load and nothing here would ask.
        self.inner = inner or httpx2.HTTPTransport(trust_env=False, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request on to this machine; raise ``UnsupportedProtocol`` for anywhere else."""
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
        """Let go of the connections."""
        self.inner.close()


def way(url: str) -> tuple[str, httpx2.BaseTransport | None]:
    """Return the base address that the client is given, and what carries its requests there: None is its own way.

    Raises ``BadAddress`` for a plain address that is not this machine's.
    """
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url, None
    if parts.scheme == "http" and parts.hostname in LOOPBACK:
        return f"https://{parts.netloc}{parts.path}", Loopback()
    raise BadAddress("PagerDuty is only reached over https://; http:// is for this machine.")


@contextmanager
def within(whole_s: float) -> Iterator[None]:
    """Let a request that is made now, with its whole answer, take so long at most."""
    token = _ending.set(Ending(whole_s))
    try:
        yield
    finally:
        _ending.reset(token)


def bound(client: httpx2.Client) -> None:
    """Have every connection of a client keep to ``within``.

    httpx2 has no public way to name the network it reads from, nor a time-out of more than one byte.
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
        for begin in range(0, len(buffer), PIECE):  # its time-out would count for each of them
            self._inner.write(buffer[begin : begin + PIECE], _left(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        try:
            left = _left(timeout, httpcore2.ConnectTimeout)
        except httpcore2.ConnectTimeout:
            self.close()  # nobody else would
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
    """Resolve a name, so that each of its addresses is waited for with what is left; one of them waits for all."""
    try:
        return bounded.addresses(host, port)
    except OSError as error:
        raise httpcore2.ConnectError(str(error)) from error


def _ready(stream: httpcore2.NetworkStream) -> _Stream:
    """Return a connection to send something on, while there is time for it, and it is wanted still."""
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
