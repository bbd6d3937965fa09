"""Three people and the shipped types: Ada, owner and manager; Ben, her teammate; and Eve, a stranger to all of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person
from incidents.models.people import Role
from incidents.tests import shipped as types_shipped

Open = Callable[[Person], Client]


@pytest.fixture
def shipped(db: None) -> dict[str, IncidentType]:
    """Load the shipped types, by slug."""
    return types_shipped.bring()


def someone(name: str, *, role: Role = Role.RESPONDER) -> Person:
    """Create a person in the workspace who also has an account."""
    user = User.objects.create_user(name.lower(), password="of-no-use-elsewhere")
    return Person.objects.create(name=name, chat_id=f"U{name.upper()}", user=user, role=role)


@pytest.fixture
def ada(db: None) -> Person:
    """The owner of what the tests are about, and the only manager."""
    return someone("Ada", role=Role.MANAGER)


@pytest.fixture
def ben(db: None) -> Person:
    """A teammate of Ada."""
    return someone("Ben")


@pytest.fixture
def eve(db: None) -> Person:
    """A stranger."""
    return someone("Eve")


@pytest.fixture
def browse() -> Open:
    """Return a function that opens a browser signed in as someone."""

    def opened(person: Person) -> Client:
        client = Client()
        assert person.user is not None
        client.force_login(person.user)
        return client

    return opened


@pytest.fixture
def incident(shipped: dict[str, IncidentType], ada: Person) -> Incident:
    """Declare a public incident of Ada's."""
    return lifecycle.declare("Checkout is slow", by=ada, at=timezone.now(), summary="p95 is at nine seconds")


@pytest.fixture
def secret(shipped: dict[str, IncidentType], ada: Person, ben: Person) -> Incident:
    """Declare a private incident of Ada's, with Ben brought in."""
    made = lifecycle.declare("A token leaked", by=ada, at=timezone.now(), type=shipped["security"])
    return lifecycle.bring_in(made, people=[ben], by=ada, at=timezone.now())
