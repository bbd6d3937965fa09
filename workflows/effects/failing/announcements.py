"""What failed because the announce channel was archived, gone or closed to us: tried again once we may post in it.

So is what is said in the channel of a summary, which is as public.

Each failure was told at once, with what to do. Nobody is to press *Retry* in every incident after they did it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.conf import settings
from django.db.models import Case, OuterRef, Q, Subquery, TextField, Value, When
from django.db.models.fields.json import KT

from incidents.models.incident import ACTIVE
from workflows import ports
from workflows.effects.failing import failures, recovering
from workflows.models import Effect, Resource
from workflows.planning.actions import CHANGE
from workflows.ports import VendorError

AWAY: Final = frozenset({"channel_not_found", "is_archived", "is_inactive", "not_in_channel"})
AT_ONCE: Final = 200
# Nobody wants to be told of an incident that is over by now. What was said of one is still put right, or withdrawn, and
# what may have been said is looked for.
FOLLOWS: Final = Q(incident__status__in=ACTIVE) | Q(verb=CHANGE) | Q(thing__in=["notice", "summary"]) | Q(unsure=True)

POSTED: Final = Resource.objects.filter(incident=OuterRef("incident"), key=OuterRef("thing"))
OUTLET: Final = Resource.objects.filter(incident=OuterRef("incident"), key="outlet").values_list("external_id")[:1]
STANDS_IN: Final = Subquery(POSTED.values_list(KT("external__channel_id"))[:1])


def retry(*, at: datetime) -> int:
    """Try again what could not be posted or changed in a channel that we may post in by now; return how many.

    Channels are asked for one by one: what waits for one that stays away holds up no other. What people were told of
    several times is left to them.
    """
    failed = Effect.objects.filter(
        FOLLOWS, state=Effect.State.FAILED, error_code__in=AWAY, kind="post", spec__has_any_keys=["channel", "in"]
    ).exclude(recovering.LEFT_TO_PEOPLE)
    failed = failed.annotate(channel=_channel())
    channels = failed.exclude(channel=None).values_list("channel", flat=True).distinct()
    return sum(
        failures.retry_all(failed.filter(channel=channel).order_by("pk")[:AT_ONCE], at=at)
        for channel in channels
        if _is_open(channel)
    )


def _channel() -> Case:
    """Return where a post goes: where it stands already, by id, or else by name, as settings have it now.

    One that may have been posted is looked for where it was to be.
    """
    slack = settings.FIREKIND.slack
    now = Value(slack.announce_channel) if slack and slack.announce_channel else KT("spec__channel")
    where = (
        When(spec__has_key="in", then=Subquery(OUTLET)),
        When(verb=CHANGE, then=STANDS_IN),
        When(unsure=True, then=KT("spec__channel")),
    )
    return Case(*where, default=now, output_field=TextField())


def _is_open(channel: str) -> bool:
    chat = ports.chat()
    try:
        return chat is not None and chat.is_open(channel)
    except VendorError:
        return False
