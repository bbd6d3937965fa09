"""Whoever was paged is told so at the top of the incident's page, until someone acknowledges."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.models import Incident, Person
from incidents.tests.conftest import Open
from workflows.models import Page, PagerUser
from workflows.tests.test_views_pages import paged


def top(page: str) -> str:
    """What stands in the place at the top, in one line; empty when nothing does."""
    said = page.split('<div id="you-paged">', 1)[1].split('<div id="retyped"', 1)[0]
    return " ".join(said.split())


@pytest.fixture(autouse=True)
def on_pager(ada: Person, ben: Person) -> None:
    PagerUser.objects.create(pager_id="PADA", name="Ada", person=ada, matched="email")
    PagerUser.objects.create(pager_id="PBEN", name="Ben", person=ben, matched="email")


def shown(browse: Open, who: Person, incident: Incident) -> str:
    return top(browse(who).get(incident.get_absolute_url()).content.decode())


def test_it_says_since_when_and_leads_to_where_it_is_acknowledged(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    page = paged(incident, rung_ids=["PBEN"], now_ids=["PBEN"], rings="pages Ben", url="https://pager.test/incidents/1")
    said = shown(browse, ben, incident)
    assert "You were paged" in said
    assert "2 min" in said
    assert 'href="https://pager.test/incidents/1"' in said
    assert "Acknowledge in PagerDuty" in said
    assert "You were paged" not in shown(browse, ada, incident)
    Page.objects.filter(pk=page.pk).update(status="acknowledged", status_by="Ada")
    assert "You were paged" not in shown(browse, ben, incident)


def test_whoever_it_paged_before_is_told_whom_it_pages_now(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    at = timezone.now() - timedelta(seconds=65)
    paged(incident, rung_ids=["PBEN", "PADA"], now_ids=["PADA"], rings="pages Ada", rung_at=at)
    assert "it now pages Ada: Major incidents." in shown(browse, ben, incident)
    assert "1 min" in shown(browse, ada, incident)


def test_a_page_that_joined_an_open_incident_of_others_paged_no_one(
    incident: Incident, ben: Person, browse: Open
) -> None:
    paged(incident, rung_ids=["PBEN"], now_ids=["PBEN"], joined="Checkout")
    assert "You were paged" not in shown(browse, ben, incident)


def test_where_the_pager_gave_no_address_it_is_said_in_words(incident: Incident, ben: Person, browse: Open) -> None:
    paged(incident, rung_ids=["PBEN"], now_ids=["PBEN"], via="events")
    assert "Acknowledge it in PagerDuty." in shown(browse, ben, incident)
