"""People who were paged see that at the top of the incident's page, until someone acknowledges."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.models import Incident, Participant, Person
from incidents.tests.conftest import Open
from workflows import ports
from workflows.models import Effect, Page, PagerUser
from workflows.tests.oncall.pager import LittlePager
from workflows.tests.test_views_pages import paged
from workflows.tests.test_views_progress import _effect


def top(page: str) -> str:
    """The text at the top, in one line; empty if there is none."""
    said = page.split('<div id="you-paged">', 1)[1].split('<div id="retyped"', 1)[0]
    return " ".join(said.split())


@pytest.fixture(autouse=True)
def on_pager(ada: Person, ben: Person) -> None:
    for who in (ada, ben):
        email = f"{who.name.lower()}@example.com"
        PagerUser.objects.create(
            pager_id=f"P{who.name.upper()}", name=who.name, email=email, person=who, matched="email"
        )


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


def ringing(incident: Incident, **values: object) -> Page:
    """A page that pages Ben now, with an id from the pager."""
    given = {"rung_ids": ["PBEN"], "now_ids": ["PBEN"], "pager_id": "Q1", "url": "https://pager.test/incidents/1"}
    return paged(incident, **(given | values))


def address(incident: Incident, page: Page) -> str:
    return f"/incidents/{incident.codename}/pages/{page.pk}/acknowledge"


@pytest.fixture
def pager() -> Iterator[None]:
    with ports.using(pager=LittlePager()):
        yield


@pytest.mark.usefixtures("pager")
def test_it_is_acknowledged_with_one_press_and_says_so_at_once(incident: Incident, ben: Person, browse: Open) -> None:
    page = ringing(incident)
    said = shown(browse, ben, incident)
    assert f'action="{address(incident, page)}"' in said
    assert "Open in PagerDuty" in " ".join(said.split())
    answer = browse(ben).post(address(incident, page), follow=True)
    assert "Acknowledging the page to Major incidents…" in answer.content.decode()
    said = top(answer.content.decode())
    assert "<strong>Acknowledging…" in said
    assert "<form" not in said
    page.refresh_from_db()
    assert (page.ack_asked_by, page.ack_turn) == (ben, 1)


@pytest.mark.usefixtures("pager")
def test_an_open_page_hears_of_it_without_being_left(incident: Incident, ben: Person, browse: Open) -> None:
    answer = browse(ben).post(address(incident, ringing(incident)), headers={"HX-Request": "true"})
    assert answer.status_code == 204
    assert "firekind:changed" in answer["HX-Trigger"]


@pytest.mark.usefixtures("pager")
def test_others_it_paged_read_who_is_at_it_and_why_it_failed_and_can_take_over(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    page = ringing(incident, rung_ids=["PBEN", "PADA"], ack_asked_by=ada, ack_turn=1)
    about = {"kind": "acknowledged", "thing": f"acknowledged/{page.key}/1", "key": f"acknowledged/{page.key}/1#1"}
    effect = _effect(incident, **about, state="running")
    said = shown(browse, ben, incident)
    assert "Ada is acknowledging it…" in said
    assert "<form" not in said
    Effect.objects.filter(pk=effect.pk).update(state="failed", error="Ask someone else.")
    said = shown(browse, ben, incident)
    assert "It couldn't be acknowledged for Ada:" in said
    assert "Ask someone else." in said
    assert "<form" in said
    assert "It couldn't be acknowledged for you:" in shown(browse, ada, incident)


@pytest.mark.usefixtures("pager")
@pytest.mark.parametrize("case", ["not paged", "guest", "not there", "of another", "no id", "joined"])
def test_who_cannot_gets_no_button_and_is_refused(
    incident: Incident, secret: Incident, ada: Person, ben: Person, browse: Open, case: str
) -> None:
    values = {"no id": {"pager_id": ""}, "joined": {"joined": "Checkout"}}.get(case, {})
    page = ringing(secret if case == "of another" else incident, **values)
    if case == "guest":
        Person.objects.filter(pk=ben.pk).update(is_guest=True)
        Participant.objects.create(incident=incident, person=ben, reason="joined", since_at=timezone.now())
    who = ada if case == "not paged" else ben
    if case != "not there":
        assert "<form" not in shown(browse, who, incident)
    where = address(incident, page) if case != "not there" else f"/incidents/{incident.codename}/pages/0/acknowledge"
    answer = browse(who).post(where, follow=True)
    assert "Only people this page reached" in answer.content.decode()
    page.refresh_from_db()
    assert page.ack_turn == 0


@pytest.mark.usefixtures("pager")
def test_what_is_over_meanwhile_is_said_and_no_error(incident: Incident, ben: Person, browse: Open) -> None:
    page = ringing(incident, status="acknowledged", status_by="Ada")
    answer = browse(ben).post(address(incident, page), follow=True).content.decode()
    assert "The page to Major incidents is already acknowledged by Ada." in answer
    page.refresh_from_db()
    assert page.ack_turn == 0


@pytest.mark.usefixtures("pager")
def test_a_page_that_we_are_about_to_resolve_is_not_acknowledged(incident: Incident, ben: Person, browse: Open) -> None:
    page = ringing(incident)
    _effect(incident, kind="page", verb="retire", thing=page.key, key=f"{page.key}#2", state="waiting")
    answer = browse(ben).post(address(incident, page), follow=True).content.decode()
    assert "The page is being resolved" in answer
    page.refresh_from_db()
    assert page.ack_turn == 0
