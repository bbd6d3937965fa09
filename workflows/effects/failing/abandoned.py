"""Effects that are no longer wanted, or cannot be settled here: they are ended or given back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Q

from incidents import timeline
from incidents.claiming.shared_clock import clock
from workflows.effects import effect_queue
from workflows.effects.work import Work
from workflows.models import Effect, Resource
from workflows.planning.actions import CREATE, KINDS
from workflows.planning.observed import ELSEWHERE

CONNECTED_AGAIN: Final = timedelta(minutes=1)  # until effects for what is not connected are tried again
MAY_STAND: Final = (
    "It may have been opened in a project that is no longer connected. Connect that project again, then retry."
)
LEFT: Final = {"state": Effect.State.FAILED, "abandoned": False, "error": MAY_STAND, "error_code": ELSEWHERE}
LOOKED_FOR_ELSEWHERE: Final = timedelta(hours=6)  # unless it is reconnected before


def has_moved_on(work: Work, *, at: datetime) -> bool:
    """Return whether the facts have changed since a claim was made; such a claim is given back or ended.

    A claim is normally acted on at once. It can be a minute old if no thread was free, for example while a vendor was
    not responding, or if the worker was suspended.
    """
    if not work.waited:
        return False
    behind = Q(incident__revision__gt=F("incident__planned__revision"))
    moved = effect_queue.CLAIMS.mine(work.effect).filter(Q(abandoned=True) | behind)
    found = moved.values_list("abandoned", flat=True).first()
    if found is None or (found and work.unsure and work.effect.abandoned):  # the latter is looked for, not done
        return False
    give_up(work, at=at) if found and not work.unsure else effect_queue.put_back(work, until=clock.at(at))
    return True


def give_up(work: Work, *, at: datetime) -> None:
    """Cancel an abandoned effect whose outcome was unknown and that was not found to have happened.

    If it is wanted again by now, it is given back instead.
    """
    with transaction.atomic():
        timeline.hold(work.effect.incident_id)
        if not end(work.effect, at=at):
            effect_queue.put_back(work, until=clock.at(at))


def leave_elsewhere(work: Work, *, at: datetime) -> None:
    """Give back an effect of a project that is no longer connected, and plan again; end it once it is not wanted.

    A ticket that may have been opened there, where everyone can read it, stays as failed: it is looked for once the
    project is connected again, and reported until then if its incident is private. The same goes for a message or page
    that may exist in a workspace or account that is not connected and is still owed.
    """
    effect = work.effect
    if work.unsure and KINDS[effect.kind].port != "tracker":
        effect_queue.put_back(work, until=clock.at(at) + LOOKED_FOR_ELSEWHERE)
        return
    with transaction.atomic():
        timeline.hold(effect.incident_id)
        may_stand = effect.verb == CREATE and effect.unsure and not effect.spec["private"]
        if not end(effect, at=at, **(LEFT if may_stand else {})):
            effect_queue.put_back(work, until=clock.at(at) + CONNECTED_AGAIN)
            effect_queue.replan(effect.incident_id)


def end(effect: Effect, *, at: datetime, **ended: Any) -> bool:
    """Cancel an abandoned effect, or end it otherwise, and plan again; return whether it was still abandoned."""
    held = effect_queue.CLAIMS.mine(effect).filter(abandoned=True)
    if not held.update(**{"state": Effect.State.CANCELLED, **ended}, ended_at=at, leased_until=None):
        return False
    effect_queue.replan(effect.incident_id)
    return True


def let_go(incident_id: int, *, at: datetime) -> None:
    """End unwanted effects in a channel that was looked for and never made: nothing can have been done there.

    One that could not be looked for may be there. What is said elsewhere, such as an announcement, may have been
    posted; it is looked for without that channel.
    """
    waiting = list(Effect.objects.filter(incident=incident_id, state=Effect.State.WAITING, abandoned=True))
    rooms = {f"channel/{one.room}" for one in waiting if one.room is not None}
    channels = rooms | {need for one in waiting for need in one.needs if need.startswith("channel/")}
    if not channels:
        return
    is_under_way = Q(state__in=[Effect.State.WAITING, Effect.State.RUNNING]) | Q(state=Effect.State.FAILED, unsure=True)
    under_way = Effect.objects.filter(is_under_way, incident=incident_id, thing__in=channels)
    never = channels - {*Resource.objects.filter(incident=incident_id, key__in=channels).values_list("key", flat=True)}
    never -= {*under_way.values_list("thing", flat=True)}
    for one in waiting:
        held = Effect.objects.filter(pk=one.pk, state=Effect.State.WAITING, abandoned=True)
        if one.room is not None and f"channel/{one.room}" in never:
            held.update(state=Effect.State.CANCELLED, ended_at=at)
        elif never.intersection(one.needs):
            held.update(needs=[need for need in one.needs if need not in never])
