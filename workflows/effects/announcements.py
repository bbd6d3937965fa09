"""What failed because the announce channel was archived, gone or closed to us: tried again once we may post in it.

Each failure was told at once, with what to do. Nobody is to press *Retry* in every incident after they did it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db.models import Q

from incidents.models.incident import ACTIVE
from workflows import ports
from workflows.effects import effect_queue
from workflows.models import Effect, Resource
from workflows.planning.actions import CHANGE
from workflows.ports import VendorError

AWAY: Final = frozenset({"channel_not_found", "is_archived", "is_inactive", "not_in_channel"})
AT_ONCE: Final = 200
# Nobody wants to be told of an incident that is over by now. What was said of one is still put right, or withdrawn, and
# what may have been said is looked for.
FOLLOWS: Final = Q(incident__status__in=ACTIVE) | Q(verb=CHANGE) | Q(thing="notice") | Q(unsure=True)


def retry(*, at: datetime) -> int:
    """Try again what could not be posted or changed in a channel that we may post in by now; return how many."""
    failed = Effect.objects.filter(
        FOLLOWS, state=Effect.State.FAILED, error_code__in=AWAY, kind="post", spec__has_key="channel"
    )
    of: dict[str, list[Effect]] = {}
    for effect in failed.order_by("pk")[:AT_ONCE]:
        of.setdefault(_channel(effect), []).append(effect)
    return sum(effect_queue.retry_all(effects, at=at) for channel, effects in of.items() if _is_open(channel))


def _channel(effect: Effect) -> str:
    """Return where a post goes: by name, as settings have it, or by id where it stands already."""
    if effect.verb == CHANGE:
        own = Resource.objects.get(incident=effect.incident_id, key=effect.thing)
        return str(own.external["channel_id"])
    return str(effect.spec["channel"])


def _is_open(channel: str) -> bool:
    chat = ports.chat()
    try:
        return chat is not None and chat.is_open(channel)
    except VendorError:
        return False
