"""The doctor tries the configured mail server and sign-in providers."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar

import pytest
from django.conf import settings as project
from django.core import mail as django_mail

from config.doctor import reached
from config.parsing import mail
from integrations.identity.providers import openid
from integrations.identity.providers.provider import Provider
from integrations.identity.tests.vouching import serving

NOBODY = "127.0.0.1:1"


class Mailer(socketserver.StreamRequestHandler):
    """A mail server that accepts one password."""

    answers: ClassVar[dict[str, bytes]] = {"ehlo": b"250-mail.test\r\n250 AUTH PLAIN", "quit": b"221 bye"}

    def handle(self) -> None:
        """Greet, and answer line by line."""
        self.wfile.write(b"220 mail.test\r\n")
        for line in self.rfile:
            word = line.decode().split()[0].lower()
            taken = b"235 welcome" if line.strip().endswith(b"AGFubgByaWdodA==") else b"535 wrong password"
            self.wfile.write(self.answers.get(word, taken if word == "auth" else b"250 ok") + b"\r\n")


class Another(BaseHTTPRequestHandler):
    """A provider that identifies itself as another one."""

    def do_GET(self) -> None:
        """Return that description."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"issuer": "https://other.example"}')

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def listening(handler: type[socketserver.BaseRequestHandler]) -> Iterator[str]:
    """Serve; return the host and port."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def by_mail(settings: Any, address: str) -> list[tuple[str, str]]:
    """Set the server; return what the doctor says about it."""
    given = mail.read({"EMAIL_URL": f"smtp://{address}", "EMAIL_FROM": "firekind@acme.example"})
    settings.FIREKIND = replace(project.FIREKIND, mail=given)
    for name, value in mail.django(given).items():
        setattr(settings, name, value)
    return [(one.level, one.says) for one in reached.mail()]


def by_provider(settings: Any, issuer: str) -> list[tuple[str, str]]:
    one = Provider(key="oidc", name="Acme", issuer=issuer, client_id="firekind", client_secret="hidden")
    settings.FIREKIND = replace(project.FIREKIND, sign_in=replace(project.FIREKIND.sign_in, providers=(one,)))
    openid._read.clear()
    return [(one.level, one.says) for one in reached.sign_in()]


def test_a_server_that_takes_mail_is_fine_and_gets_none(settings: Any) -> None:
    with listening(Mailer) as address:
        assert by_mail(settings, f"ann:right@{address}") == [("ok", f"The mail server {address} can be used.")]
    assert not django_mail.outbox


@pytest.mark.parametrize("wrong", ["nobody listens", "password", "no such host"])
def test_a_server_that_cannot_be_used_is_named_without_its_password(wrong: str, settings: Any) -> None:
    with listening(Mailer) as address:
        where = {"nobody listens": NOBODY, "password": address, "no such host": "mail.invalid:25"}[wrong]
        [(level, says)] = by_mail(settings, f"ann:hidden@{where}")
    assert (level, where in says, "EMAIL_URL" in says, "hidden" in says) == ("wrong", True, True, False)
    assert ("password" in says) == (wrong == "password")


def test_a_provider_is_asked_what_it_says_about_itself(settings: Any) -> None:
    with serving() as issuer:
        assert by_provider(settings, issuer) == [("ok", "Acme answers for sign-ins.")]
    [(level, says)] = by_provider(settings, issuer)
    assert (level, "Acme isn't responding" in says, "OIDC_ISSUER" in says) == ("wrong", True, True)


def test_a_provider_that_is_another_one_is_named(settings: Any) -> None:
    with listening(Another) as address:
        [(level, says)] = by_provider(settings, f"http://{address}")
    assert (level, "different issuer" in says, "OIDC_ISSUER" in says) == ("wrong", True, True)


def test_what_is_not_set_is_not_tried(settings: Any) -> None:
    settings.FIREKIND = replace(project.FIREKIND, mail=None, sign_in=replace(project.FIREKIND.sign_in, providers=()))
    assert [one.level for one in reached.mail()] == ["ok"]
    assert not list(reached.sign_in())
