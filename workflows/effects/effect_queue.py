"""Claim effects and record their results; ``failing`` records what was not done."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, F, When

from incidents import event_kinds as kinds_of_events
from incidents import hints, timeline
from incidents.claiming.glance import Moment, Sql
from incidents.claiming.leases import Leases
from incidents.claiming.shared_clock import clock
from incidents.models import Incident
from incidents.written_rows import WrittenInsert, WrittenRows
from workflows.effects import failpoints, late_requests
from workflows.effects.ready import CLAIM, READY, READY_INCIDENTS
from workflows.effects.work import Outcome, Work
from workflows.models import Effect, Resource
from workflows.planning.actions import CREATE, EFFECTS, EVIDENCE, KINDS
from workflows.planning.observed import UNSETTLED

CLAIMS = Leases(
    Effect.objects, working=Effect.State.RUNNING, length=lambda: timedelta(seconds=settings.FIREKIND.lease_s), beats=3
)
TAKEN: Final = WrittenRows(Effect, of="(one.effect)")
TAKE: Final = CLAIM.format(effect=TAKEN.columns)
KEEP: Final = WrittenInsert(
    Resource,
    unique=["incident", "key"],
    update=["kind", "room", "label", "spec", "external", "external_id", "state"],
)
HASTY = [name for name, kind in KINDS.items() if kind.queue == EFFECTS]
SLOW = [name for name, kind in KINDS.items() if kind.queue == EVIDENCE]

OWED_KINDS: Final = """
    SELECT DISTINCT kind FROM workflows_effect WHERE incident_id = %s AND state IN ('waiting', 'running')
"""
OTHERS_WAIT: Final = """
    EXISTS (SELECT FROM workflows_effect o WHERE o.incident_id = workflows_effect.incident_id AND o.state = 'waiting')
"""
MOVED: Final = """
    SELECT key, (external ->> 'moved')::float8 FROM workflows_resource
     WHERE incident_id = %s AND key = ANY (%s) AND external ->> 'moved' IS NOT NULL
"""


def claim(incident_id: int, *, at: datetime, limit: int, kinds: Sequence[str] = HASTY) -> list[Work]:
    """Claim up to ``limit`` ready effects of these kinds of an incident, longest chains first, and commit.

    An effect whose lease ran out is taken too and marked ``unsure``: its last holder may have called the vendor.
    """
    values: dict[str, Any] = {"at": clock.at(at), "lease": CLAIMS.until(at), "incident": incident_id}
    values |= {"limit": limit, "kinds": list(kinds)}
    with connection.cursor() as cursor:
        cursor.execute(TAKE, values)
        taken = [Work(TAKEN.found(row), json.loads(row[-1] or "{}")) for row in cursor.fetchall()]
    return sorted(taken, key=lambda work: (work.effect.rank, work.effect.pk))


def owed_kinds(incident_id: int) -> list[str]:
    """Return the kinds of an incident's effects that are waiting or running."""
    with connection.cursor() as cursor:
        cursor.execute(OWED_KINDS, [incident_id])
        return [kind for (kind,) in cursor.fetchall()]


def record_done(
    work: Work, outcome: Outcome, *, at: datetime, claim_more: int = 0, kinds: Sequence[str] = HASTY
) -> list[Work]:
    """Record in one transaction that an effect is done and what exists now; return newly claimed effects.

    Records nothing if the claim was lost meanwhile: its new holder asks the vendor itself.
    """
    effect = work.effect
    may_be_unwanted = effect.verb == CREATE and (effect.abandoned or KINDS[effect.kind].retire is not None)
    with transaction.atomic():
        if outcome.says or may_be_unwanted or outcome.also:
            timeline.hold(effect.incident_id)
            failpoints.point(failpoints.RECORDING, kind=effect.kind)
        ended = _ended(effect, again_at=outcome.again_at, at=at)
        others_wait = CLAIMS.record(effect, asking=OTHERS_WAIT, **ended)
        if others_wait is None:
            return []
        if outcome.there:
            _keep(effect, outcome.there, at=at, settled=ended["state"] == Effect.State.DONE)
        if outcome.gone:
            Resource.objects.filter(incident=effect.incident_id, key__in=outcome.gone).delete()
        if outcome.there and may_be_unwanted:
            _unless_unwanted(effect)
        _tell(effect, outcome, at=at)
        if outcome.also is not None:
            outcome.also(at)
        if not (claim_more and others_wait):  # mostly nothing of their incident waits any more
            return []
        return claim(effect.incident_id, at=at, limit=claim_more, kinds=kinds)


def _ended(effect: Effect, *, again_at: datetime | None, at: datetime) -> dict[str, Any]:
    """Return the new state of a finished effect; it is repeated if an earlier request may still undo it."""
    calm = {"error": "", "error_code": "", "leased_until": None}
    if (arrived := again_at or late_requests.may_undo_until(effect, at=at)) is not None:
        return calm | {"state": Effect.State.WAITING, "due_at": arrived, "unanswered": 0, "attempt": 0}
    return calm | {"state": Effect.State.DONE, "ended_at": at}


def _tell(effect: Effect, outcome: Outcome, *, at: datetime) -> None:
    if not outcome.says:
        timeline.nudge_readers(effect.incident_id)
        return
    incident, data = Incident(pk=effect.incident_id), {"effect": effect.key, **outcome.data}
    told_there = outcome.kind in kinds_of_events.TOLD
    if told_there:
        incident = Incident.objects.get(pk=effect.incident_id)
        data = {"room": incident.room, **data}
    timeline.append(incident, outcome.kind, at=outcome.at or at, recorded_at=at, text=outcome.says, data=data)
    if told_there:
        replan(effect.incident_id)


def _keep(effect: Effect, resources: Sequence[Resource], *, at: datetime, settled: bool = True) -> None:
    if effect.kind == "member":
        resources = list(_unless_moved(effect, resources))
    for resource in resources:
        if not settled:
            resource.spec = resource.spec | {UNSETTLED: True}
        resource.incident_id = effect.incident_id
        resource.room = effect.room if resource.room is None else resource.room
        resource.since_at = at
    KEEP.add(resources)


def _unless_moved(effect: Effect, members: Sequence[Resource]) -> Iterator[Resource]:
    """Yield the members except those with news newer than this request, such as that they left.

    The time of the last report is kept, so that older news that arrives late is recognised as old.
    """
    sent = effect.tried_at or effect.begun_at
    with connection.cursor() as cursor:
        cursor.execute(MOVED, [effect.incident_id, [one.key for one in members]])
        moved: dict[str, float] = dict(cursor.fetchall())
    for one in members:
        last = moved.get(one.key)
        if last is None or sent is None or last <= sent.timestamp():
            one.external = one.external | ({} if last is None else {"moved": last})
            yield one


def _unless_unwanted(effect: Effect) -> None:
    """Plan again if what was just made is no longer wanted: it has to be undone.

    The same holds the other way around: it was undone as unwanted, and all of it is wanted again by now.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT abandoned FROM workflows_effect WHERE id = %s", [effect.pk])
        (abandoned,) = cursor.fetchone()
    if effect.abandoned or abandoned:
        replan(effect.incident_id)


def replan(incident_id: int) -> None:
    """Turn an effect's result into a new fact, so that a plan being computed right now cannot miss it."""
    Incident.objects.filter(pk=incident_id).update(revision=F("revision") + 1)
    hints.tell(Incident(pk=incident_id))


def note_try(work: Work, *, at: datetime, is_first: bool = False) -> None:
    """Record that a request is being sent now, which may be later than the claim.

    For the first request nothing is in doubt: anything done earlier has been looked for, so the doubt starts now.
    """
    effect = work.effect
    sent: dict[str, Any] = {"tried_at": clock.at(at)}
    if is_first:
        sent |= {"unsure": False, "begun_at": sent["tried_at"]}
    if CLAIMS.mine(effect).update(**sent):
        for name, value in sent.items():
            setattr(effect, name, value)


def done_by_hand(effect: Effect, outcome: Outcome, *, at: datetime) -> bool:
    """Record a failed effect as done, in the caller's transaction; return False if it was no longer failed.

    Its error code stays: that a person did it does not mean that the vendor would do it for us now.
    """
    failed = Effect.objects.filter(pk=effect.pk, state=Effect.State.FAILED)
    if not failed.update(state=Effect.State.DONE, ended_at=at, error=""):
        return False
    if outcome.there:
        _keep(effect, outcome.there, at=at)
    Resource.objects.filter(incident=effect.incident_id, key__in=outcome.gone).delete()
    return True


def put_back(work: Work, *, until: datetime) -> None:
    """Return a claim untried, until a later moment, or until now if whether it is wanted has changed."""
    effect = work.effect
    due_at = Case(When(abandoned=effect.abandoned, then=until), default=effect.due_at)
    CLAIMS.mine(effect).update(
        state=Effect.State.WAITING, unanswered=effect.unanswered - 1, due_at=due_at, leased_until=None
    )


def ready_incidents(*, at: datetime, kinds: Sequence[str]) -> dict[str, list[int]]:
    """Return incidents with an effect of these kinds that can be performed right now, by the port they need.

    Oldest first; always a single query.
    """
    ports = [KINDS[kind].port for kind in kinds]
    with connection.cursor() as cursor:
        cursor.execute(READY_INCIDENTS, {"at": clock.at(at), "kinds": list(kinds), "ports": ports})
        found = cursor.fetchall()
    return {port: [pk for _, pk in rows] for port, rows in groupby(found, key=itemgetter(0))}


def ready(now: Moment, kinds: Sequence[str]) -> Sql:
    """Return the SQL statement that finds effects of these kinds that can be performed right now."""
    return Sql(f"{READY} AND e.kind = ANY(%(kinds)s)", {"at": now.shared, "kinds": list(kinds)})
