"""Channels in which nothing can be done: archived or deleted by a person, or closed to us.

Slack returns the same error for a channel that is gone and for one that is closed to us.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import Q

from incidents import timeline
from workflows.chat_port import Chat
from workflows.effects import effect_queue
from workflows.effects.work import Work
from workflows.models import Effect, Resource
from workflows.planning import observed
from workflows.planning.actions import CREATE, KINDS
from workflows.planning.observed import DELETED, GONE, THERE, UNSEEN, WORDS
from workflows.ports import VendorError

NOT_FOUND = "channel_not_found"
OUTSIDE = "not_in_channel"
OUTSIDE_TOO = "access_denied"  # the code that bookmark methods use
IS_ARCHIVED = "is_archived"  # what failed with it is tried again once the channel is unarchived
ARCHIVED = "archived"
OWED: Final = "owed"  # stored for a channel that was unarchived and that we could not join yet
WHY = frozenset({"why", "workspace", OWED})  # what is stored for a channel that is gone, or that we are not in
IN_DOUBT: Final = {
    "state": Effect.State.FAILED,
    "error": "The channel was archived before we could check whether this was done. Unarchive it in Slack.",
    "error_code": IS_ARCHIVED,
}


def note(incident_id: int, *, room: int, why: str) -> bool:
    """Record that a room's channel is gone, in the caller's transaction; return whether that is news.

    What we knew of its contents goes with it. A report that it was deleted overrides one that we cannot see it.
    """
    timeline.hold(incident_id)
    row = Resource.objects.filter(incident=incident_id, key=f"channel/{room}").first()
    if row is None or (row.state == GONE and (row.external.get("why") == why or why == UNSEEN)):
        return False
    row.state, row.external = GONE, row.external | {"why": why}
    row.save(update_fields=["state", "external"])
    if why == DELETED:
        Resource.objects.filter(incident=incident_id, key__in=[f"archived/{room}", f"counted/{room}"]).delete()
    effect_queue.replan(incident_id)
    return True


def note_outside(incident_id: int, *, room: int, is_shown: bool = True) -> bool:
    """Record that people removed us from a room's channel, which still exists, in the caller's transaction.

    Return whether that is news. We cannot see a private channel any more, nor one that people made private.
    """
    timeline.hold(incident_id)
    row = Resource.objects.filter(incident=incident_id, key=f"channel/{room}", state=THERE).first()
    if row is None or row.external.get("why") == observed.OUTSIDE:
        return False
    if row.spec.get("private") or not is_shown:
        return note(incident_id, room=room, why=UNSEEN)
    row.external |= {"why": observed.OUTSIDE}
    row.save(update_fields=["external"])
    effect_queue.replan(incident_id)
    return True


def owe_entry(incident_id: int, *, room: int) -> None:
    """Record that we could not join a public channel that was unarchived; each look at it tries again."""
    with transaction.atomic():
        timeline.hold(incident_id)
        row = Resource.objects.filter(incident=incident_id, key=f"channel/{room}", state=THERE).first()
        if row is not None and not row.spec.get("private") and row.external.get("why") != observed.OUTSIDE:
            row.external |= {OWED: True}
            row.save(update_fields=["external"])


def restore(incident_id: int, *, room: int, inside: bool = True) -> bool:
    """Record that we can see a room's channel again and are in it, in the caller's transaction.

    Return whether that is news. Without ``inside``, we can only see it.
    """
    rows = Resource.objects.filter(incident=incident_id, key=f"channel/{room}")
    row = rows.filter(Q(state=GONE) | Q(external__why=observed.OUTSIDE) | Q(external__has_key=OWED)).first()
    if row is None or (row.state != GONE and not inside):
        return False
    row.state, row.external = THERE, {name: value for name, value in row.external.items() if name not in WHY}
    row.save(update_fields=["state", "external"])
    effect_queue.replan(incident_id)
    return True


def note_archived(incident_id: int, *, room: int, at: datetime) -> None:
    """Record that a room's channel is archived, in the caller's transaction."""
    values = {"kind": "archived", "room": room, "spec": {"room": room}, "state": THERE}
    Resource.objects.update_or_create(
        incident_id=incident_id, key=f"archived/{room}", defaults=values, create_defaults=values | {"since_at": at}
    )


def explanation(chat: Chat, work: Work, error: VendorError) -> str:
    """Return what happened to the room where a call was refused for good, asking the vendor; empty if nothing did.

    Each Slack method has its own code for an archived channel. Raises ``VendorError`` if the state cannot be known now
    but may be later.
    """
    effect = work.effect
    known = work.external.get(f"channel/{effect.room}")
    if error.retryable or known is None or KINDS[effect.kind].port != "chat":
        return ""
    try:
        found = chat.look(str(known["id"]))
    except VendorError as unknown:
        if unknown.retryable:
            raise
        return ""
    return UNSEEN if found is None else ARCHIVED if found.archived else ""


def end(work: Work, what: str, *, looking: bool, at: datetime) -> None:
    """End an effect that the state of its room explains: it is neither retried nor reported as failed.

    If it was refused while ``looking``, words that may stand in an archived channel stay in doubt until someone can
    look for them there.
    """
    effect, room = work.effect, work.effect.room or 1
    with transaction.atomic():
        timeline.hold(effect.incident_id)
        ended: dict[str, Any] = {"state": Effect.State.CANCELLED, "ended_at": at, "leased_until": None}
        if what == ARCHIVED and looking and _may_stand(work):
            ended |= IN_DOUBT
        if not effect_queue.CLAIMS.mine(effect).update(**ended):
            return
        if what == UNSEEN:
            note(effect.incident_id, room=room, why=UNSEEN)
        else:
            note_archived(effect.incident_id, room=room, at=at)
            effect_queue.replan(effect.incident_id)


def _may_stand(work: Work) -> bool:
    """Return whether something it says may be there. A farewell that a restore lost is looked for again."""
    effect = work.effect
    is_farewell = effect.thing.startswith("farewell/") and work.lost_until is not None
    return effect.verb == CREATE and effect.kind in WORDS and not is_farewell
