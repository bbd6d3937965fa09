"""Only proxies that the operator named are trusted to say where a request comes from."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

import pytest
import uvicorn
from django.test import Client
from uvicorn.main import main as command_line

from config import env
from stack.processes import commands

GIVEN = {"DATABASE_URL": "postgresql://x", "REDIS_URL": "redis://x", "SECRET_KEY": "0123456789" * 6}


def seen(peer: str, *, believed: str | None, told: str = "192.0.2.7", proto: str = "https") -> tuple[str, str]:
    """Return the address and scheme that reach the application, started like the web process."""
    argv = commands.web({} if believed is None else {"FORWARDED_ALLOW_IPS": believed})
    options = command_line.make_context("uvicorn", argv[3:]).params
    found: list[tuple[str, str]] = []

    async def program(scope: Any, receive: Any, send: Any) -> None:
        found.append((scope["client"][0], scope["scheme"]))

    config = uvicorn.Config(
        program, forwarded_allow_ips=options["forwarded_allow_ips"], proxy_headers=options["proxy_headers"]
    )
    config.load()
    headers = [(b"x-forwarded-for", told.encode()), (b"x-forwarded-proto", proto.encode())]
    scope = {"type": "http", "client": (peer, 5), "scheme": "http", "headers": headers, "method": "GET", "path": "/"}
    asyncio.run(config.loaded_app(scope, None, None))
    return found[0]


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "10.0.0.5", "172.18.0.1", ""])
@pytest.mark.parametrize("believed", [None, ""])
def test_nobody_is_believed_unless_named(peer: str, believed: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    assert seen(peer, believed=believed) == (peer, "http")


@pytest.mark.parametrize(
    ("peer", "believed", "told", "address"),
    [
        ("127.0.0.1", "127.0.0.1", "192.0.2.7", "192.0.2.7"),
        ("10.0.0.5", "10.0.0.0/8", "6.6.6.6, 192.0.2.7", "192.0.2.7"),
        ("10.0.0.5", "10.0.0.0/8, ::1", "6.6.6.6, 192.0.2.7, 10.9.9.9", "192.0.2.7"),
        ("10.0.0.5", "127.0.0.1", "192.0.2.7", "10.0.0.5"),
    ],
)
def test_who_is_named_is_believed_as_far_as_others_vouch(peer: str, believed: str, told: str, address: str) -> None:
    scheme = "https" if address != peer else "http"
    assert seen(peer, believed=believed, told=told) == (address, scheme)


@pytest.mark.parametrize("value", ["*", "everyone", "10.0.0.1/8", "127.0.0.1 ::1", "localhost"])
def test_what_is_no_address_is_refused_at_the_start(value: str) -> None:
    with pytest.raises(env.SettingError, match="FORWARDED_ALLOW_IPS must be addresses or networks"):
        env.read(GIVEN | {"FORWARDED_ALLOW_IPS": value})


def test_addresses_and_networks_are_taken() -> None:
    assert env.read(GIVEN | {"FORWARDED_ALLOW_IPS": "127.0.0.1, fd00::/8"}).proxies == "127.0.0.1, fd00::/8"


def test_a_proxy_that_is_not_believed_is_named_once_in_the_log(settings: Any, caplog: pytest.LogCaptureFixture) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, base_url="https://firekind.example")
    caplog.set_level(logging.WARNING)
    client = Client(headers={"X-Forwarded-Proto": "https"}, REMOTE_ADDR="172.18.0.1")
    for _ in range(3):
        client.get("/health")
    assert [one.getMessage() for one in caplog.records if "FORWARDED" in one.getMessage()] == [
        "172.18.0.1 says that a request came over TLS and is not believed: name it in FORWARDED_ALLOW_IPS"
    ]
