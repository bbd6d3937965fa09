"""Limits of lists apply to what someone sees: hidden incidents take no places, lend no words, and are not counted."""

from __future__ import annotations

from datetime import timedelta

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
    """Return which incidents each beginning of a service's name finds."""
    parts = {service[:n] for service in SERVICES for n in (3, 4, 99)}
    pages = {one: search_pages.find(IncidentFilters(service=one), person=by) for one in sorted(parts)}
    return {one: [row.codename for row in page.rows] for one, page in pages.items()}


def test_where_a_page_ends_tells_no_number_that_counts_hidden_ones(
    shipped: dict[str, IncidentType], ada: Person, eve: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two consecutive numbers with one missing between them would reveal a hidden incident."""
    monkeypatch.setattr(search_pages, "PAGE", 1)
    made = [declared(ada, shipped[slug], []) for slug in ("ambiguous", "security", "ambiguous", "ambiguous")]
    after = search_pages.find(IncidentFilters(), person=eve).more
    assert after == f"1.{made[-1].declared_at.isoformat()}.{made[-1].codename}"


@pytest.mark.parametrize("closed", [0, 1, 2, 3, None])
def test_pages_go_on_where_they_were_though_the_last_one_closed(
    closed: int | None,
    shipped: dict[str, IncidentType],
    ada: Person,
    eve: Person,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_pages, "PAGE", 2)
    now = timezone.now()
    made = [lifecycle.declare("It leaks", by=ada, at=now - timedelta(seconds=n)) for n in range(6)]
    seen, after = [], ""
    for _ in made:
        page = search_pages.find(IncidentFilters(after=after), person=eve)
        seen += [one.codename for one in page.rows]
        if closed is not None and len(seen) == 2:
            lifecycle.retype(made[closed], to=shipped["security"], by=ada, at=now)
        after = page.more
        if not after:
            break
    assert seen == [one.codename for n, one in enumerate(made) if n != closed or n < 2]
