"""Polling open pages: what no webhook reported is found and reported once, and no call is made without need."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from incidents.models import Event, Incident, Participant, Person
from workflows import ports
from workflows.models import Effect, Page, PagerUser
from workflows.oncall.pager_events import PagerEvent, PagerIncident, Who
from workflows.pager_port import PageStatus
from workflows.paging import apply_page_event, poll_pages
from workflows.ports import VendorError
from workflows.tests.oncall.pager import DOWN, LittlePager

pytestmark = pytest.mark.django_db


@dataclass(slots=True)
class Watched(LittlePager):
    """A pager whose pages can be polled, by id and by key."""

    pages: dict[str, PageStatus] = field(default_factory=dict)
    looks: list[str] = field(default_factory=list)
    broken: VendorError | None = None

    def look(self, id: str) -> PageStatus | None:
        self.looks.append(id)
        if self.broken:
            raise self.broken
        return self.pages.get(id)

    def find(
        self, key: str, *, service: str, since: datetime, codename: str = "", first: bool = False
    ) -> PageStatus | None:
        self.looks.append(key)
        return next((one for one in self.pages.values() if one.key == key), None)


def paged(incident: Incident, n: int = 1, *, age: timedelta = timedelta(minutes=10), **more: Any) -> Page:
    """A page of ours that was triggered ``age`` ago."""
    begun = timezone.now() - age
    values: dict[str, Any] = {
        "status": "triggered",
        "pager_id": f"PI{n}",
        "target": "policy/P1",
        "name": "Major incidents",
    }
    values |= {"dedup_key": f"firekind-{n}", "status_at": begun, "opened_at": begun, "key": f"page/policy/P{n}"}
    return Page.objects.create(incident=incident, **(values | more))


def acknowledged(n: int = 1) -> PageStatus:
    at = (timezone.now() - timedelta(minutes=3)).replace(microsecond=0)
    return PageStatus(f"PI{n}", "acknowledged", number=n, at=at, by="Eve Ito", by_id="PEVE", key=f"firekind-{n}")


def look(pager: Watched, *, after: timedelta = timedelta(0)) -> int:
    with ports.using(pager=pager):
        return poll_pages.look_again(at=timezone.now() + after)


def said(incident: Incident) -> list[str]:
    events = Event.objects.filter(incident=incident, kind="page").select_related("by").order_by("n")
    return [f"{one.by.name} {one.text}" if one.by else one.text for one in events]


def test_what_no_webhook_told_is_found_and_told(incident: Incident, eve: Person) -> None:
    PagerUser.objects.create(pager_id="PEVE", name="Eve Ito", person=eve)
    page = paged(incident)
    assert look(Watched(pages={"PI1": acknowledged()})) == 1
    page.refresh_from_db()
    assert (page.status, page.status_by, page.number) == ("acknowledged", "Eve Ito", 1)
    assert said(incident) == ["Eve acknowledged the page to Major incidents"]
    assert Event.objects.get(kind="page").data["room"] == incident.room
    assert Participant.objects.filter(incident=incident, person=eve, left_at=None).exists()


def test_the_webhook_that_comes_later_is_not_told_again_but_says_who_it_was(incident: Incident, eve: Person) -> None:
    paged(incident)
    rung = acknowledged()
    look(Watched(pages={"PI1": rung}))
    (told,) = said(incident)
    assert told.startswith("Eve Ito acknowledged the page to Major incidents. Eve Ito is not matched to anyone here")
    PagerUser.objects.create(pager_id="PEVE", name="Eve Ito", person=eve)
    assert rung.at is not None
    news = PagerEvent(
        "E1",
        "acknowledged",
        rung.at + timedelta(milliseconds=700),
        PagerIncident("PI1"),
        "did",
        "it",
        by=Who("PEVE", "Eve Ito"),
    )
    apply_page_event.hear(news, at=timezone.now())
    assert said(incident) == [told]
    assert Participant.objects.filter(incident=incident, person=eve, left_at=None).exists()


def test_an_integration_of_the_name_of_a_person_is_not_taken_for_them(incident: Incident, eve: Person) -> None:
    PagerUser.objects.create(pager_id="PEVE", name="Eve Ito", person=eve)
    paged(incident)
    look(Watched(pages={"PI1": replace(acknowledged(), by_id="")}))
    assert said(incident) == ["The page to Major incidents was acknowledged"]
    assert not Participant.objects.filter(incident=incident, person=eve).exists()


def test_what_stands_as_we_know_it_is_told_nobody(incident: Incident) -> None:
    page = paged(incident, status="acknowledged")
    assert look(Watched(pages={"PI1": acknowledged()})) == 0
    page.refresh_from_db()
    assert page.looked_at is not None
    assert said(incident) == []


def test_a_page_is_looked_at_once_a_minute(incident: Incident) -> None:
    paged(incident)
    pager = Watched()
    for after_s in (0, 30, 60):
        look(pager, after=timedelta(seconds=after_s))
    assert pager.looks == ["PI1", "PI1"]


def test_new_ones_and_those_that_never_came_are_left_alone(incident: Incident) -> None:
    paged(incident, 1, age=timedelta(seconds=10))
    paged(incident, 2, status="resolved", pager_id="")
    paged(incident, 3, status="opening", pager_id="", age=timedelta(minutes=2))
    pager = Watched()
    look(pager)
    assert pager.looks == []


def test_a_round_has_an_end(incident: Incident) -> None:
    for n in range(poll_pages.AT_ONCE + 5):
        paged(incident, n)
    pager = Watched()
    look(pager)
    assert len(pager.looks) == poll_pages.AT_ONCE
    look(pager)
    assert len(set(pager.looks)) == poll_pages.AT_ONCE + 5


def test_what_the_fallback_opened_is_found_by_its_key(incident: Incident) -> None:
    page = paged(incident, pager_id="", via="events")
    pager = Watched(pages={"PI9": replace(acknowledged(), id="PI9")})
    look(pager)
    page.refresh_from_db()
    assert (page.pager_id, page.status) == ("PI9", "acknowledged")


def test_a_pager_that_is_away_is_left_alone_until_the_next_round(incident: Incident) -> None:
    for n in range(3):
        paged(incident, n)
    pager = Watched(broken=DOWN)
    assert look(pager) == 0
    assert len(pager.looks) == 1
    assert Page.objects.filter(status="triggered").count() == 3


def test_who_ends_a_page_writes_that_down_and_nobody_else(incident: Incident) -> None:
    page = paged(incident)
    Effect.objects.create(
        incident=incident,
        key=f"{page.key}#2",
        thing=page.key,
        kind="page",
        verb="retire",
        sentence="resolve it",
        sign="-",
        method="pager.resolve",
        rank=0,
        revision=1,
        due_at=timezone.now(),
        created_at=timezone.now(),
    )
    assert look(Watched(pages={"PI1": replace(acknowledged(), status="resolved")})) == 0
    assert said(incident) == []


def test_an_answer_from_before_what_we_were_told_changes_nothing(incident: Incident) -> None:
    page = paged(incident, status="triggered", status_at=timezone.now() - timedelta(seconds=20))
    assert look(Watched(pages={"PI1": acknowledged()})) == 0
    page.refresh_from_db()
    assert page.status == "triggered"


def test_without_a_pager_there_is_nothing_to_look_at(incident: Incident) -> None:
    paged(incident)
    with ports.using():
        assert poll_pages.look_again(at=timezone.now()) == 0
