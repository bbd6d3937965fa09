"""People left behind by a move to private stay out, whatever was under way at that moment."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import Incident
from integrations.tests.house import House
from workflows.channels import rooms
from workflows.loading import load_facts
from workflows.planning.wording.shut_out import LOSES
from workflows.reconcile import reconcile, retyping


def retyped(house: House, incident: Incident, *, to: str = "security") -> None:
    lifecycle.retype(incident, to=house.type(to), by=house.person("dee"), at=timezone.now())


def test_a_plan_from_older_facts_lets_nobody_in_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    incident = house.declare()
    retyped(house, incident, to="major")
    read = load_facts.one

    def meanwhile(given: Incident, **how: bool) -> load_facts.IncidentState:
        known = read(given, **how)
        monkeypatch.undo()
        retyped(house, incident)
        return known

    monkeypatch.setattr(load_facts, "one", meanwhile)
    reconcile.reconcile(incident.pk, at=timezone.now())
    for name in ("ann", "sue", "leo", "cat"):
        assert not visibility.may_see(house.person(name), incident)
    incident = house.settle(incident)
    assert house.slack.members(house.channel(incident)) == {"firekind", "dee", "sam", "sia", "pat"}


def test_coming_to_the_public_room_at_that_moment_opens_nothing(house: House) -> None:
    before = house.declare()
    channel_id = house.slack.channel(house.channel(before)).id
    retyped(house, before)
    rooms.joined(before, person=house.person("eve"), channel_id=channel_id, at=timezone.now())
    assert not visibility.may_see(house.person("eve"), before)


def test_leaving_the_public_room_at_that_moment_takes_nothing_away(house: House) -> None:
    before = house.declare()
    channel_id = house.slack.channel(house.channel(before)).id
    retyped(house, before)
    rooms.left(before, person=house.person("dee"), channel_id=channel_id, at=timezone.now())
    assert visibility.may_see(house.person("dee"), before)


def test_holding_a_role_brings_nobody_along_whom_the_plan_does_not_name(house: House) -> None:
    incident = house.declare()
    lifecycle.set_role(incident, role="Scribe", holder=house.person("eve"), by=house.person("dee"), at=house.now())
    incident = house.settle(incident)
    plan = retyping.preview(incident, to=house.type("security"), by=house.person("dee"))
    losing, others = [[line.text for line in plan.lines if (line.key == LOSES) is told] for told in (True, False)]
    assert ["Eve" in text for text in losing] == [True]
    assert "Eve" not in " ".join(others)
    incident = house.retype(incident, "security")
    assert house.slack.members(house.channel(incident)) == {"firekind", "dee", "sam", "sia", "pat"}
    assert incident.roles == {}


def test_who_is_brought_along_keeps_their_role(house: House) -> None:
    incident = house.declare()
    lifecycle.set_role(incident, role="Scribe", holder=house.person("eve"), by=house.person("dee"), at=house.now())
    incident = house.retype(house.settle(incident), "security", bring=["eve"])
    assert incident.roles == {"Scribe": house.person("eve").pk}


def test_words_are_withdrawn_although_it_ended_before_the_private_room_stood(house: House) -> None:
    incident = house.declare("Someone has our keys")
    old = house.channel(incident)
    retyped(house, incident)
    lifecycle.resolve(incident, by=house.person("dee"), at=timezone.now())
    incident = house.settle(incident)
    assert "keys" not in " ".join([*house.slack.texts(old), *house.slack.texts("incidents"), house.slack.topic(old)])
    assert not house.slack.bookmarks(old)
    assert not house.owed(incident)
