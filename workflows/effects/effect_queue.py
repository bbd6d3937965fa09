"""Claim effects and record their outcome: the only writer of an effect's state once planned."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, F, Max, Q, QuerySet, When

from incidents import event_kinds as kinds_of_events
from incidents import hints, lifecycle, timeline
from incidents.claiming.leases import Leases
from incidents.claiming.shared_clock import clock
from incidents.models import Event, Incident
from workflows.effects import failpoints, manual_checks
from workflows.effects.ready import CLAIM, READY_INCIDENTS
from workflows.effects.work import Outcome, Work
from workflows.models import Effect, Limit, Resource
from workflows.planning.actions import CHANGE, CREATE, EFFECTS, EVIDENCE, KINDS, RETIRE
from workflows.planning.observed import ELSEWHERE, IN_WORKSPACE, UNSETTLED
from workflows.ports import VendorError

ATTEMPTS = 12  # with the back-off below: about half an hour of a vendor being down
# Claims in a row that nothing was recorded of: each is renewed while its worker lives, so that many workers died.
UNANSWERED = 20
BACK_OFF_AT_MOST_S = 300
# Not told where people talk: that is what failed, or it adds nothing to the words that stand there.
QUIET_FAILURES = {("channel", CREATE), ("post", CREATE), ("post", CHANGE), ("pin", CREATE)}
QUIET_FAILURES |= {("upload", CREATE), ("picture", CREATE)}

CLAIMS = Leases(
    Effect.objects, working=Effect.State.RUNNING, length=lambda: timedelta(seconds=settings.FIREKIND.lease_s), beats=3
)
# Made twice where a request that was not answered is carried out after we looked; all else the vendor would refuse.
DOUBLED = {("post", CREATE), ("bookmark", CREATE), ("picture", CREATE), ("ticket", CREATE), ("ticket", CHANGE)}
# What would stand where nobody looks for it, once such a request of an abandoned effect is carried out.
LEFT_BEHIND = DOUBLED | {("topic", CREATE), ("page", CREATE)}
# Changes that such a request of an earlier one would undo.
UNDONE = {("post", CHANGE), ("topic", CHANGE), ("bookmark", CHANGE), ("page", CHANGE)}
# How long after it was sent such a request may still be carried out, by port.
ARRIVES: Mapping[str, timedelta] = {
    "chat": timedelta(seconds=45),
    "pager": timedelta(seconds=45),
    "tracker": timedelta(seconds=75),
}
CONNECTED_AGAIN = timedelta(minutes=1)  # until what stands where nothing is connected is asked for again
MAY_STAND = "It may have been opened in a project that is not connected now. Connect that project again, then retry."
LEFT = {"state": Effect.State.FAILED, "abandoned": False, "error": MAY_STAND, "error_code": ELSEWHERE}
LOOKED_FOR_ELSEWHERE = timedelta(hours=6)  # unless it is connected again before
LOOKED_FOR_EVERY = timedelta(seconds=15)  # as long as it may

HASTY = [name for name, kind in KINDS.items() if kind.queue == EFFECTS]
SLOW = [name for name, kind in KINDS.items() if kind.queue == EVIDENCE]


def claim(incident_id: int, *, at: datetime, limit: int, kinds: Sequence[str] = HASTY) -> list[Work]:
    """Take up to ``limit`` ready effects of these kinds of an incident, the longest chains first, and commit that.

    An effect whose lease ran out is taken too and marked ``unsure``: its last holder may have called the vendor.
    """
    values = {"at": clock.at(at), "lease": CLAIMS.until(at), "incident": incident_id}
    values |= {"limit": limit, "kinds": list(kinds)}
    taken: list[Any] = sorted(Effect.objects.raw(CLAIM, values), key=lambda effect: (effect.rank, effect.pk))
    return [Work(effect, json.loads(effect.known or "{}")) for effect in taken]


def record_done(
    work: Work, outcome: Outcome, *, at: datetime, claim_more: int = 0, kinds: Sequence[str] = HASTY
) -> list[Work]:
    """Record that an effect is done, with what exists now, in one transaction; return newly claimed effects.

    Nothing is recorded when the claim was lost to someone else meanwhile: they look at the outside themselves.
    """
    effect = work.effect
    may_be_unwanted = effect.verb == CREATE and (effect.abandoned or KINDS[effect.kind].retire is not None)
    with transaction.atomic():
        if outcome.says or may_be_unwanted or outcome.also:
            timeline.hold(effect.incident_id)
            failpoints.point(failpoints.RECORDING, kind=effect.kind)
        ended = _ended(effect, at=at)
        if not CLAIMS.mine(effect).update(**ended):
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
        return claim(effect.incident_id, at=at, limit=claim_more, kinds=kinds) if claim_more else []


def _ended(effect: Effect, *, at: datetime) -> dict[str, Any]:
    """Return how an effect stands that was done; it is done once more where an earlier request may undo it yet."""
    calm = {"error": "", "error_code": "", "leased_until": None}
    if (effect.kind, effect.verb) in UNDONE:
        others = others_on_their_way(effect, at=at).exclude(spec=effect.spec)
        if (arrived := _all_arrived_at(others, effect)) is not None:
            return calm | {"state": Effect.State.WAITING, "due_at": arrived, "unanswered": 0, "attempt": 0}
    return calm | {"state": Effect.State.DONE, "ended_at": at}


def others_on_their_way(effect: Effect, *, at: datetime) -> QuerySet[Effect]:
    """Return the other effects of the same thing of which a request may be carried out yet."""
    since = clock.at(at) - ARRIVES[KINDS[effect.kind].port]
    others = Effect.objects.filter(incident=effect.incident_id, thing=effect.thing, unsure=True, tried_at__gt=since)
    return others.exclude(pk=effect.pk)


def _all_arrived_at(others: QuerySet[Effect], effect: Effect) -> datetime | None:
    """Return when no request of these can be carried out any more; None where there is none."""
    last: datetime | None = others.aggregate(last=Max("tried_at"))["last"]
    return None if last is None else last + ARRIVES[KINDS[effect.kind].port]


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
        plan_anew(effect.incident_id)


def _keep(effect: Effect, resources: Sequence[Resource], *, at: datetime, settled: bool = True) -> None:
    if effect.kind == "member":
        resources = list(_unless_moved(effect, resources))
    for resource in resources:
        if not settled:
            resource.spec = resource.spec | {UNSETTLED: True}
        resource.incident_id = effect.incident_id
        resource.room = effect.room if resource.room is None else resource.room
        resource.since_at = at
    Resource.objects.bulk_create(
        resources,
        update_conflicts=True,
        unique_fields=["incident", "key"],
        update_fields=["kind", "room", "label", "spec", "external", "external_id", "state"],
    )


def _unless_moved(effect: Effect, members: Sequence[Resource]) -> Iterator[Resource]:
    """Yield members but for those of whom the vendor told something newer than this request: that they left, say.

    When it last told something of one is kept, so that what is older and comes late stays known as that.
    """
    sent = effect.tried_at or effect.begun_at
    known = Resource.objects.filter(incident=effect.incident_id, key__in=[one.key for one in members])
    moved = dict(known.filter(external__has_key="moved").values_list("key", "external__moved"))
    for one in members:
        last = moved.get(one.key)
        if last is None or sent is None or last <= sent.timestamp():
            one.external = one.external | ({} if last is None else {"moved": last})
            yield one


def record_error(work: Work, error: VendorError, *, at: datetime) -> None:
    """Record that a call went wrong: again later when that may help, else failed and told.

    A rate limit stops its method for everyone and costs this effect no attempt; nor does time, or a lost claim.
    """
    effect, limited, now = work.effect, error.retry_after is not None, clock.at(at)
    with transaction.atomic():
        timeline.hold(effect.incident_id)
        if error.retry_after is not None:
            until = now + timedelta(seconds=error.retry_after)
            _block(KINDS[effect.kind].port, error.method, effect.method, until=until)
        attempt = effect.attempt + (0 if limited else 1)
        final = not error.retryable or attempt >= ATTEMPTS
        if not error.unknown and not effect.unsure and _end_abandoned(effect, at=at):
            return
        changed = CLAIMS.mine(effect).update(
            state=Effect.State.FAILED if final else Effect.State.WAITING,
            attempt=attempt,
            unanswered=0,
            unsure=effect.unsure or error.unknown,
            **_tried(effect, error),
            due_at=now + timedelta(seconds=_wait_s(error, attempt)),
            leased_until=None,
            ended_at=at if final else None,
            error=error.says,
            error_code=error.code,
        )
        if changed and final:
            _tell_failure(effect, error, at=at)
        elif changed:
            timeline.nudge_readers(effect.incident_id)


def _tried(effect: Effect, error: VendorError) -> dict[str, datetime | None]:
    """Return when the request was sent that may still be on its way: not this one, where its connection broke."""
    if not error.unknown or error.lingers:
        return {}
    return {"tried_at": effect.tried_at if effect.unsure else None}


def leave_in_doubt(effect: Effect, error: VendorError, *, at: datetime) -> None:
    """Fail what may have been done where nobody can look now, whoever holds it, with the incident held; tell why."""
    begun = Effect.objects.filter(pk=effect.pk).exclude(state__in=[Effect.State.DONE, Effect.State.CANCELLED])
    ended = {"state": Effect.State.FAILED, "ended_at": at, "leased_until": None, "token": F("token") + 1}
    if begun.update(**ended, unsure=True, error=error.says, error_code=error.code):
        _tell_failure(effect, error, at=at)


def give_up(work: Work, *, at: datetime) -> None:
    """Cancel an effect that was abandoned while its outcome was unknown, and that was not found to have happened.

    One that is wanted again by now is given back.
    """
    with transaction.atomic():
        timeline.hold(work.effect.incident_id)
        if not _end_abandoned(work.effect, at=at):
            put_back(work, until=clock.at(at))


def leave_elsewhere(work: Work, *, at: datetime) -> None:
    """Give back what is about a project that is not connected now, and plan again; end it once nobody wants it.

    A ticket that may have been opened there, where everyone can read it, is kept as failed: it is looked for once that
    is connected again, and told of until then if its incident is private. So is what may have been said or opened in a
    workspace or an account that is not connected; that is still owed.
    """
    effect = work.effect
    if work.unsure and KINDS[effect.kind].port != "tracker":
        put_back(work, until=clock.at(at) + LOOKED_FOR_ELSEWHERE)
        return
    with transaction.atomic():
        timeline.hold(effect.incident_id)
        may_stand = effect.verb == CREATE and effect.unsure and not effect.spec["private"]
        if not _end_abandoned(effect, at=at, **(LEFT if may_stand else {})):
            put_back(work, until=clock.at(at) + CONNECTED_AGAIN)
            plan_anew(effect.incident_id)


def _end_abandoned(effect: Effect, *, at: datetime, **ended: Any) -> bool:
    """Cancel an effect that was abandoned, or end it otherwise, and plan again; return whether it still was."""
    held = CLAIMS.mine(effect).filter(abandoned=True)
    if not held.update(**{"state": Effect.State.CANCELLED, **ended}, ended_at=at, leased_until=None):
        return False
    plan_anew(effect.incident_id)
    return True


def _unless_unwanted(effect: Effect) -> None:
    """Plan again when what was just made is no longer wanted: it has to be undone."""
    if Effect.objects.filter(pk=effect.pk, abandoned=True).exists():
        plan_anew(effect.incident_id)


def plan_anew(incident_id: int) -> None:
    """Make what came of an effect a new fact, so that it cannot be missed by a plan that is being made."""
    Incident.objects.filter(pk=incident_id).update(revision=F("revision") + 1)
    hints.tell(Incident(pk=incident_id))


def _wait_s(error: VendorError, attempt: int) -> float:
    if error.retry_after is not None:
        return error.retry_after
    return float(min(0.5 * 2 ** min(attempt, 20), BACK_OFF_AT_MOST_S))


def look_again_at(work: Work, *, at: datetime) -> datetime | None:
    """Return when to look again for what a request may do yet; None where it may be done anew, ended, or given up."""
    effect, now = work.effect, clock.at(at)
    if (effect.kind, effect.verb) == ("page", RETIRE):
        # Its key is free once it has ended, and a request that comes after that would page people again.
        return _all_arrived_at(others_on_their_way(effect, at=at), effect)
    late = LEFT_BEHIND if effect.abandoned else DOUBLED
    if not work.unsure or (effect.kind, effect.verb) not in late or effect.tried_at is None:
        return None
    arrives = effect.tried_at + ARRIVES[KINDS[effect.kind].port]
    if now >= arrives or (effect.kind == "page" and _is_wanted_otherwise(effect)):
        return None
    return min(arrives, now + LOOKED_FOR_EVERY)


def _is_wanted_otherwise(effect: Effect) -> bool:
    """Return whether a page is to be changed once it is there: then it is opened now, under the same key."""
    changes = Effect.objects.filter(incident=effect.incident_id, thing=effect.thing, verb=CHANGE)
    return changes.filter(state=Effect.State.WAITING).exists()


def note_try(work: Work, *, at: datetime) -> None:
    """Note that a request is sent now, and not when the effect was claimed."""
    CLAIMS.mine(work.effect).update(tried_at=clock.at(at))


def _tell_failure(effect: Effect, error: VendorError, *, at: datetime) -> None:
    """Record what failed for good; in a private incident with what someone has to do about it by hand.

    That a failure could not be told where people talk adds nothing to it: the page has both.
    """
    if effect.kind == "counted" or _tells_of_failure(effect):
        timeline.nudge_readers(effect.incident_id)
        plan_anew(effect.incident_id)  # it may stand all the same: its channel is not archived before it is looked for
        return
    incident = Incident.objects.select_related("policy_version").get(pk=effect.incident_id)
    text = f"Could not {effect.sentence}: {error.says}"
    if effect.kind == "closed" and lifecycle.leave_room(incident, room=effect.room or 1):
        text = f"{text} The conversation moves to a new private channel instead."
    by_hand = manual_checks.instruction(effect, incident) if incident.private else ""
    quiet = (effect.kind, effect.verb) in QUIET_FAILURES and not by_hand
    data = {"effect": effect.pk, "room": 0 if quiet else incident.room} | ({"by_hand": by_hand} if by_hand else {})
    timeline.append(incident, "failed", at=at, text=text, data=data)
    plan_anew(incident.pk)


def _tells_of_failure(effect: Effect) -> bool:
    if (effect.kind, effect.verb) != ("post", CREATE) or not effect.thing.startswith("told/"):
        return False
    n = int(effect.thing.removeprefix("told/"))
    return Event.objects.filter(incident=effect.incident_id, n=n, kind="failed").exists()


def done_by_hand(effect: Effect, outcome: Outcome, *, at: datetime) -> bool:
    """Record a failed effect as done, in the caller's transaction; return whether it was still failed."""
    failed = Effect.objects.filter(pk=effect.pk, state=Effect.State.FAILED)
    if not failed.update(state=Effect.State.DONE, ended_at=at, error="", error_code=""):
        return False
    if outcome.there:
        _keep(effect, outcome.there, at=at)
    Resource.objects.filter(incident=effect.incident_id, key__in=outcome.gone).delete()
    return True


def put_back(work: Work, *, until: datetime) -> None:
    """Give a claim back untried, for a later moment, or for now where whether it is wanted has changed meanwhile."""
    effect = work.effect
    due_at = Case(When(abandoned=effect.abandoned, then=until), default=effect.due_at)
    CLAIMS.mine(effect).update(
        state=Effect.State.WAITING, unanswered=effect.unanswered - 1, due_at=due_at, leased_until=None
    )


def has_moved_on(work: Work, *, at: datetime) -> bool:
    """Return whether the facts moved on since a claim was made; such a claim is given back, or ended.

    A claim is acted on at once unless no thread is free, as while a vendor is silent, or the worker stands still. Then
    it may be a minute old.
    """
    if not work.waited:
        return False
    behind = Q(incident__revision__gt=F("incident__planned__revision"))
    found = CLAIMS.mine(work.effect).filter(Q(abandoned=True) | behind).values_list("abandoned", flat=True).first()
    if found is None or (found and work.unsure and work.effect.abandoned):  # the latter is looked for, and not done
        return False
    give_up(work, at=at) if found and not work.unsure else put_back(work, until=clock.at(at))
    return True


def blocked_until(method: str, *, at: datetime) -> datetime | None:
    """Return until when this process knows a method to be blocked; the claim asks the database for the rest."""
    until = _blocked.get(method)
    return until if until is not None and until > clock.at(at) else None


_blocked: dict[str, datetime] = {}


def _block(port: str, called: str, method: str, *, until: datetime) -> None:
    """Block the method that was called, and that of the effect where it stands for several calls."""
    methods = {called, method} if port in {"pager", "tracker"} else {called}
    _blocked.update(dict.fromkeys(methods, until))
    Limit.objects.bulk_create(
        [Limit(vendor=port, method=one, blocked_until=until) for one in sorted(methods)],
        update_conflicts=True,
        unique_fields=["vendor", "method"],
        update_fields=["blocked_until"],
    )


def retry(effect: Effect, *, at: datetime) -> bool:
    """Let a failed effect be tried again from the start, in the caller's transaction; return whether it had failed.

    It is planned first: what it would do may have changed since it failed.
    """
    failed = Effect.objects.filter(pk=effect.pk, state=Effect.State.FAILED)
    again = failed.update(
        state=Effect.State.WAITING,
        attempt=0,
        unanswered=0,
        due_at=clock.at(at),
        ended_at=None,
        error="",
        error_code="",
    )
    if again:
        plan_anew(effect.incident_id)
    return bool(again)


def look_for_failed(incident_id: int, keys: Iterable[str], *, at: datetime) -> int:
    """Have failed effects that nobody wants any more be looked for once, in the caller's transaction; return how many.

    What fails then as well follows with the vendor, or once someone presses *Retry*.
    """
    failed = Effect.objects.filter(incident=incident_id, key__in=list(keys), state=Effect.State.FAILED, unsure=True)
    here = failed.filter(abandoned=False).exclude(error_code__startswith=IN_WORKSPACE)
    return here.update(
        state=Effect.State.WAITING,
        abandoned=True,
        attempt=0,
        unanswered=0,
        due_at=clock.at(at),
        ended_at=None,
        error="",
        error_code="",
    )


def retry_all(effects: Iterable[Effect], *, at: datetime) -> int:
    """Let failed effects be tried again, each in a transaction of its own; return how many were still failed."""
    count = 0
    for effect in effects:
        with transaction.atomic():
            timeline.hold(effect.incident_id)
            count += retry(effect, at=at)
    return count


def ready_incidents(*, at: datetime, limit: int) -> list[tuple[int, str]]:
    """Return incidents that have an effect to perform right now, with its queue: one query, however many there are."""
    with connection.cursor() as cursor:
        cursor.execute(READY_INCIDENTS, {"at": clock.at(at), "limit": limit, "slow": SLOW})
        return [(pk, EVIDENCE if slow else EFFECTS) for pk, slow in cursor.fetchall()]
