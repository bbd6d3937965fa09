"""Who takes part, leads and has a role: what each verb writes, keeps and refuses."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from incidents import lifecycle, timeline, visibility
from incidents.lifecycle.people import take_part
from incidents.models import Event, Incident, Participant, Person
from incidents.tests.conftest import someone

Reason = Participant.Reason


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def stay(incident: Incident, person: Person) -> Participant | None:
    return Participant.objects.filter(incident=incident, person=person).first()


def told(incident: Incident, kind: str) -> list[Event]:
    return list(Event.objects.filter(incident=incident, kind=kind).order_by("n"))


def fresh(incident: Incident) -> Incident:
    return Incident.objects.get(pk=incident.pk)


# leading


def test_who_is_made_the_lead_takes_part_and_it_is_told_once(
    incident: Incident, ada: Person, eve: Person, now: datetime
) -> None:
    before = fresh(incident).revision
    lifecycle.set_lead(incident, lead=eve, by=ada, at=now)
    assert fresh(incident).lead == eve
    assert fresh(incident).revision == before + 1
    taking_part = stay(incident, eve)
    assert taking_part is not None
    assert (taking_part.reason, taking_part.by, taking_part.since_at, taking_part.detail) == (Reason.LEAD, ada, now, "")
    (event,) = told(incident, "led")
    assert (event.by, event.at, event.source) == (ada, now, "web")
    assert event.data == {"name": "Eve", "self": False, "room": incident.room, "owner": eve.pk}
    lifecycle.set_lead(incident, lead=eve, by=ada, at=now)
    assert len(told(incident, "led")) == 1
    assert fresh(incident).revision == before + 1


def test_who_takes_the_lead_themselves_and_who_leaves_it_open(incident: Incident, eve: Person, now: datetime) -> None:
    lifecycle.set_lead(incident, lead=eve, by=eve, at=now, source="slack")
    lifecycle.set_lead(incident, lead=None, by=None, at=now)
    lifecycle.set_lead(incident, lead=None, by=None, at=now)
    first, second = told(incident, "led")
    assert (first.data["self"], first.data["name"], first.source) == (True, "Eve", "slack")
    assert (second.data["self"], second.data["name"]) == (False, "")
    assert fresh(incident).lead is None
    assert stay(incident, eve) is not None, "who leads no longer still takes part"


def test_a_form_that_is_older_than_the_last_lead_is_told_so(incident: Incident, ada: Person, eve: Person) -> None:
    seen = fresh(incident).last_n
    lifecycle.note(incident, text="something else", by=ada, at=timezone.now())
    lifecycle.set_lead(incident, lead=eve, by=ada, at=timezone.now(), since=seen)
    with pytest.raises(lifecycle.Stale):
        lifecycle.set_lead(incident, lead=ada, by=ada, at=timezone.now(), since=seen)
    assert fresh(incident).lead == eve


# roles


def test_a_role_goes_to_one_person_and_can_be_left_open(
    incident: Incident, ada: Person, ben: Person, eve: Person, now: datetime
) -> None:
    lifecycle.set_role(incident, role="Scribe", holder=ben, by=ada, at=now)
    lifecycle.set_role(incident, role="Contact", holder=eve, by=ada, at=now, source="slack")
    assert fresh(incident).roles == {"Scribe": ben.pk, "Contact": eve.pk}
    taking_part = stay(incident, ben)
    assert taking_part is not None
    assert (taking_part.reason, taking_part.detail, taking_part.by) == (Reason.ROLE, "Scribe", ada)
    lifecycle.set_role(incident, role="Scribe", holder=ben, by=ada, at=now)
    lifecycle.set_role(incident, role="Scribe", holder=None, by=ada, at=now)
    lifecycle.set_role(incident, role="Scribe", holder=None, by=ada, at=now)
    assert fresh(incident).roles == {"Contact": eve.pk}
    first, other, left = told(incident, "role")
    assert first.data == {"role": "Scribe", "name": "Ben", "room": incident.room, "owner": ben.pk}
    assert (other.source, other.by, other.at) == ("slack", ada, now)
    assert (left.data["role"], left.data["name"]) == ("Scribe", "")


@pytest.mark.parametrize("role", ["Lead", "LEAD", " lead "])
def test_the_role_of_the_lead_is_the_lead(incident: Incident, ada: Person, ben: Person, role: str) -> None:
    lifecycle.set_role(incident, role=role, holder=ben, by=ada, at=timezone.now(), source="slack")
    assert (fresh(incident).lead, fresh(incident).roles) == (ben, {})
    assert [(event.source, event.by) for event in told(incident, "led")] == [("slack", ada)]


def test_a_role_needs_a_name_and_keeps_eighty_characters_of_it(incident: Incident, ben: Person, now: datetime) -> None:
    with pytest.raises(lifecycle.BadInput) as bad:
        lifecycle.set_role(incident, role=" ", holder=ben, by=None, at=now)
    assert bad.value.field == "role"
    lifecycle.set_role(incident, role="x" * 99, holder=ben, by=None, at=now)
    assert list(fresh(incident).roles) == ["x" * 80]


# bringing in


def test_who_is_brought_in_may_see_a_private_incident_and_is_named_once(
    secret: Incident, ada: Person, ben: Person, eve: Person, now: datetime
) -> None:
    zoe = someone("Zoe")
    before = fresh(secret).revision
    lifecycle.bring_in(secret, people=[eve, ben, zoe], by=ada, at=now, source="slack")
    assert visibility.may_see(eve, secret)
    event = told(secret, "brought")[-1]
    assert (event.text, event.by, event.source, event.at) == ("Eve, Zoe", ada, "slack", now)
    assert event.data == {"room": secret.room, "because": ""}
    taking_part = stay(secret, eve)
    assert taking_part is not None
    assert (taking_part.reason, taking_part.by, taking_part.since_at) == (Reason.PICKED, ada, now)
    count = len(told(secret, "brought"))
    lifecycle.bring_in(secret, people=[eve, ben], by=ada, at=now)
    assert len(told(secret, "brought")) == count
    assert fresh(secret).revision == before + 1


def test_what_brought_them_in_where_nobody_did_is_kept_in_words(incident: Incident, eve: Person, now: datetime) -> None:
    why = "acknowledged the page to Security " + "x" * 200
    lifecycle.bring_in(incident, people=[eve], by=None, at=now, because=why)
    taking_part = stay(incident, eve)
    assert taking_part is not None
    assert taking_part.detail == why[:120]
    assert told(incident, "brought")[-1].data["because"] == why


def test_who_went_may_be_brought_in_again(secret: Incident, ada: Person, ben: Person, now: datetime) -> None:
    lifecycle.left(secret, person=ben, room=secret.room, at=now)
    lifecycle.bring_in(secret, people=[ben], by=ada, at=now + timedelta(hours=1))
    taking_part = stay(secret, ben)
    assert taking_part is not None
    assert (taking_part.left_at, taking_part.went, taking_part.since_at) == (None, False, now + timedelta(hours=1))


# coming and going in the room


@pytest.mark.parametrize("inviter", [True, False])
@pytest.mark.parametrize("private", [True, False])
def test_who_joins_the_room_takes_part_invited_by_whoever_it_was(
    request: pytest.FixtureRequest, ada: Person, eve: Person, private: bool, inviter: bool
) -> None:
    one: Incident = request.getfixturevalue("secret" if private else "incident")
    before, now = fresh(one).revision, timezone.now()
    says = "Ada" if inviter else "a member" if private else ""
    lifecycle.joined(one, person=eve, room=one.room, inviter=ada if inviter else None, at=now)
    taking_part = stay(one, eve)
    assert taking_part is not None
    assert (taking_part.reason, taking_part.by, taking_part.since_at) == (Reason.JOINED, ada if inviter else None, now)
    (event,) = told(one, "joined")
    assert (event.text, event.by, event.source, event.at) == ("Eve", eve, "slack", now)
    assert event.data == {"room": one.room, "inviter": says}
    assert f"{eve.name} {timeline.sentence(event)}".count(eve.name) == 1
    assert visibility.may_see(eve, one)
    lifecycle.joined(one, person=eve, room=one.room, inviter=None, at=now)
    assert (len(told(one, "joined")), fresh(one).revision) == (1, before + 1)


def test_who_left_and_joins_again_takes_part_again(secret: Incident, ben: Person) -> None:
    now = timezone.now()
    lifecycle.left(secret, person=ben, room=secret.room, at=now)
    lifecycle.joined(secret, person=ben, room=secret.room, inviter=None, at=now)
    assert visibility.may_see(ben, secret)
    assert len(told(secret, "joined")) == 1


def test_neither_a_bot_nor_who_joins_a_room_that_was_left_comes_in(
    secret: Incident, eve: Person, now: datetime
) -> None:
    lifecycle.joined(secret, person=eve, room=secret.room + 1, inviter=None, at=now)
    Person.objects.filter(pk=eve.pk).update(is_bot=True)
    lifecycle.joined(secret, person=Person.objects.get(pk=eve.pk), room=secret.room, inviter=None, at=now)
    assert stay(secret, eve) is None
    assert not told(secret, "joined")


def test_who_leaves_the_room_is_out_and_what_was_left_before_changes_nothing(
    secret: Incident, ben: Person, eve: Person, now: datetime
) -> None:
    before = fresh(secret).revision
    lifecycle.left(secret, person=ben, room=secret.room + 1, at=now)
    lifecycle.left(secret, person=eve, room=secret.room, at=now)
    assert not told(secret, "left")
    assert visibility.may_see(ben, secret)
    lifecycle.left(secret, person=ben, room=secret.room, at=now)
    lifecycle.left(secret, person=ben, room=secret.room, at=now + timedelta(hours=1))
    taking_part = stay(secret, ben)
    assert taking_part is not None
    assert (taking_part.left_at, taking_part.went) == (now, True)
    (event,) = told(secret, "left")
    assert (event.text, event.by, event.source, event.at, event.data) == (
        "Ben",
        ben,
        "slack",
        now,
        {"room": secret.room},
    )
    assert fresh(secret).revision == before + 1
    assert not visibility.may_see(ben, secret)


# how a stay began


@pytest.mark.parametrize(
    ("first", "then", "stays"),
    [
        (Reason.GROUP, Reason.PICKED, Reason.PICKED),
        (Reason.PAGED, Reason.LET_IN, Reason.LET_IN),
        (Reason.ROLE, Reason.JOINED, Reason.JOINED),
        (Reason.LEAD, Reason.GLASS, Reason.GLASS),
        (Reason.DECLARED, Reason.RETYPED, Reason.RETYPED),
        (Reason.PICKED, Reason.JOINED, Reason.PICKED),
        (Reason.JOINED, Reason.GROUP, Reason.JOINED),
        (Reason.GROUP, Reason.ROLE, Reason.GROUP),
    ],
)
def test_only_a_reason_that_can_end_gives_way_and_only_to_one_that_cannot(
    incident: Incident, ada: Person, eve: Person, first: str, then: str, stays: str
) -> None:
    now = timezone.now()
    take_part(incident, eve, reason=first, by=None, at=now, detail="before")
    take_part(incident, eve, reason=then, by=ada, at=now + timedelta(hours=1), detail="after")
    taking_part = stay(incident, eve)
    assert taking_part is not None
    assert (taking_part.reason, taking_part.since_at) == (stays, now)
    assert (taking_part.detail, taking_part.by) == (("after", ada) if stays == then else ("before", None))
    Participant.objects.filter(pk=taking_part.pk).update(left_at=now, went=True)
    take_part(incident, eve, reason=then, by=ada, at=now + timedelta(hours=2))
    again = stay(incident, eve)
    assert again is not None
    assert (again.reason, again.since_at, again.left_at, again.went) == (then, now + timedelta(hours=2), None, False)


@pytest.mark.parametrize("verb", ["set_lead", "set_role", "bring_in", "fill"])
def test_a_stranger_to_a_private_incident_changes_nothing(secret: Incident, eve: Person, verb: str) -> None:
    given: dict[str, dict[str, Any]] = {
        "set_lead": {"lead": eve},
        "set_role": {"role": "Scribe", "holder": eve},
        "bring_in": {"people": [eve]},
        "fill": {"role": "Platform leadership", "person": eve},
    }
    with pytest.raises(lifecycle.NotThere):
        getattr(lifecycle, verb)(secret, by=eve, at=timezone.now(), **given[verb])
    assert stay(secret, eve) is None


def test_taking_part_in_one_incident_says_nothing_about_another(
    incident: Incident, secret: Incident, ada: Person, ben: Person, eve: Person
) -> None:
    now = timezone.now()
    for verb in (lifecycle.joined, lifecycle.bring_in):
        Participant.objects.filter(person=eve).delete()
        lifecycle.bring_in(incident, people=[eve], by=ada, at=now)
        given: dict[str, Any] = {"person": eve, "room": secret.room, "inviter": None}
        verb(secret, **(given if verb is lifecycle.joined else {"people": [eve], "by": ada}), at=now)
        assert {one.incident for one in Participant.objects.filter(person=eve)} == {incident, secret}
    lifecycle.left(incident, person=eve, room=incident.room, at=now)
    assert visibility.may_see(eve, secret)
    assert visibility.who_may_see(secret.pk, among=[eve.pk, ben.pk]) == {eve.pk, ben.pk}
    lifecycle.left(secret, person=eve, room=secret.room, at=now)
    lifecycle.bring_in(incident, people=[eve], by=ada, at=now)
    assert visibility.who_may_see(secret.pk, among=[eve.pk]) == set()
    assert not visibility.may_see(eve, secret)
    assert eve not in {row.person for row in visibility.readers(secret)}
