"""What the type editor offers while someone types."""

from __future__ import annotations

import pytest

from incidents.models import IncidentType, Person
from workflows.models import Group, PagerTarget
from workflows.tests.test_views_retype import Open

Kind = PagerTarget.Kind


@pytest.mark.django_db
def test_what_there_is_can_be_found(shipped: dict[str, IncidentType], ada: Person, browse: Open) -> None:
    Group.objects.create(handle="data-oncall", chat_id="S1", name="Data people")
    Group.objects.create(handle="support", chat_id="S2", name="Support")
    for kind, name, gone in (
        (Kind.POLICY, "Checkout", False),
        (Kind.SCHEDULE, "Leads", False),
        (Kind.POLICY, "Old", True),
    ):
        PagerTarget.objects.create(pager_id=name, kind=kind, name=name, gone=gone)
    Person.objects.create(name="Noor", email="noor@example.com")
    client = browse(ada)

    def offered(of: str, q: str = "") -> list[str]:
        found = client.get("/types/choices", {"of": of, "q": q}).json()["choices"]
        return [one["value"] for one in found]

    assert offered("groups") == ["@data-oncall", "@support"]
    assert offered("groups", "@sup") == ["@support"]
    assert offered("groups", "people data") == ["@data-oncall"]
    assert (offered("pages"), offered("schedules")) == (["Checkout"], ["Leads"])
    assert offered("people", "noo") == ["noor@example.com"]
    assert "Scribe" in offered("roles", "scr")
    assert offered("sources") == []
    assert client.get("/types/choices", {"of": "incidents"}).status_code == 404
