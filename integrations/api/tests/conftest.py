"""An incident that Ada declared, one that only she can see, and tokens for both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from evidence.intake import tokens
from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.tests import shipped

Send = Callable[..., Any]


@dataclass(slots=True)
class Case:
    """What the tests send to, and with which tokens."""

    ada: Person
    eve: Person
    open: Incident
    hidden: Incident

    def token(self, person: Person | None = None, *, incident: Incident | None = None, **how: Any) -> str:
        """Return the secret of a new token, Ada's by default."""
        return tokens.issue(person or self.ada, at=timezone.now(), incident=incident, **how).secret


@pytest.fixture
def case(db: None, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Two incidents, and a folder for stored files."""
    kinds = shipped.bring()
    ada = Person.objects.create(name="Ada", chat_id="UADA")
    eve = Person.objects.create(name="Eve", chat_id="UEVE")
    at = timezone.now() - timedelta(hours=1)
    opened = lifecycle.declare("Checkout is slow", by=ada, at=at, type=kinds["major"])
    hidden = lifecycle.declare("Somebody has our keys", by=ada, at=at, type=kinds["security"])
    changed = {name: getattr(settings.FIREKIND, name) for name in settings.FIREKIND.__slots__}
    kept = type(settings.FIREKIND)(**changed | {"evidence_storage": str(tmp_path / "evidence"), "evidence_max_mib": 1})
    monkeypatch.setattr(settings, "FIREKIND", kept)
    return Case(ada, eve, opened, hidden)


@pytest.fixture
def send() -> Send:
    """Send a body with a token, without anything a browser would add."""

    def sent(address: str, token: str = "", *, body: bytes = b"", method: str = "POST", **headers: str) -> Any:
        bearer = {"Authorization": f"Bearer {token}"} if token else {}
        client = Client(enforce_csrf_checks=True)
        kind = headers.pop("content_type", "application/x-www-form-urlencoded")  # what curl sends with --data-binary
        given = {"Content-Type": kind} | bearer | headers
        return client.generic(method, address, body, content_type=kind, headers=given)

    return sent
