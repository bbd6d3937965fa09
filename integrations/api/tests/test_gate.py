"""Checks before a body is read: who sends it, and how large it is."""

from __future__ import annotations

from http.cookies import SimpleCookie

import pytest
from django.contrib.auth.models import User
from django.test import Client

from integrations.api import gate, otlp
from integrations.api.tests.conftest import Case

ADD = "/incidents/amber-otter/evidence/add"


@pytest.mark.parametrize(
    ("path", "most", "concerns"),
    [
        ("/api/v1/incidents/amber-otter/evidence", (1 << 20) + gate.MARGIN, True),
        ("/v1development/profiles", otlp.MOST, True),
        (ADD, (1 << 20) + gate.MARGIN, True),
        ("/api/v1/openapi.json", 0, True),
        ("/api/v1/incidents", 0, True),
        ("/incidents/amber-otter/evidence/1/", gate.ORDINARY, False),
        ("/incidents/amber-otter/write", gate.ORDINARY, False),
        ("/slack/events", gate.ORDINARY, False),
        ("/nowhere", 0, False),
        ("/health", 0, False),
        ("/static/firekind/mark.svg", 0, False),
    ],
)
def test_each_address_takes_what_it_needs(case: Case, path: str, most: int, concerns: bool) -> None:
    assert gate.most(path, "POST") == most
    assert gate.most(path, "GET") == 0
    assert gate.concerns(path) == concerns


def test_a_program_needs_a_token_and_a_page_a_session(case: Case) -> None:
    client = Client()
    client.force_login(User.objects.create_user("ada"))
    cookie = _sent(client.cookies)
    for path, good in (("/api/v1/x", f"Bearer {case.token()}"), ("/v1development/profiles", f"Bearer {case.token()}")):
        assert gate.check(path, authorization=good, cookie="") is None
        refusal = gate.check(path, authorization="", cookie=cookie)
        assert refusal is not None
        assert refusal.status_code == 401
    assert gate.check(ADD, authorization="", cookie=cookie) is None
    for nobody in ("", "sessionid=", "sessionid=guessed", "=;;"):
        sent_away = gate.check(ADD, authorization=f"Bearer {case.token()}", cookie=nobody)
        assert sent_away is not None
        assert sent_away["Location"].startswith("/sign-in/")


def _sent(cookies: SimpleCookie) -> str:
    return "; ".join(f"{name}={one.value}" for name, one in cookies.items())
