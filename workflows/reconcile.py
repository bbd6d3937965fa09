"""Plan an incident from its newest facts, and write down what is owed. No vendor is called here."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import connection, transaction

from incidents import timeline
from incidents.models import Incident, Participant
from workflows import gather
from workflows.actions import KINDS, Action
from workflows.desired import Desired, Gap, desired_state
from workflows.facts import Facts, Someone
from workflows.models import Effect, Planned, Resource
from workflows.plan import Plan, plan

LOCK_CLASS = 0x46_4B  # "FK": our own space of advisory locks
LOOK_AGAIN = timedelta(seconds=10)


def reconcile(incident_id: int, *, at: datetime) -> Plan:
    """Write an effect for every action that the incident's newest facts ask for; return the plan.

    Serialised per incident. Doing it again without new facts writes nothing.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, incident_id])
        incident = Incident.objects.select_related("type", "policy_version", "lead").get(pk=incident_id)
        known = gather.one(incident)
        desired = desired_state(known.facts)
        if _note_gaps(incident, desired.gaps, at=at):
            known = gather.one(incident)  # a gap is told where people talk, and so is new to the plan
            desired = desired_state(known.facts)
        result = plan(desired, known.observed)
        _note_people(incident, known.facts, desired, at=at)
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
            due_at=at,
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
    Planned.objects.update_or_create(
        incident=incident,
        defaults={"revision": facts.revision, "at": at, "look_again_at": at + LOOK_AGAIN if unread else None},
    )


def _note_people(incident: Incident, facts: Facts, desired: Desired, *, at: datetime) -> None:
    """Let everyone whom the policy brings in take part, so that they may see a private incident at once."""
    asked = [one for group in facts.groups.values() for one in group or ()]
    wanted = {thing.spec["person"] for thing in desired.things if thing.kind == "member"}
    chosen = {one.chat_id: role for role, one in desired.chosen.items()}
    rows = {one.person_id: one for one in Participant.objects.filter(incident=incident)}
    for one in {one.chat_id: one for one in asked}.values():
        if one.chat_id not in wanted:
            continue
        row = rows.get(one.person_id)
        role = chosen.get(one.chat_id)
        if row is not None and row.left_at is None:
            continue
        reason = Participant.Reason.ONE_OF if role else Participant.Reason.GROUP
        detail = role or one.group
        Participant.objects.update_or_create(
            incident=incident,
            person_id=one.person_id,
            defaults={"reason": reason, "detail": detail, "since_at": at, "left_at": None, "went": False},
        )
        if role:
            _note_choice(incident, one, role, at=at)


def _note_choice(incident: Incident, one: Someone, role: str, *, at: datetime) -> None:
    text = f"{one.name} is {role}: the one of @{one.group}"
    timeline.append(incident, "chosen", at=at, text=text, data={"role": role, "group": one.group})


def _note_gaps(incident: Incident, gaps: Iterable[Gap], *, at: datetime) -> bool:
    """Write each new gap on the timeline once, and each closed one; tell whether there was any of them."""
    now = {gap.key: gap for gap in gaps}
    known = {row.key: row for row in Resource.objects.filter(incident=incident, kind="gap")}
    for key, gap in now.items():
        if f"gap/{key}" not in known:
            timeline.append(incident, "gap", at=at, text=gap.says, data={"gap": key, "room": incident.room})
            Resource.objects.create(incident=incident, key=f"gap/{key}", kind="gap", label=gap.says, since_at=at)
    closed = [row for key, row in known.items() if key.removeprefix("gap/") not in now]
    for row in closed:
        timeline.append(incident, "gap_closed", at=at, text=f"No longer missing: {row.label}", data={"gap": row.key})
        row.delete()
    return bool(closed) or any(f"gap/{key}" not in known for key in now)
