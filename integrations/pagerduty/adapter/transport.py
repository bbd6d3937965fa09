"""The transport to PagerDuty: TLS, or plain HTTP to a stand-in on this machine only."""

from __future__ import annotations

import ssl
from typing import Final
from urllib.parse import urlsplit

import httpx2

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
        self._inner = inner or httpx2.HTTPTransport(trust_env=False, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))

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
        return self._inner.handle_request(plain)

    def close(self) -> None:
        """Let go of the connections."""
        self._inner.close()


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
