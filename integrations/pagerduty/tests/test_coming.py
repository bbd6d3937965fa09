"""People reached by a page: named, brought in where they may see the incident, else shown with how to fix it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Participant, Person
from integrations.pagerduty.tests.posted import EVE, LEO, NINE, Door, about, event
from integrations.pagerduty.tests.posted import incident as incident_of
from integrations.pagerduty.tests.told import hear, in_it, last, paged, said
from workflows.models import PagerUser


def test_who_acknowledges_is_named_told_and_brought_in(
    door: Door, incident: Incident, on_pager: PagerUser, eve: Person
) -> None:
    page = paged(incident)
    hear(door, event("acknowledged", after_s=5))
    page.refresh_from_db()
    assert (page.status, page.status_by, page.status_at) == ("acknowledged", "Eve Ito", NINE + timedelta(seconds=5))
    assert said(incident) == ["Eve acknowledged the page to Major incidents"]
    entry = last(incident)
    assert (entry.at, entry.data["room"]) == (NINE + timedelta(seconds=5), incident.room)
    assert entry.recorded_at > entry.at
    assert entry.data["url"] == "https://acme.pagerduty.com/incidents/PI1"
    assert Participant.objects.get(incident=incident, person=eve).reason == "picked"


def test_somebody_unknown_is_named_and_it_says_how_to_mend_that(door: Door, incident: Incident) -> None:
    paged(incident)
    hear(door, event("acknowledged", agent=LEO))
    (words,) = said(incident)
    assert words.startswith("Leo Ray acknowledged the page to Major incidents. Leo Ray is not matched to anyone here")


def test_a_private_incident_opens_to_nobody_by_a_page_that_it_does_not_ask_for(
    door: Door, secret: Incident, on_pager: PagerUser, eve: Person
) -> None:
    paged(secret).rung.add(eve)  # from before the incident took its type, which does not page them
    hear(door, event("acknowledged"))
    assert not in_it(secret, eve)
    (words,) = said(secret)
    assert words.startswith("Eve acknowledged the page to Major incidents. Eve is not in this private incident")
    assert "bring them in on its page" in words


def test_a_private_incident_opens_to_who_acknowledges_its_page_at_whatever_level(
    door: Door, secret: Incident, on_pager: PagerUser, eve: Person
) -> None:
    paged(secret, name="Security", opened_at=timezone.now())
    hear(door, event("escalated", incident_of(assignees=[EVE]), after_s=1))
    assert not in_it(secret, eve), "being paged by somebody in the pager is not enough"
    hear(door, event("acknowledged", after_s=5))
    assert in_it(secret, eve)
    assert said(secret)[-1] == "Eve acknowledged the page to Security"


def test_taking_up_a_call_for_help_opens_no_private_incident(
    door: Door, secret: Incident, on_pager: PagerUser, eve: Person
) -> None:
    paged(secret, name="Security", opened_at=timezone.now())
    hear(door, event("responder.replied", about(user=EVE, state="accepted")))
    assert not in_it(secret, eve)
    assert "Eve is not in this private incident" in said(secret)[0]


def test_a_guest_is_not_brought_in(door: Door, incident: Incident, on_pager: PagerUser, eve: Person) -> None:
    Person.objects.filter(pk=eve.pk).update(is_guest=True)
    paged(incident)
    hear(door, event("acknowledged"))
    assert not in_it(incident, eve)
    assert "invite them to the channel by hand" in said(incident)[0]


def test_old_news_fetch_nobody_back(door: Door, incident: Incident, on_pager: PagerUser, eve: Person) -> None:
    paged(incident)
    lifecycle.bring_in(incident, people=[eve], by=None, at=NINE)
    lifecycle.left(incident, person=eve, room=incident.room, at=NINE + timedelta(minutes=5))
    hear(door, event("acknowledged", after_s=60))
    assert not in_it(incident, eve)


def test_who_went_from_a_private_incident_by_hand_stays_out(
    door: Door, secret: Incident, on_pager: PagerUser, eve: Person
) -> None:
    paged(secret, name="Security", opened_at=timezone.now()).rung.add(eve)
    values = {"reason": "paged", "since_at": NINE, "left_at": NINE, "went": True}
    Participant.objects.create(incident=secret, person=eve, **values)
    hear(door, event("acknowledged", after_s=60))
    assert not in_it(secret, eve)
    assert "is not in this private incident" in said(secret)[0]


@pytest.mark.parametrize("after_s", [60, -60])
def test_who_was_left_behind_comes_in_by_acknowledging_after_that(
    door: Door, secret: Incident, on_pager: PagerUser, eve: Person, after_s: int
) -> None:
    paged(secret, name="Security").rung.add(eve)  # from before the incident became private, and still asked for
    Participant.objects.create(incident=secret, person=eve, reason="paged", since_at=NINE, left_at=NINE)
    hear(door, event("acknowledged", after_s=after_s))
    assert in_it(secret, eve) == (after_s > 0)
    assert ("is not in this private incident" in said(secret)[0]) == (after_s < 0)


def test_a_page_from_when_it_was_public_opens_no_private_incident(
    door: Door, incident: Incident, shipped: dict[str, IncidentType], on_pager: PagerUser, eve: Person
) -> None:
    paged(incident).rung.add(eve)
    lifecycle.retype(incident, to=shipped["security"], by=None, at=timezone.now())
    hear(door, event("acknowledged"))
    assert not in_it(incident, eve)
    assert "is not in this private incident" in said(incident)[0]
