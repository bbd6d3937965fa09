"""Plan an incident from its newest facts, and write down what is owed. No vendor is called here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from incidents import timeline
from incidents.models import Incident, Participant
from workflows import gather
from workflows.actions import KINDS, Action
from workflows.desired import desired_state
from workflows.facts import Facts
from workflows.gather import Known
from workflows.models import Effect, Planned, Resource
from workflows.plan import Plan, plan
from workflows.someone import Someone
from workflows.things import Desired, Gap

LOCK_CLASS = 0x46_4B  # "FK": our own space of advisory locks
LOOK_AGAIN = timedelta(seconds=10)
NOTE_PLANNED = """
    INSERT INTO workflows_planned (incident_id, revision, at, look_again_at) VALUES (%s, %s, %s, %s)
    ON CONFLICT (incident_id) DO UPDATE
       SET revision = excluded.revision, at = excluded.at, look_again_at = excluded.look_again_at
"""


def reconcile(incident_id: int, *, at: datetime) -> Plan:
    """Write an effect for every action that the incident's newest facts ask for; return the plan.

    Serialised per incident. Doing it again without new facts writes nothing.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, incident_id])
        planned = Exists(Planned.objects.filter(incident=OuterRef("pk")))
        found = Incident.objects.select_related("type", "policy_version", "lead").annotate(was_planned=planned)
        incident = found.get(pk=incident_id)
        known = gather.one(incident, planned=incident.was_planned)
        desired = desired_state(known.facts)
        if _note_gaps(incident, desired.gaps, known.gaps, at=at):
            known = gather.one(incident)  # a gap is told where people talk, and so is new to the plan
            desired = desired_state(known.facts)
        result = plan(desired, known.observed)
        _note_people(incident, known, desired, at=at)
        _cancel(incident, result.cancels, at=at)
        _abandon(incident, result.abandons)
        _owe(incident, result.actions, known.facts.revision, at=at)
        _note_planned(incident, known.facts, at=at)
        if not result.is_empty:
            timeline.nudge_readers(incident.pk)
    return result


def _owe(incident: Incident, actions: Iterable[Action], revision: int, *, at: datetime) -> None:
    Effect.objects.bulk_create(
        Effect(
            incident=incident,
            key=action.key,
            thing=action.thing,
            kind=action.kind,
            verb=action.verb,
            spec=action.spec,
            labels=dict(action.labels),
            sentence=action.sentence,
            sign=action.sign,
            method=KINDS[action.kind].methods[action.verb],
            rank=KINDS[action.kind].rank,
            room=action.room,
            needs=list(dict.fromkeys(action.needs)),
            after=list(action.after),
            revision=revision,
            due_at=max(at, action.due_at or at),
            created_at=at,
        )
        for action in actions
    )


def _cancel(incident: Incident, keys: Iterable[str], *, at: datetime) -> None:
    keys = list(keys)
    if keys:
        Effect.objects.filter(
            incident=incident, key__in=keys, state__in=[Effect.State.WAITING, Effect.State.FAILED]
        ).update(state=Effect.State.CANCELLED, ended_at=at)


def _abandon(incident: Incident, keys: Iterable[str]) -> None:
    if keys:
        Effect.objects.filter(incident=incident, key__in=keys).update(abandoned=True)


def _note_planned(incident: Incident, facts: Facts, *, at: datetime) -> None:
    unread = facts.chat and facts.active and bool(facts.policy.groups) and not facts.groups
    again = at + LOOK_AGAIN if unread else None
    with connection.cursor() as cursor:
        cursor.execute(NOTE_PLANNED, [incident.pk, facts.revision, at, again])


def _note_people(incident: Incident, known: Known, desired: Desired, *, at: datetime) -> None:
    """Let everyone whom the policy brings in take part, so that they may see a private incident at once."""
    wanted = {thing.spec["person"] for thing in desired.things if thing.kind == "member"}
    asked = {one.chat_id: one for one in _asked(known.facts, desired) if one.chat_id in wanted}
    there = {one.person_id for one in known.taking_part if one.left_at is None}
    roles = {one.chat_id: role for role, one in desired.chosen.items()}
    new = [one for one in asked.values() if one.person_id not in there]
    chosen = {role: one for role, one in desired.chosen.items() if _is_news(role, one, known.facts)}
    if not (new or chosen) or not _is_newest(incident):
        return
    Participant.objects.bulk_create(
        [_taking_part(incident, one, roles.get(one.chat_id), at=at) for one in new],
        update_conflicts=True,
        unique_fields=["incident", "person"],
        update_fields=["reason", "detail", "since_at", "left_at", "went"],
    )
    for role, one in chosen.items():
        _note_choice(incident, one, role, at=at)


def _asked(facts: Facts, desired: Desired) -> Iterator[Someone]:
    """Yield those who may be brought in: by page, by group, and last those chosen, whose reason outweighs the rest."""
    for called in (*facts.callees.values(), *(one.callee for one in facts.asked), *facts.paged):
        yield from called.people if called else ()
    for group in facts.groups.values():
        yield from group or ()
    yield from desired.chosen.values()


def _is_news(role: str, one: Someone, facts: Facts) -> bool:
    known = dict(facts.roles).get(role) or facts.chosen.get(role)
    return known is None or known.chat_id != one.chat_id


def _is_newest(incident: Incident) -> bool:
    """Hold the incident's row, and tell whether its facts are still those that were read.

    A verb that committed since may have shut people out, who must not be let in again. What moved on is planned anew.
    """
    rows = Incident.objects.select_for_update(no_key=True).filter(pk=incident.pk, revision=incident.revision)
    return bool(rows.values_list("pk", flat=True))


def _taking_part(incident: Incident, one: Someone, role: str | None, *, at: datetime) -> Participant:
    reason = Participant.Reason.ONE_OF if role else Participant.Reason.GROUP if one.group else Participant.Reason.PAGED
    detail = role or one.group or one.why
    return Participant(incident=incident, person_id=one.person_id, reason=reason, detail=detail[:120], since_at=at)


def _note_choice(incident: Incident, one: Someone, role: str, *, at: datetime) -> None:
    """Write down who was chosen and why: whoever it is stays the one in this room, past the end of their shift."""
    data = {"role": role, "person": one.person_id, "why": one.why, "room": incident.room}
    timeline.append(incident, "chosen", at=at, text=f"{one.name} is {role}: {one.why}", data=data)


def _note_gaps(incident: Incident, gaps: Iterable[Gap], known: Mapping[str, Resource], *, at: datetime) -> bool:
    """Write each new gap on the timeline once, and each closed one; tell whether there was any of them."""
    now = {f"gap/{gap.key}": gap for gap in gaps}
    new = [key for key in now if key not in known]
    for key in new:
        says = now[key].says
        timeline.append(incident, "gap", at=at, text=says, data={"gap": key, "room": incident.room})
        Resource.objects.create(incident=incident, key=key, kind="gap", label=says, since_at=at)
    closed = [row for key, row in known.items() if key not in now]
    for row in closed:
        timeline.append(incident, "gap_closed", at=at, text=f"No longer missing: {row.label}", data={"gap": row.key})
        row.delete()
    return bool(new or closed)
