"""An incident and its people, and evidence that was read."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from evidence.intake import digesting, receiving
from evidence.models import Evidence
from incidents.models import Incident, Person
from incidents.tests.conftest import ada, ben, browse, eve, incident, secret, shipped

__all__ = ["ada", "ben", "browse", "eve", "incident", "secret", "shipped"]

Bring = Callable[..., Evidence]
FOLDED = b"main;serve;price_basket;hash 61\nmain;serve;render 20\nmain;idle_loop 19\n"


@pytest.fixture
def bring(ada: Person) -> Bring:
    """Add a file to an incident, and have it read."""

    def brought(incident: Incident, body: bytes = FOLDED, *, read: bool = True, **more: Any) -> Evidence:
        given = {"title": "CPU of checkout", "by": ada, "via": "upload", "at": timezone.now(), **more}
        evidence = receiving.receive(incident, body=io.BytesIO(body), **given)
        if read:
            digesting.digest(evidence.pk, at=timezone.now())
            evidence = Evidence.objects.select_related("incident").get(pk=evidence.pk)
        return evidence

    return brought
