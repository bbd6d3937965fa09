"""Channels that are gone: deleted by a person, or closed to us, which Slack answers in the same words."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from incidents import timeline
from workflows.effects import effect_queue
from workflows.effects.work import Work
from workflows.models import Effect, Resource
from workflows.planning.actions import KINDS
from workflows.planning.observed import DELETED, GONE, THERE, UNSEEN
from workflows.ports import Chat, VendorError

NOT_FOUND = "channel_not_found"
OUTSIDE = "not_in_channel"


def note(incident_id: int, *, room: int, why: str) -> bool:
    """Record that a room's channel is gone, in the caller's transaction; return whether that is news.

    What was seen of it goes with it. That it was deleted is surer than that we are not shown it.
    """
    row = Resource.objects.filter(incident=incident_id, key=f"channel/{room}").first()
    if row is None or (row.state == GONE and (row.external.get("why") == why or why == UNSEEN)):
        return False
    row.state, row.external = GONE, row.external | {"why": why}
    row.save(update_fields=["state", "external"])
    if why == DELETED:
        Resource.objects.filter(incident=incident_id, key__in=[f"archived/{room}", f"counted/{room}"]).delete()
    effect_queue.plan_anew(incident_id)
    return True


def restore(incident_id: int, *, room: int) -> bool:
    """Record that a room's channel is in sight again, in the caller's transaction; return whether it was gone."""
    row = Resource.objects.filter(incident=incident_id, key=f"channel/{room}", state=GONE).first()
    if row is None:
        return False
    row.state, row.external = THERE, {name: value for name, value in row.external.items() if name != "why"}
    row.save(update_fields=["state", "external"])
    effect_queue.plan_anew(incident_id)
    return True


def explains(chat: Chat, work: Work, error: VendorError) -> bool:
    """Return whether a call failed because the room's channel is gone, for which the vendor is asked once more."""
    effect = work.effect
    if error.code != NOT_FOUND or effect.room is None or KINDS[effect.kind].port != "chat":
        return False
    known = work.external.get(f"channel/{effect.room}")
    try:
        return known is not None and chat.look(str(known["id"])) is None
    except VendorError:
        return False


def end(work: Work, *, at: datetime) -> None:
    """End an effect whose room is gone: it is neither tried again nor said to have failed."""
    effect = work.effect
    with transaction.atomic():
        timeline.hold(effect.incident_id)
        ended = {"state": Effect.State.CANCELLED, "ended_at": at, "leased_until": None}
        if effect_queue.CLAIMS.mine(effect).update(**ended):
            note(effect.incident_id, room=effect.room or 1, why=UNSEEN)
