"""What a search looks at is cut off among what somebody sees: hidden incidents neither take places nor lend words."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person
from incidents.search import IncidentFilters, search_pages

SERVICES = ["checkout-api", "mail"]


@pytest.mark.parametrize("latest", [1, 2, 3])
@pytest.mark.parametrize("hidden", [["checkout-api"], ["mail"], ["else"]])
def test_a_part_of_a_services_name_finds_the_same_whatever_is_hidden(
    latest: int,
    hidden: list[str],
    shipped: dict[str, IncidentType],
    ada: Person,
    eve: Person,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_pages, "LATEST", latest)
    for services in (["checkout-api"], ["mail"], ["mail-out"]):
        declared(ada, shipped["ambiguous"], services)
    before = found(eve)
    for _ in range(3):
        declared(ada, shipped["security"], hidden)
    assert found(eve) == before


def declared(by: Person, type: IncidentType, services: list[str]) -> Incident:
    return lifecycle.declare("It leaks", by=by, at=timezone.now(), type=type, services=services)


def found(by: Person) -> dict[str, list[str]]:
    """Which incidents each beginning of a service's name finds."""
    parts = {service[:n] for service in SERVICES for n in (3, 4, 99)}
    pages = {one: search_pages.find(IncidentFilters(service=one), person=by) for one in sorted(parts)}
    return {one: [row.codename for row in page.rows] for one, page in pages.items()}
