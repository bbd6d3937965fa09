"""The verbs: what each changes and writes, when it is refused, and what a stale form is told."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from incidents import lifecycle, timeline
from incidents.models import Event, Incident, IncidentType, Participant, Person, Status

Shipped = dict[str, IncidentType]


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def incident(shipped: Shipped, ada: Person, now: datetime) -> Incident:
    return lifecycle.declare("Checkout is slow", by=ada, at=now)


def kinds_of(incident: Incident) -> list[str]:
    return list(Event.objects.filter(incident=incident).order_by("n").values_list("kind", flat=True))


def test_a_title_alone_is_enough(incident: Incident, ada: Person, now: datetime) -> None:
    assert incident.type.slug == "ambiguous"
    assert incident.status == Status.OPEN
    assert not incident.private
    assert incident.update_due_at == now + timedelta(minutes=60)
    assert incident.clear_at is None
    assert kinds_of(incident) == ["declared"]
    assert Participant.objects.get(incident=incident).person == ada
    assert incident.codenames.get().name == incident.codename


@pytest.mark.parametrize("title", ["", "   ", "\x00\x07", "x" * 10_001])
def test_a_title_that_says_nothing_or_too_much_is_refused(shipped: Shipped, title: str, now: datetime) -> None:
    with pytest.raises(lifecycle.BadInput) as bad:
        lifecycle.declare(title, by=None, at=now)
    assert bad.value.field == "title"
    assert not Incident.objects.exists()


def test_retyping_says_from_what_to_what_and_clears_the_ambiguity_once(
    incident: Incident, shipped: Shipped, ada: Person, now: datetime
) -> None:
    later = now + timedelta(minutes=5)
    incident = lifecycle.retype(incident, to=shipped["major"], by=ada, at=later, because="it is everyone")
    assert incident.clear_at == later
    assert incident.update_due_at == later + timedelta(minutes=30)
    again = lifecycle.retype(incident, to=shipped["isolated"], by=ada, at=later + timedelta(minutes=5))
    assert again.clear_at == later
    event = Event.objects.get(incident=incident, n=2)
    assert (event.data["from"], event.data["to"], event.text) == ("ambiguous", "major", "it is everyone")


def test_the_same_type_an_archived_one_and_an_ended_incident_are_refused(
    incident: Incident, shipped: Shipped, now: datetime
) -> None:
    from incidents.policies import types

    with pytest.raises(lifecycle.Refused, match="is already Ambiguous"):
        lifecycle.retype(incident, to=shipped["ambiguous"], by=None, at=now)
    types.archive(shipped["internal"], by=None, at=now)
    with pytest.raises(lifecycle.Refused, match="is archived"):
        lifecycle.retype(incident, to=IncidentType.objects.get(slug="internal"), by=None, at=now)
    lifecycle.resolve(incident, by=None, at=now)
    with pytest.raises(lifecycle.Refused, match="reopen it before"):
        lifecycle.retype(incident, to=shipped["major"], by=None, at=now)


ALLOWED = {
    ("open", "mitigate"): "mitigated",
    ("open", "resolve"): "resolved",
    ("open", "cancel"): "cancelled",
    ("mitigated", "resolve"): "resolved",
    ("mitigated", "cancel"): "cancelled",
    ("mitigated", "reopen"): "open",
    ("resolved", "reopen"): "open",
    ("cancelled", "reopen"): "open",
}
TO = {"open": [], "mitigated": ["mitigate"], "resolved": ["resolve"], "cancelled": ["cancel"]}


@pytest.mark.parametrize("verb", ["mitigate", "resolve", "cancel", "reopen"])
@pytest.mark.parametrize("status", TO)
def test_each_step_is_taken_from_the_states_of_the_table_and_refused_elsewhere(
    incident: Incident, now: datetime, status: str, verb: str
) -> None:
    for step in TO[status]:
        getattr(lifecycle, step)(incident, by=None, at=now)
    if (status, verb) in ALLOWED:
        assert getattr(lifecycle, verb)(incident, by=None, at=now).status == ALLOWED[status, verb]
        return
    before = kinds_of(incident)
    with pytest.raises(lifecycle.Refused):
        getattr(lifecycle, verb)(incident, by=None, at=now)
    assert kinds_of(incident) == before


def test_a_stale_form_is_told_what_changed(incident: Incident, shipped: Shipped, ben: Person, now: datetime) -> None:
    seen = incident.last_n
    lifecycle.retype(incident, to=shipped["major"], by=ben, at=now, because="all of them")
    with pytest.raises(lifecycle.Stale, match="Ben retyped it from Ambiguous to Major: all of them"):
        lifecycle.retype(incident, to=shipped["security"], by=None, at=now, since=seen)
    lifecycle.update(incident, text="unrelated to a retype", by=ben, at=now, since=seen)


def test_a_duplicate_names_no_private_incident_and_no_circle(
    incident: Incident, shipped: Shipped, now: datetime
) -> None:
    secret = lifecycle.declare("Keys", by=None, at=now, type=shipped["security"])
    other = lifecycle.declare("Same", by=None, at=now)
    with pytest.raises(lifecycle.Refused, match="expose it"):
        lifecycle.duplicate(incident, of=secret, by=None, at=now)
    with pytest.raises(lifecycle.Refused, match="of itself"):
        lifecycle.duplicate(incident, of=incident, by=None, at=now)
    lifecycle.duplicate(incident, of=other, by=None, at=now)
    with pytest.raises(lifecycle.Refused, match="itself a duplicate of"):
        lifecycle.duplicate(other, of=Incident.objects.get(pk=incident.pk), by=None, at=now)


@pytest.mark.parametrize("length", [2, 3, 5])
def test_duplicates_lead_to_one_that_is_none(length: int, incident: Incident, ada: Person, now: datetime) -> None:
    about: Any = {"by": ada, "at": now}
    ring = [incident, *(lifecycle.declare(f"Another {n}", **about) for n in range(1, length))]
    for one, other in pairwise(ring):
        lifecycle.duplicate(one, of=other, **about)
    with pytest.raises(lifecycle.Refused, match="itself a duplicate of"):
        lifecycle.duplicate(ring[-1], of=ring[0], **about)
    lifecycle.reopen(ring[0], **about)
    assert lifecycle.duplicate(ring[-1], of=ring[0], **about).duplicate_of == ring[0]


def test_editing_and_retracting_write_entries_and_keep_the_first(
    incident: Incident, ada: Person, ben: Person, now: datetime
) -> None:
    note = lifecycle.note(incident, text="The queue is full", by=ada, at=now)
    with pytest.raises(lifecycle.Refused, match="Only the person who wrote this"):
        lifecycle.edit(incident, n=note.n, text="No", by=ben, at=now)
    lifecycle.edit(incident, n=note.n, text="The queue was full", by=ada, at=now)
    entry = next(one for one in timeline.latest(incident, limit=9, reader=None) if one.event.n == note.n)
    assert entry.text == "The queue was full"
    assert entry.event.text == "The queue is full"
    lifecycle.retract(incident, n=note.n, by=ada, at=now, because="wrong queue")
    entry = next(one for one in timeline.latest(incident, limit=9, reader=None) if one.event.n == note.n)
    assert entry.retracted is not None
    assert [change.kind for change in entry.history] == ["edited", "retracted"]
    with pytest.raises(lifecycle.Refused, match="Only notes, updates, tasks and messages"):
        lifecycle.edit(incident, n=1, text="No", by=ada, at=now)


def test_a_message_is_captured_once_and_comes_back_after_it_was_taken_away(
    incident: Incident, ada: Person, now: datetime
) -> None:
    then = now - timedelta(minutes=10)

    def capture() -> Event:
        return lifecycle.capture(
            incident,
            text="it is DNS",
            author="Ben",
            ref="C1:1.0",
            by=ada,
            at=then,
            recorded_at=now,
            link="https://x.test",
        )

    first = capture()
    assert capture().pk == first.pk
    assert (first.at, first.link, first.data["author"]) == (then, "https://x.test", "Ben")
    lifecycle.retract(incident, n=first.n, by=ada, at=now)
    capture()
    (entry,) = [one for one in timeline.latest(incident, limit=9, reader=None) if one.event.n == first.n]
    assert entry.retracted is None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE incidents_event SET text = 'x'",
        "DELETE FROM incidents_event",
        "TRUNCATE incidents_event CASCADE",
    ],
)
@pytest.mark.parametrize("role", ["origin", "replica"])
def test_the_database_itself_refuses_to_change_the_timeline(incident: Incident, statement: str, role: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with pending deferred checks is not truncated anyway
        cursor.execute(f"SET LOCAL session_replication_role = {role}")
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            cursor.execute(statement)
    assert kinds_of(incident) == ["declared"]


def test_entries_are_numbered_without_gaps_even_when_a_verb_fails(
    incident: Incident, ada: Person, now: datetime
) -> None:
    lifecycle.note(incident, text="one", by=ada, at=now)
    with transaction.atomic():
        lifecycle.note(incident, text="lost", by=ada, at=now)
        transaction.set_rollback(True)
    lifecycle.note(incident, text="two", by=ada, at=now)
    assert list(Event.objects.filter(incident=incident).order_by("n").values_list("n", flat=True)) == [1, 2, 3]


def test_a_checklist_knows_only_its_own_items(incident: Incident, ada: Person, now: datetime) -> None:
    item = incident.policy.checklist[0]
    assert lifecycle.check_off(incident, item=item, done=True, by=ada, at=now).checked == [item]
    assert lifecycle.check_off(incident, item=item, done=False, by=ada, at=now).checked == []
    with pytest.raises(lifecycle.BadInput):
        lifecycle.check_off(incident, item="buy milk", done=True, by=ada, at=now)


def test_an_edited_policy_reaches_an_open_incident_only_when_it_is_adopted(
    incident: Incident, shipped: Shipped, now: datetime
) -> None:
    from incidents.policies import types
    from incidents.policies.policy import Policy

    type = shipped["ambiguous"]
    newer = Policy.from_dict(type.policy.as_dict() | {"update_every_min": 5})
    types.edit(type, policy=newer, by=None, at=now)
    assert Incident.objects.get(pk=incident.pk).policy.update_every_min == 60
    assert lifecycle.adopt(incident, by=None, at=now).policy.update_every_min == 5
    hidden = Policy.from_dict(newer.as_dict() | {"private": True})
    types.edit(IncidentType.objects.get(pk=type.pk), policy=hidden, by=None, at=now)
    with pytest.raises(lifecycle.Refused, match="retype it to move it"):
        lifecycle.adopt(incident, by=None, at=now)
