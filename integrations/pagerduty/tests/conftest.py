"""The PagerDuty door, people and incidents for the webhook tests."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from incidents.models import Person
from incidents.tests.conftest import ada, ben, eve, incident, secret, shipped
from integrations.pagerduty import tasks
from integrations.pagerduty.tests import posted
from integrations.pagerduty.tests.posted import Door
from workflows.models import PagerUser

__all__ = ["ada", "ben", "eve", "incident", "secret", "shipped"]


@pytest.fixture
def door(db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Door:
    settings.FIREKIND = dataclasses.replace(settings.FIREKIND, pagerduty=posted.GIVEN)
    monkeypatch.setattr(tasks, "hint", lambda number: None)
    PagerUser.objects.create(pager_id="POURS", name="Firekind", email="Firekind@example.com")
    return Door()


@pytest.fixture
def on_pager(eve: Person) -> PagerUser:
    return PagerUser.objects.create(pager_id="PEVE", name="Eve Ito", email="eve@example.com", person=eve)
