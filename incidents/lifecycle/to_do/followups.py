"""Tasks and follow-ups: add, assign, schedule, finish, drop and reopen them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date, datetime
from typing import Any, Final

from incidents import timeline
from incidents.followups import folding
from incidents.followups.folding import Phase, State
from incidents.lifecycle import rules, stating
from incidents.models import Event, Followup, Incident, Participant, Person, Source

KIND_OF: Final = {phase: kind for kind, phase in folding.MADE.items()}
FARTHEST: Final = 3  # years from now that a due date may lie


def add_followup(
    incident: Incident,
    *,
    text: str,
    phase: str = Phase.AFTERWARDS,
    owner: Person | None = None,
    due_on: date | None = None,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    link: str = "",
    since: int | None = None,
) -> Followup:
    """Add something to be done: a task while people respond, or a follow-up for afterwards.

    The owner of a task takes part from now on. ``since`` is the last event number that the person saw: the same text by
    the same person after it is the same form sent twice, and is added once. Raises ``BadInput`` for an owner who may
    not see the incident.
    """
    text = rules.text(text)
    with rules.changing(incident, by=by) as now:
        if (sent := _sent_before(now, text, phase=phase, by=by, since=since)) is not None:
            return sent
        if phase == Phase.DURING:
            rules.must_be_active(now, "add a task to")
        n = Followup.objects.filter(incident=now).count() + 1
        word = "task" if phase == Phase.DURING else "follow-up"
        data = {
            "followup": n,
            "word": word,
            "room": now.room,
            **due(due_on, at),
            **given(now, phase, owner, by, at, source),
        }
        kind = KIND_OF[Phase(phase)]
        event = timeline.append(now, kind, at=at, by=by, source=source, text=text, data=data, link=link)
        made = project(now, event)
        rules.save(now)
    return made


def _sent_before(now: Incident, text: str, *, phase: str, by: Person | None, since: int | None) -> Followup | None:
    if since is None:
        return None
    same = Event.objects.filter(incident=now, n__gt=since, kind=KIND_OF[Phase(phase)], by=by, text=text)
    return Followup.objects.filter(incident=now, entry_n__in=same.values("n")).order_by("n").first()


def assign_followup(
    incident: Incident, *, n: int, owner: Person | None, by: Person | None, at: datetime, source: str = Source.WEB
) -> Followup:
    """Assign one to someone, or to no one."""
    with _open(incident, n, by=by) as (now, one):
        if one.owner_id == (owner.pk if owner else None):
            return one
        data = given(now, one.phase, owner, by, at, source) or {"owner": None, "name": ""}
        return write(now, one, "followup_given", by=by, at=at, source=source, data=data)


def schedule_followup(
    incident: Incident, *, n: int, due_on: date | None, by: Person | None, at: datetime, source: str = Source.WEB
) -> Followup:
    """Set or clear its due date."""
    with _open(incident, n, by=by) as (now, one):
        if one.due_on == due_on:
            return one
        return write(now, one, "followup_due", by=by, at=at, source=source, data=due(due_on, at) or {"due": ""})


def change_followup(
    incident: Incident,
    *,
    n: int,
    changes: Mapping[str, Any],
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
) -> Followup:
    """Change its ``owner``, its due date (``due_on``), or both: either everything named is changed, or nothing."""
    about: dict[str, Any] = {"n": n, "by": by, "at": at, "source": source}
    with _open(incident, n, by=by) as (now, before):
        one = assign_followup(now, owner=changes["owner"], **about) if "owner" in changes else before
        if "due_on" in changes:
            return schedule_followup(now, due_on=changes["due_on"], **about)
    return one


def finish_followup(
    incident: Incident, *, n: int, by: Person | None, at: datetime, source: str = Source.WEB
) -> Followup:
    """Mark one as done; one that is already done stays so."""
    with held(incident, n, by=by) as (now, one):
        if one.state == State.DONE:
            return one
        _must_be_open(one)
        return write(now, one, "followup_done", by=by, at=at, source=source)


def drop_followup(
    incident: Incident, *, n: int, because: str = "", by: Person | None, at: datetime, source: str = Source.WEB
) -> Followup:
    """Drop one: it will not be done."""
    because = rules.text(because, field="because", needed=False)
    with held(incident, n, by=by) as (now, one):
        if one.state == State.DROPPED:
            return one
        _must_be_open(one)
        return write(now, one, "followup_dropped", by=by, at=at, source=source, text=because)


def reopen_followup(
    incident: Incident, *, n: int, by: Person | None, at: datetime, source: str = Source.WEB
) -> Followup:
    """Reopen one that was done or dropped. Raises ``Refused`` if its entry was retracted."""
    with held(incident, n, by=by) as (now, one):
        if one.is_open:
            return one
        must_not_be_retracted(now, one)
        return write(now, one, "followup_reopened", by=by, at=at, source=source)


def project(incident: Incident, event: Event) -> Followup:
    """Write the row of the one that an event is about, in the transaction that changed its events."""
    about = Event.objects.filter(incident=incident, kind__in=folding.KINDS, data__followup=event.data["followup"])
    now = folding.fold(timeline.entries(about.select_related("by").order_by("n")))
    row, _ = Followup.objects.update_or_create(incident=incident, n=now.n, defaults=asdict(now))
    row.incident = incident
    return row


@contextmanager
def held(incident: Incident, n: int, *, by: Person | None) -> Iterator[tuple[Incident, Followup]]:
    """Lock the incident for one verb, and yield both fresh. Raises ``Refused`` if there is no such follow-up."""
    with rules.changing(incident, by=by) as now:
        one = Followup.objects.filter(incident=now, n=n).first()
        if one is None:
            raise rules.Refused(f"There is no task or follow-up {n} on {now.codename}.")
        one.incident = now
        yield now, one


@contextmanager
def _open(incident: Incident, n: int, *, by: Person | None) -> Iterator[tuple[Incident, Followup]]:
    with held(incident, n, by=by) as (now, one):
        _must_be_open(one)
        yield now, one


def must_not_be_retracted(incident: Incident, one: Followup) -> None:
    """Raise ``Refused`` for one whose entry was retracted: it stays dropped."""
    entry = timeline.entries(Event.objects.filter(incident=incident, n=one.entry_n))[0]
    if entry.retracted is not None:
        raise rules.Refused(f"{_called(one)} was retracted. Add a new one.")


def _must_be_open(one: Followup) -> None:
    if not one.is_open:
        raise rules.Refused(f"{_called(one)} is {one.state}. Reopen it first.")


def _called(one: Followup) -> str:
    return f"{one.word.capitalize()} {one.n}"


def write(
    incident: Incident,
    one: Followup,
    kind: str,
    *,
    by: Person | None,
    at: datetime,
    source: str,
    text: str = "",
    data: Mapping[str, Any] | None = None,
    link: str = "",
) -> Followup:
    """Write an entry about one, and the resulting row, in the caller's transaction."""
    about = {"followup": one.n, "word": one.word, **(data or {})}
    event = timeline.append(incident, kind, at=at, by=by, source=source, text=text, data=about, link=link)
    row = project(incident, event)
    rules.save(incident)
    return row


def due(due_on: date | None, at: datetime) -> dict[str, str]:
    """Return the due date as an entry stores it. Raises ``BadInput`` for one too far away to be meant."""
    if due_on is None:
        return {}
    if abs(due_on.year - at.year) > FARTHEST:
        raise rules.BadInput("due_on", f"Choose a day within {FARTHEST} years.")
    return {"due": due_on.isoformat()}


def given(
    incident: Incident, phase: str, owner: Person | None, by: Person | None, at: datetime, source: str
) -> dict[str, Any]:
    """Return the owner as an entry stores it. A task brings its owner in; a follow-up needs one who may see the
    incident.
    """
    if owner is None:
        return {}
    if phase == Phase.DURING and incident.is_active:
        stating.must_be_in(incident, owner, by=by, at=at, source=source)
    elif not Participant.objects.filter(incident=incident, person=owner, left_at=None).exists():
        if incident.private:
            raise rules.BadInput("owner", f"{owner.name} is not in this private incident. Bring them in first.")
        if not owner.can_join:
            raise rules.BadInput("owner", f"{owner.name} cannot be assigned this: choose someone from this workspace.")
    return {"owner": owner.pk, "name": owner.name}
