"""A real provider of OpenID Connect on this machine, in a process of its own, which vouches for whom the tests like."""

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

# Listens, says on which port, and serves until its input is closed.
SERVE = """
import sys, oidc_provider_mock
with oidc_provider_mock.run_server_in_thread() as server:
    print(server.server_port, flush=True)
    sys.stdin.read()
"""


@contextmanager
def serving() -> Iterator[str]:
    """Start the provider; give its issuer."""
    argv = [sys.executable, "-W", "ignore", "-c", SERVE]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=null, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield f"http://localhost:{int(server.stdout.readline())}"
        server.stdin.close()


@dataclass(frozen=True, slots=True)
class Vouching:
    """A real provider on this machine, and people who sign in there."""

    url: str

    def knows(self, sub: str, **claims: Any) -> None:
        """Let somebody have an account there."""
        httpx.put(f"{self.url}/users/{sub}", json=claims).raise_for_status()

    def asks(self, client: Client, **given: str) -> str:
        """Begin at our page; return where it sends people."""
        page = client.post("/sign-in/with/oidc", given)
        assert page.status_code == 200, page.content.decode()
        return str(page.context["address"])

    def answers(self, address: str, sub: str) -> str:
        """Sign in at the provider; return where it sends people back to, from its path on."""
        sent = httpx.post(address, data={"sub": sub})
        parts = urlsplit(sent.headers["location"])
        return f"{parts.path}?{parts.query}"

    def signs_in(self, client: Client, sub: str, **given: str) -> HttpResponse:
        """Go all the way."""
        return client.get(self.answers(self.asks(client, **given), sub))  # type: ignore[return-value]  # a response that tells more


def asked(address: str, name: str) -> str:
    """Return what an address asks for."""
    return parse_qs(urlsplit(address).query)[name][0]
