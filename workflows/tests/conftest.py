"""The people and incidents of the page tests."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents.models import IncidentType, Person
from incidents.models.people import Role
from incidents.tests.conftest import ada, ben, browse, eve, incident, secret, shipped, someone
from workflows.models import DirectoryRead, Group

__all__ = ["ada", "ben", "browse", "eve", "incident", "secret", "shipped"]


@pytest.fixture
def grace(db: None) -> Person:
    """The second manager."""
    return someone("Grace", role=Role.MANAGER)


@pytest.fixture
def workspace(shipped: dict[str, IncidentType], ada: Person) -> None:
    """A workspace with three groups: one of the private type, one that a public type names, and one that none names."""
    now = timezone.now()
    DirectoryRead.objects.create(groups_at=now, people_at=now)
    for n, handle in enumerate(("security", "support", "chess")):
        Group.objects.create(handle=handle, chat_id=f"S{n}", name=handle, members=[])
