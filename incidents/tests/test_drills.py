"""Drills: who comes into one, what it may not do, and that it is marked wherever it is shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from incidents import lifecycle
from incidents.drills import agreement
from incidents.followups import followup_lists
from incidents.models import Followup, Incident, IncidentType, Participant, Person
from incidents.search import IncidentFilters, find, open_now
from incidents.tests.conftest import Open

Shipped = dict[str, IncidentType]


@pytest.fixture
def drill(shipped: Shipped, ada: Person) -> Incident:
    """Open a drill of Ada's."""
    return lifecycle.declare("Practise a leak", by=ada, at=timezone.now(), is_drill=True)


def test_nobody_is_brought_who_did_not_agree(drill: Incident, ada: Person, ben: Person, eve: Person) -> None:
    at = timezone.now()
    ways: tuple[Callable[[Person], object], ...] = (
        lambda one: lifecycle.bring_in(drill, people=[one], by=ada, at=at),
        lambda one: lifecycle.set_lead(drill, lead=one, by=ada, at=at),
        lambda one: lifecycle.set_role(drill, role="Scribe", holder=one, by=ada, at=at),
        lambda one: lifecycle.declare("Another", lead=one, by=ada, at=at, is_drill=True),
    )
    for way in ways:
        with pytest.raises(lifecycle.BadInput, match="has not agreed to drills"):
            way(ben)
    assert set(drill.participants.values_list("person", flat=True)) == {ada.pk}
    agreement.agree(ben, agrees=True)
    lifecycle.bring_in(drill, people=[ben], by=ada, at=at)
    lifecycle.set_lead(drill, lead=eve, by=eve, at=at)  # people who join by themselves may
    assert Participant.objects.get(incident=drill, person=eve).reason == Participant.Reason.JOINED


def test_who_leads_a_drill_comes_along_as_it_turns_private(
    drill: Incident, shipped: Shipped, ada: Person, ben: Person
) -> None:
    lifecycle.set_lead(drill, lead=ben, by=ben, at=timezone.now())
    now = lifecycle.retype(drill, to=shipped["security"], by=ada, at=timezone.now())
    assert now.private
    assert now.is_drill
    assert {one.name[:6] for one in now.codenames.all()} == {"drill-"}
    assert {one.person_id for one in now.participants.filter(left_at=None)} == {ada.pk, ben.pk}


def test_a_drill_and_what_is_real_are_never_the_same(drill: Incident, incident: Incident, ada: Person) -> None:
    for one, other in ((drill, incident), (incident, drill)):
        with pytest.raises(lifecycle.Refused, match="is a drill"):
            lifecycle.duplicate(one, of=other, by=ada, at=timezone.now())


def test_lists_keep_drills_apart(
    drill: Incident, incident: Incident, ada: Person, shipped: Shipped, browse: Open
) -> None:
    lifecycle.add_followup(
        drill, text="practise more", phase=Followup.Phase.AFTERWARDS, owner=ada, by=ada, at=timezone.now()
    )
    assert [one.pk for one in find(IncidentFilters(), person=ada).rows] == [incident.pk]
    assert [one.pk for one in find(IncidentFilters(drills="1"), person=ada).rows] == [drill.pk]
    assert open_now.of(ada, {one.pk: one for one in shipped.values()}, at=timezone.now()).count == 1
    assert not followup_lists.followups(ada).exists()
    page = browse(ada).get(f"{reverse('incidents')}?drills=1").content.decode()
    assert '<span class="tag drill">Drill</span>' in page
    assert "<title>Drill: " in browse(ada).get(drill.get_absolute_url()).content.decode()


def test_a_drill_is_opened_and_agreed_to_on_the_web(shipped: Shipped, ada: Person, browse: Open) -> None:
    browser = browse(ada)
    browser.post(reverse("declare"), {"title": "Practise", "type": "major", "drill": "1"})
    made = Incident.objects.get()
    assert made.is_drill
    assert made.codename.startswith("drill-")
    assert "This is a drill" in browser.get(f"{reverse('declare-plan')}?type=major&drill=1").content.decode()
    for agrees in (True, False):
        browser.post(reverse("account-drills"), {"agrees": str(int(agrees))})
        ada.refresh_from_db()
        assert ada.agrees_to_drills is agrees
    assert made.declared_at <= timezone.now() + timedelta(seconds=1)
