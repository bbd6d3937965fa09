"""Who may see: people, the terminal, and everyone; one incident, some of them, and who reads it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from incidents import lifecycle, visibility
from incidents.models import Codename, Incident, IncidentType, Person
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


@pytest.mark.parametrize("table", ["i", "incidents_incident", "open_now"])
def test_a_query_of_our_own_asks_for_the_same_incidents(incidents: dict[str, Incident], table: str) -> None:
    flags: tuple[dict[str, bool], ...] = ({}, {"is_guest": True}, {"is_external": True}, {"deactivated": True})
    people = [Person.objects.create(name="One", **one) for one in (*flags, *flags)]
    lifecycle.bring_in(incidents["security"], people=people[:4], by=None, at=timezone.now())
    replay = lifecycle.declare("Again", by=people[0], at=timezone.now(), type=incidents["ambiguous"].type)
    Incident.objects.filter(pk=replay.pk).update(replays=incidents["security"])
    for person in people:
        seen, params = visibility.condition(person, table=table)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT id FROM incidents_incident {table} WHERE {seen}", params)  # noqa: S608 (ours)
            assert {pk for (pk,) in cursor.fetchall()} == {one.pk for one in visibility.visible_to(person)}


@pytest.mark.parametrize("table", ["one", "past"])
def test_a_name_that_the_condition_uses_itself_is_refused(db: None, table: str) -> None:
    with pytest.raises(AssertionError):
        visibility.condition(Person.objects.create(name="One"), table=table)


def test_what_is_said_where_anyone_reads_along_names_public_incidents_alone(incidents: dict[str, Incident]) -> None:
    assert {one.type.slug for one in visibility.visible_to(visibility.EVERYONE)} == {"ambiguous"}


def test_an_incident_is_found_by_every_name_it_ever_had_and_read_at_once(
    incidents: dict[str, Incident], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    dee = Person.objects.get(name="Dee")
    for incident in incidents.values():
        lifecycle.set_lead(incident, lead=dee, by=dee, at=timezone.now())
        Codename.objects.create(name=f"former-{incident.type.slug}", incident=incident)
        for name in (incident.codename, f"former-{incident.type.slug}"):
            with django_assert_num_queries(1):
                found = visibility.find(dee, name)
                assert (found.type.slug, found.policy.slug) == (incident.type.slug, incident.type.slug)
                assert (found.lead, found.declared_by) == (dee, dee)
            assert found == incident
    with pytest.raises(Incident.DoesNotExist):
        visibility.find(Person.objects.create(name="Stranger"), "former-security")


def test_of_several_names_those_are_given_back_that_one_may_read(incidents: dict[str, Incident]) -> None:
    names = {slug: one.codename for slug, one in incidents.items()}
    asked = [*names.values(), "never-existed"]
    assert visibility.named(Person.objects.get(name="Dee"), asked) == set(names.values())
    assert visibility.named(Person.objects.create(name="Stranger"), asked) == {names["ambiguous"]}
    assert visibility.named(visibility.EVERYONE, asked) == {names["ambiguous"]}
    assert visibility.named(None, asked) == set()
    assert visibility.named(visibility.OPERATOR, []) == set()


def test_what_a_duplicate_repeats_is_named_to_those_who_may_see_that_too(incidents: dict[str, Incident]) -> None:
    dee, stranger = Person.objects.get(name="Dee"), Person.objects.create(name="Stranger")
    private, public = incidents["security"], incidents["ambiguous"]
    assert visibility.original(dee, public) is None
    public.duplicate_of = private
    assert visibility.original(dee, public) == private
    assert visibility.original(stranger, public) is None


def test_its_readers_are_those_still_in_it_in_the_order_they_came(
    incidents: dict[str, Incident], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    one, now = incidents["security"], timezone.now()
    people = {name: Person.objects.create(name=name) for name in ("Zoe", "Ann", "Ben")}
    for hours, name in enumerate(people, start=1):
        lifecycle.bring_in(one, people=[people[name]], by=None, at=now + timedelta(hours=hours))
    lifecycle.left(one, person=people["Ann"], room=one.room, at=now)
    with django_assert_num_queries(1):
        assert [row.person.name for row in visibility.readers(one)] == ["Dee", "Zoe", "Ben"]


def test_nobody_asked_for_is_nobody_who_may_see(incidents: dict[str, Incident]) -> None:
    dee = Person.objects.get(name="Dee")
    for incident in incidents.values():
        assert visibility.who_may_see(incident.pk, among=[]) == set()
        assert visibility.who_may_see(incident.pk, among=[dee.pk, 0]) == {dee.pk}
        lifecycle.left(incident, person=dee, room=incident.room, at=timezone.now())
    assert visibility.who_may_see(incidents["security"].pk, among=[dee.pk]) == set()
    assert visibility.who_may_see(incidents["ambiguous"].pk, among=[dee.pk]) == {dee.pk}


@pytest.mark.parametrize(("flag", "knows"), [("", {"Dee", "One", "Two", "Me"}), ("is_guest", {"Dee", "One", "Me"})])
@pytest.mark.parametrize("guest", ["is_guest", "is_external"])
def test_a_guest_knows_themselves_and_those_they_respond_with(
    incidents: dict[str, Incident], flag: str, knows: set[str], guest: str
) -> None:
    me, one, _ = (Person.objects.create(name=name) for name in ("Me", "One", "Two"))
    lifecycle.bring_in(incidents["ambiguous"], people=[me, one], by=None, at=timezone.now())
    setattr(me, guest, bool(flag))
    assert {person.name for person in visibility.people_known_to(me)} == knows
    lifecycle.left(incidents["ambiguous"], person=me, room=incidents["ambiguous"].room, at=timezone.now())
    assert {person.name for person in visibility.people_known_to(me)} == ({"Me"} if flag else knows)
