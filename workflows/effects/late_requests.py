"""Requests that got no response and may still be carried out: what they could do, and how long we wait for that."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Max, Q, QuerySet

from incidents.claiming.shared_clock import clock
from workflows.effects import restoring
from workflows.effects.work import Work
from workflows.models import Effect
from workflows.oncall.pager_events import SECOND
from workflows.planning.actions import CHANGE, CREATE, KINDS, RETIRE

# Created twice if a late request is carried out after we looked; the vendor would refuse anything else.
DOUBLED: Final = {("post", CREATE), ("bookmark", CREATE), ("picture", CREATE), ("ticket", CREATE), ("ticket", CHANGE)}
# What would exist where no one looks for it, if a late request of an abandoned effect is carried out.
LEFT_BEHIND: Final = DOUBLED | {("topic", CREATE), ("page", CREATE)}
# Changes that a late request of an earlier effect would undo.
UNDONE: Final = {("post", CHANGE), ("topic", CHANGE), ("bookmark", CHANGE), ("page", CHANGE)}
# How long after it was sent a request may still be carried out, by port.
ARRIVES: Final[Mapping[str, timedelta]] = {
    "chat": timedelta(seconds=45),
    "pager": timedelta(seconds=45),
    "tracker": timedelta(seconds=75),
}
LOOKED_FOR_EVERY: Final = timedelta(seconds=15)  # while it may still be carried out


def look_again_at(work: Work, *, at: datetime) -> datetime | None:
    """Return when to look again for what a request may do; None if it may be repeated, ended or given up."""
    effect, now = work.effect, clock.at(at)
    if (effect.kind, effect.verb) == ("page", RETIRE):
        # Once the page has ended, its key is free again, and a late request would page people again. A late
        # acknowledgement would reopen it.
        return _all_arrived_at(others_on_their_way(effect, at=at, beside=Q(spec__page=effect.thing)), effect)
    late = LEFT_BEHIND if effect.abandoned else DOUBLED
    if not work.unsure or (effect.kind, effect.verb) not in late or effect.tried_at is None:
        return None
    arrives = effect.tried_at + ARRIVES[KINDS[effect.kind].port]
    if now >= arrives or (effect.kind == "page" and _is_wanted_otherwise(effect)):
        return None
    return min(arrives, now + LOOKED_FOR_EVERY)


def _is_wanted_otherwise(effect: Effect) -> bool:
    """Return whether a page has to be changed once it exists: then it is opened now, under the same key."""
    changes = Effect.objects.filter(incident=effect.incident_id, thing=effect.thing, verb=CHANGE)
    return changes.filter(state=Effect.State.WAITING).exists()


def may_undo_until(effect: Effect, *, at: datetime) -> datetime | None:
    """Return until when an earlier request may undo what was just done; None if none can."""
    if (effect.kind, effect.verb) not in UNDONE:
        return None
    return _all_arrived_at(others_on_their_way(effect, at=at).exclude(spec=effect.spec), effect)


def forgotten_until(effect: Effect, *, at: datetime) -> datetime | None:
    """Return until when a request lost in a restore may undo what was just done; None if none can.

    It was on its way when the database was restored.
    """
    arrives = ARRIVES[KINDS[effect.kind].port]
    back_at = restoring.put_back_at(clock.at(at) - arrives)
    return None if back_at is None else back_at + arrives


def may_have_ended(incident_id: int, thing: str, *, at: datetime) -> bool:
    """Return whether an unanswered request to end a thing, which was then kept, may have been carried out at a time."""
    ends = Effect.objects.filter(incident=incident_id, thing=thing, verb=RETIRE, unsure=True)
    return ends.filter(tried_at__gt=at - ARRIVES[KINDS["page"].port]).exists()


def may_have_acknowledged(incident_id: int, page: str, *, at: datetime, since: datetime, by: int | None) -> bool:
    """Return whether an unanswered acknowledgement of a page, sent before ``since``, may have been carried out ``at``.

    It was in the name of the person ``by``, or of anyone. The pager times its events in whole seconds.
    """
    of_page = {"kind": "acknowledged", "spec__page": page} | ({} if by is None else {"spec__person": by})
    sent = Effect.objects.filter(**of_page, incident=incident_id, unsure=True)
    return sent.filter(tried_at__gt=at - ARRIVES[KINDS["page"].port], tried_at__lte=since + SECOND).exists()


def others_on_their_way(effect: Effect, *, at: datetime, beside: Q | None = None) -> QuerySet[Effect]:
    """Return the other effects of the same thing, and those ``beside`` it, whose requests may still be carried out."""
    since = clock.at(at) - ARRIVES[KINDS[effect.kind].port]
    others = Effect.objects.filter(incident=effect.incident_id, unsure=True, tried_at__gt=since).exclude(pk=effect.pk)
    return others.filter(Q(thing=effect.thing) | (beside or Q()))


def _all_arrived_at(others: QuerySet[Effect], effect: Effect) -> datetime | None:
    """Return when none of these effects' requests can be carried out any more; None if there are none."""
    last: datetime | None = others.aggregate(last=Max("tried_at"))["last"]
    return None if last is None else last + ARRIVES[KINDS[effect.kind].port]
