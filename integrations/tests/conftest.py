from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from django.utils import timezone
from pytest_django import DjangoDbBlocker
from pytest_django.fixtures import Settings

from integrations.tests import duty as on_duty
from integrations.tests import house as building
from integrations.tests import once
from integrations.tests.late_vendor import Late
from integrations.tests.ticket_desk import Desk, desk
from workflows import ports
from workflows.effects import work


@pytest.fixture(scope="module")
def built_house(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[building.House]:
    """A house with the shipped types and a workspace that has all their groups. Built once per module."""
    with once.laid(django_db_blocker, building.house) as made:
        yield made


@pytest.fixture
def house(built_house: building.House, db: None) -> Iterator[building.House]:
    """The module's house, untouched by other tests."""
    made = once.copied(built_house)
    with ports.using(chat=made.chat):
        yield made


@pytest.fixture(scope="module")
def built_duty(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[on_duty.Duty]:
    """A house with a pager. Built once per module, which then must not ask for a house without one."""
    with once.laid(django_db_blocker, on_duty.duty) as made:
        yield made


@pytest.fixture
def duty(built_duty: on_duty.Duty, db: None) -> Iterator[on_duty.Duty]:
    """The house with a pager, untouched by other tests."""
    with on_duty.copied(built_duty) as made:
        yield made


@pytest.fixture
def office(db: None) -> Iterator[Desk]:
    """An incident with follow-ups, and the board with their tickets."""
    with desk() as made:
        yield made


@pytest.fixture
def no_pages(settings: Settings) -> None:
    """Remove the URLs, as in a worker: code that resolves one would load all pages, and fails here."""
    settings.ROOT_URLCONF = "workers.serve.no_pages"


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Late:
    """A vendor that delays requests, by its parameters, and whose clock is the test's time."""
    hold_s, fates, *rest = request.param
    late = Late(hold_s, fates.split(", "), *rest)
    monkeypatch.setattr(timezone, "now", lambda: late.now)
    monkeypatch.setattr(work, "time", SimpleNamespace(monotonic=late.monotonic))
    return late
