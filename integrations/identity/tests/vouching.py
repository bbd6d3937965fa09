"""A real OpenID Connect provider in its own process on this machine, which vouches for anyone the tests choose."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from django.http import HttpResponse
from django.test import Client

# Listens, prints its port, and serves until its input is closed.
SERVE = """
import sys, oidc_provider_mock
with oidc_provider_mock.run_server_in_thread() as server:
    print(server.server_port, flush=True)
    sys.stdin.read()
"""


@contextmanager
def serving() -> Iterator[str]:
    """Start the provider and yield its issuer."""
    argv = [sys.executable, "-W", "ignore", "-c", SERVE]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=null, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield f"http://localhost:{int(server.stdout.readline())}"
        server.stdin.close()


@dataclass(frozen=True, slots=True)
class Vouching:
    """The provider on this machine, and people who sign in there."""

    url: str

    def knows(self, sub: str, **claims: Any) -> None:
        """Create an account at the provider."""
        httpx.put(f"{self.url}/users/{sub}", json=claims).raise_for_status()

    def asks(self, client: Client, **given: str) -> str:
        """Start at our sign-in page; return where it redirects to."""
        page = client.post("/sign-in/with/oidc", given)
        assert page.status_code == 200, page.content.decode()
        return str(page.context["address"])

    def answers(self, address: str, sub: str) -> str:
        """Sign in at the provider; return the path and query that it redirects back to."""
        sent = httpx.post(address, data={"sub": sub})
        parts = urlsplit(sent.headers["location"])
        return f"{parts.path}?{parts.query}"

    def signs_in(self, client: Client, sub: str, **given: str) -> HttpResponse:
        """Do the whole sign-in."""
        return client.get(self.answers(self.asks(client, **given), sub))  # type: ignore[return-value]  # a response that tells more


def asked(address: str, name: str) -> str:
    """Return a query parameter of a URL."""
    return parse_qs(urlsplit(address).query)[name][0]
