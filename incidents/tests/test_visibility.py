from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import Incident, IncidentType, Person
from incidents.policies import types
from incidents.policies.policy import Policy


@pytest.fixture
def incidents(db: None) -> dict[str, Incident]:
    """A public and a private incident, both declared by Dee."""
    for slug, private in (("ambiguous", False), ("security", True)):
        types.add(Policy(slug, slug.capitalize(), "says", private=private), by=None, at=timezone.now())
    types.make_default(IncidentType.objects.get(slug="ambiguous"), by=None)
    dee = Person.objects.create(name="Dee")
    return {
        type.slug: lifecycle.declare(f"A {type.slug} one", by=dee, at=timezone.now(), type=type)
        for type in IncidentType.objects.all()
    }


@pytest.mark.parametrize(
    ("flags", "sees"),
    [
        ({}, {"ambiguous"}),
        ({"is_guest": True}, set()),
        ({"is_external": True}, set()),
        ({"deactivated": True}, set()),
    ],
)
def test_what_someone_sees_who_takes_part_in_nothing(
    incidents: dict[str, Incident], flags: dict[str, bool], sees: set[str]
) -> None:
    person = Person.objects.create(name="Someone", **flags)
    assert {one.type.slug for one in visibility.visible_to(person)} == sees


def test_taking_part_opens_and_leaving_closes(incidents: dict[str, Incident]) -> None:
    private, at = incidents["security"], timezone.now()
    guest = Person.objects.create(name="Guest", is_guest=True)
    lifecycle.bring_in(private, people=[guest], by=None, at=at)
    assert visibility.may_see(guest, private)
    lifecycle.left(private, person=guest, room=private.room, at=at)
    assert not visibility.may_see(guest, private)


def test_nobody_sees_nothing_and_the_terminal_sees_all(incidents: dict[str, Incident]) -> None:
    assert not visibility.visible_to(None)
    assert visibility.visible_to(visibility.OPERATOR).count() == 2


def test_hidden_and_absent_are_the_same_answer(incidents: dict[str, Incident]) -> None:
    stranger = Person.objects.create(name="Stranger")
    for name in (incidents["security"].codename, "never-existed"):
        with pytest.raises(Incident.DoesNotExist):
            visibility.find(stranger, name)


def test_many_at_once_are_answered_as_each_alone(incidents: dict[str, Incident]) -> None:
    flags: tuple[dict[str, bool], ...] = ({}, {"is_guest": True}, {"is_external": True}, {"deactivated": True})
    people = [Person.objects.create(name="One", **one) for one in (*flags, *flags)]
    for incident in incidents.values():
        lifecycle.bring_in(incident, people=[people[0], people[1]], by=None, at=timezone.now())
        alone = {one.pk for one in people if visibility.may_see(one, incident)}
        assert visibility.who_may_see(incident.pk, among=[one.pk for one in people]) == alone
