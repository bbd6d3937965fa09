"""Before a body is taken in: whose, and how much of it."""

from __future__ import annotations

from http.cookies import SimpleCookie

import pytest
from django.contrib.auth.models import User
from django.test import Client

from integrations.api import gate, otlp
from integrations.api.tests.conftest import Case

ADD = "/incidents/amber-otter/evidence/add"


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/api/v1/incidents/amber-otter/evidence", (1 << 20) + gate.MARGIN),
        ("/v1development/profiles", otlp.MOST),
        (ADD, (1 << 20) + gate.MARGIN),
        ("/incidents/amber-otter/evidence/1/", gate.ORDINARY),
        ("/incidents/amber-otter/write", gate.ORDINARY),
        ("/slack/events", gate.ORDINARY),
    ],
)
def test_each_address_takes_what_it_needs(case: Case, path: str, most: int) -> None:
    assert gate.most(path) == most
    assert gate.concerns(path) == (most != gate.ORDINARY)


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
