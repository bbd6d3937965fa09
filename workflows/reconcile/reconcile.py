"""Plan an incident from its newest facts, and write the effects. Calls no vendor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction

from audit import tracing
from incidents import sentences, timeline, visibility
from incidents.claiming.shared_clock import clock
from incidents.lifecycle import circle
from incidents.models import Incident, Participant, Source
from incidents.visibility import OPERATOR
from incidents.written_rows import WrittenInsert
from workflows.effects import effect_queue, message_marks, restoring
from workflows.effects.failing import abandoned, failures
from workflows.loading import load_facts
from workflows.loading.load_facts import IncidentState
from workflows.models import Effect, Resource
from workflows.paging import called_off
from workflows.planning import participation, withdrawal
from workflows.planning.actions import CREATE, KINDS, Action
from workflows.planning.desired import desired_state
from workflows.planning.participation import Participation
from workflows.planning.plan import Plan, plan
from workflows.planning.things import Gap
from workflows.planning.wording import page_notes
from workflows.reconcile import admitting, offers

UNDER_WAY = [Effect.State.WAITING, Effect.State.RUNNING]
LOCK_CLASS = 0x46_4B  # "FK": our own space of advisory locks
LOOK_AGAIN = timedelta(seconds=10)
NOTE_PLANNED = """
    INSERT INTO workflows_planned (incident_id, revision, at, look_again_at) VALUES (%s, %s, %s, %s)
    ON CONFLICT (incident_id) DO UPDATE
       SET revision = excluded.revision, at = excluded.at, look_again_at = excluded.look_again_at
"""

IS_SETTLED: Final = """
    SELECT FROM workflows_planned WHERE incident_id = %s
       AND NOT EXISTS (SELECT FROM workflows_unplanned WHERE incident_id = %s)
       AND (look_again_at IS NULL OR look_again_at > %s)
"""
HOLD_NEWEST: Final = "SELECT 1 FROM incidents_incident WHERE id = %s AND revision = %s FOR NO KEY UPDATE"
OWE: Final = WrittenInsert(Effect)


def reconcile(incident_id: int, *, at: datetime) -> Plan:
    """Write an effect for every action that the incident's newest facts ask for; return the plan.

    One at a time per incident. Repeating it without new facts writes nothing.
    """
    with _alone(incident_id):
        return _traced(incident_id, at=at)


def catch_up(incident_id: int, *, at: datetime) -> Plan | None:
    """Do the same, unless its newest facts are planned by now; then return None.

    While many incidents wait, a hint and a look both find each of them, and planning is most of a worker's work.
    """
    with _alone(incident_id):
        return _traced(incident_id, at=at) if _is_behind(incident_id, at=at) else None


@contextmanager
def _alone(incident_id: int) -> Iterator[None]:
    """Wait until no one else plans this incident."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, incident_id])
        yield


def _traced(incident_id: int, *, at: datetime) -> Plan:
    with tracing.span("reconcile", parent=_command(incident_id), incident=incident_id):
        return _reconciled(incident_id, at=at)


def _command(incident_id: int) -> str:
    """Return the trace of the command that caused the incident's newest facts, if traces are kept."""
    if not tracing.listeners:
        return ""
    return Incident.objects.values_list("traceparent", flat=True).get(pk=incident_id)


def _reconciled(incident_id: int, *, at: datetime) -> Plan:
    incident = visibility.one(OPERATOR, "i.id = %s", [incident_id])
    if incident is None:
        raise Incident.DoesNotExist
    known = load_facts.one(incident, planned=_was_planned(incident))
    desired = desired_state(known.facts)
    gaps = _note_gaps(incident, desired.gaps, known, at=at)
    asked = _note_offers(incident, known, at=at)
    if gaps or asked:
        known = load_facts.one(incident)  # both entries are posted in the channel, so the plan must include them
        desired = desired_state(known.facts)
    if _note_people(incident, known, participation.of(known.facts), at=at):
        known = load_facts.one(incident)  # what is said depends on who is in
        desired = desired_state(known.facts)
    result = plan(desired, known.observed)
    over = called_off.over(known, result)
    if over or result.doubts:
        timeline.hold(incident.pk)  # before its effects, in the order in which recording an outcome locks
    if over:
        called_off.end(incident, over, at=at)
    _cancel(incident, result.cancels, at=at)
    if known.observed.owed:
        _abandon(incident, result, at=at)
    _owe(incident, result.actions, known.facts.revision, at=at)
    _note_planned(incident, known, at=at)
    if not result.is_empty:
        timeline.nudge_readers(incident.pk)
    return result


def _is_behind(incident_id: int, *, at: datetime) -> bool:
    """Return whether it has facts that no plan covers, asked to be planned again, or is not there."""
    with connection.cursor() as cursor:
        cursor.execute(IS_SETTLED, [incident_id, incident_id, clock.at(at)])
        return cursor.fetchone() is None


def _was_planned(incident: Incident) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM workflows_planned WHERE incident_id = %s)", [incident.pk])
        return bool(cursor.fetchone()[0])


def _owe(incident: Incident, actions: Iterable[Action], revision: int, *, at: datetime) -> None:
    """Write an effect for each action; those that may have been done in a time the database lost are looked for first.

    Pages are not: no one who should be paged waits until the pager can be asked.
    """
    now, actions = clock.at(at), list(actions)
    may_be_lost = {one.key for one in actions if (one.kind, one.verb) in restoring.DOUBTED}
    lost_since = restoring.lost_since(declared_at=incident.declared_at, at=at) if may_be_lost else None
    doubted = may_be_lost if lost_since is not None else set()
    OWE.add(
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
            mark=message_marks.own(incident, action),
            alike=message_marks.shared(incident, action) if action.kind == "post" else "",
            traceparent=tracing.here(),
            unsure=action.key in doubted,
            begun_at=lost_since if action.key in doubted else None,
            due_at=max(now, action.due_at or now),
            created_at=now,
        )
        for action in actions
    )


def _cancel(incident: Incident, keys: Iterable[str], *, at: datetime) -> None:
    keys = list(keys)
    if keys:
        Effect.objects.filter(
            incident=incident, key__in=keys, state__in=[Effect.State.WAITING, Effect.State.FAILED]
        ).update(state=Effect.State.CANCELLED, ended_at=at)


def _abandon(incident: Incident, result: Plan, *, at: datetime) -> None:
    """Record which effects under way are no longer wanted; a page that is wanted again continues at once.

    So does one that is wanted with other words: the change waits until it has ended.
    """
    begun = Effect.objects.filter(incident=incident, state__in=UNDER_WAY)
    again = begun.filter(abandoned=True).exclude(key__in=[*result.abandons, *result.cancels])
    otherwise = begun.filter(abandoned=True, key__in=result.abandons, thing__in=[one.thing for one in result.actions])
    for wanted in (again, otherwise):
        wanted.filter(kind="page", verb=CREATE, state=Effect.State.WAITING).update(due_at=clock.at(at))
    again.update(abandoned=False)
    if result.abandons:
        begun.filter(key__in=result.abandons).update(abandoned=True)
        abandoned.let_go(incident.pk, at=at)
    if result.doubts and failures.look_for_failed(incident.pk, result.doubts, at=at):
        effect_queue.replan(incident.pk)  # what is found may have to be withdrawn, or kept up to date


def _note_planned(incident: Incident, known: IncidentState, *, at: datetime) -> None:
    facts = known.facts
    unread = facts.chat and facts.active and bool(facts.policy.groups) and not facts.groups
    archived = [facts.room_of(number) for number in facts.rooms_left if facts.is_there(f"archived/{number}")]
    withdrawing = facts.chat and any(room.withdrawing for room in archived)
    wait = LOOK_AGAIN if unread or withdrawing else abandoned.CONNECTED_AGAIN if _is_cut_off(known) else None
    again = None if wait is None else clock.at(at) + wait
    with connection.cursor() as cursor:
        cursor.execute(NOTE_PLANNED, [incident.pk, facts.revision, at, again])


def _is_cut_off(known: IncidentState) -> bool:
    """Return whether something of it is where nothing is connected now, and must change once that is connected."""
    facts = known.facts
    if not facts.chat and any(one.kind == "channel" for one in known.observed.seen.values()):
        return True
    stranded = bool(facts.stranded or facts.doubtful)
    return facts.private and (stranded or (not facts.pager and withdrawal.has_titles(facts)))


def _note_people(incident: Incident, known: IncidentState, who: Participation, *, at: datetime) -> bool:
    """Record who takes part by the type's policy, if that has changed, so that access follows the plan.

    Return whether anyone no longer takes part.

    In a private incident, people are recorded by name when it closes; here only if the groups had not been read by
    then.
    """
    admission = admitting.of(known.facts, who)
    over = [] if incident.private else _no_longer_in(known, who)
    closes = incident.private and incident.closed_at is None and admission.is_known
    if not (admission.entries or admission.choices or over or closes) or not _is_newest(incident):
        return False
    if over:
        Participant.objects.filter(incident=incident, person__in=over).update(left_at=at)
    circle.admit(incident, admission, by=None, at=at, source=Source.SYSTEM)
    if closes:
        Incident.objects.filter(pk=incident.pk).update(closed_at=at)
    return bool(over)


def _no_longer_in(known: IncidentState, who: Participation) -> list[int]:
    """Return people brought in by a policy that no longer asks for them, and who were never invited."""
    facts = known.facts
    if not facts.active:
        return []
    return [
        pk
        for pk, one in who.standings.items()
        if one.here and not one.wanted and not facts.is_there(f"member/{facts.room}/{one.who.chat_id}")
    ]


def _note_offers(incident: Incident, known: IncidentState, *, at: datetime) -> bool:
    """Ask the participants about people a rule now names; return whether there was anyone to ask about."""
    found = offers.differing(known)
    if not found or not _is_newest(incident):
        return False
    offers.note(incident, found, at=at)
    return True


def _is_newest(incident: Incident) -> bool:
    """Lock the incident's row, and return whether its facts are still those that were read.

    A verb that committed since may have shut people out, and they must not be let in again: if so, plan again.
    """
    with connection.cursor() as cursor:
        cursor.execute(HOLD_NEWEST, [incident.pk, incident.revision])
        return cursor.fetchone() is not None


def _note_gaps(incident: Incident, gaps: Iterable[Gap], state: IncidentState, *, at: datetime) -> bool:
    """Write each new gap and each closed one on the timeline, once; return whether there were any.

    A gap whose words have changed, for example because a second ticket is affected, is shown with its new words.
    """
    now, known = {f"gap/{gap.key}": gap for gap in gaps}, state.gaps
    _note_words(incident, ((row, now[key].says) for key, row in known.items() if key in now))
    new = [key for key in now if key not in known]
    for key in new:
        says, room = now[key].says, incident.room if now[key].told else 0
        timeline.append(incident, "gap", at=at, text=says, data={"gap": key, "room": room})
        Resource.objects.create(incident=incident, key=key, kind="gap", label=says, since_at=at)
    closed = [row for key, row in known.items() if key not in now]
    for row in closed:
        what, _how = sentences.first(row.label)  # how to fix it no longer matters
        sent = page_notes.sent_all_the_same(row.key.removeprefix("gap/"), paged=state.facts.paged)
        text = sent or f"No longer an issue: {what}"
        timeline.append(incident, "gap_closed", at=at, text=text, data={"gap": row.key})
        row.delete()
    return bool(new or closed)


def _note_words(incident: Incident, words: Iterable[tuple[Resource, str]]) -> None:
    """Store the current words of open gaps, for the pages that show them."""
    changed = [(row, says) for row, says in words if row.label != says]
    for row, says in changed:
        Resource.objects.filter(pk=row.pk).update(label=says)
    if changed:
        timeline.nudge_readers(incident.pk)
