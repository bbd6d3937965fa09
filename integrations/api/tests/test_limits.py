"""The rate limit of a token, counted in the database across all doors and processes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from integrations.api import admitting
from integrations.api.tests.conftest import Case, Send
from integrations.identity import tries
from integrations.identity.models import Tries


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit each token to three requests a minute."""
    monkeypatch.setattr(admitting, "PACE", tries.TryLimit("token", 3, 60))


def test_one_too_many_is_told_when_to_come_back(case: Case, send: Send) -> None:
    secret = case.token(scopes=["incidents:read", "evidence:write"])
    address = f"/api/v1/incidents/{case.open.codename}"
    assert [send(f"{address}{part}", secret, method="GET").status_code for part in ("", "/events", "/evidence")] == [
        200
    ] * 3
    for door in ("", "/events", "/evidence"):
        answer = send(f"{address}{door}", secret, method="GET")
        assert answer.status_code == 429
        assert 1 <= int(answer["Retry-After"]) <= 60
    assert send("/v1development/profiles", secret, content_type="application/x-protobuf").status_code == 429


def test_hidden_and_absent_count_alike(case: Case, send: Send) -> None:
    secret = case.token(case.eve, scopes=["incidents:read"])
    asked = [send(f"/api/v1/incidents/{name}", secret, method="GET") for name in (case.hidden.codename, "no-such") * 3]
    assert [one.status_code for one in asked] == [404] * 3 + [429] * 3


def test_others_are_not_held_up_and_it_ends(case: Case, send: Send) -> None:
    secret = case.token(scopes=["incidents:read"])
    assert [send("/api/v1/incidents", secret, method="GET").status_code for _ in range(4)][-1] == 429
    assert send("/api/v1/incidents", case.token(scopes=["incidents:read"]), method="GET").status_code == 200
    Tries.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert send("/api/v1/incidents", secret, method="GET").status_code == 200
