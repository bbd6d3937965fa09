"""A type is edited while a retype page is open: either what was shown is done, or it says that nothing was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from django.utils import timezone

from incidents.models import Incident, IncidentType, Person
from incidents.policies import types
from incidents.policies.policy import OneOf
from incidents.tests.conftest import Open
from workflows.tests.test_views_retype import hidden, retype_page

SLUG: Final = "major"


def now(slug: str = SLUG) -> IncidentType:
    return IncidentType.objects.select_related("current").get(slug=slug)


def edited(**asked: Any) -> Callable[[], object]:
    return lambda: types.edit(now(), policy=replace(now().policy, **asked), by=None, at=timezone.now())


def again() -> None:
    types.archive(now(), by=None, at=timezone.now())
    types.restore(now(), by=None, at=timezone.now())


# What happens to the type meanwhile, and whether what was shown is still what would be done.
MEANWHILE: Final[dict[str, tuple[Callable[[], object], bool]]] = {
    "nothing": (lambda: None, True),
    "renamed": (edited(name="Big one"), True),
    "other words": (edited(says="All is down.", checklist=("Call legal",)), True),
    "archived and restored": (again, True),
    "groups": (edited(invite=("nobody-knows",)), False),
    "roles": (edited(one_of=(OneOf("Boss", group="nobody-knows"),)), False),
    "reminders": (edited(update_every_min=7), False),
    "private": (edited(private=True, announce=False), False),
    "not announced": (edited(announce=False), False),
    "archived": (lambda: types.archive(now(), by=None, at=timezone.now()), False),
}


@pytest.mark.parametrize("which", MEANWHILE)
def test_what_was_read_is_done_or_it_is_said_that_nothing_was(
    incident: Incident, ada: Person, browse: Open, which: str
) -> None:
    client = browse(ada)
    given = hidden(client.get(retype_page(incident, f"?to={SLUG}")).content.decode())
    happens, holds = MEANWHILE[which]
    happens()
    response = client.post(retype_page(incident), given | {"because": ["customers write"]})
    incident = Incident.objects.get(pk=incident.pk)
    assert incident.events.filter(kind="retyped").exists() == holds
    assert incident.private is False
    if not holds:
        page = response.content.decode()
        assert response.status_code == 422
        assert "Nothing was done" in page
        assert "customers write" in page, "what was typed is not lost"
