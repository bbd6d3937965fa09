"""Retry what failed because the announcement channel was archived, gone or closed to us, once we may post there again.

This includes the channel of a published summary, which is just as public.

Each failure was reported at once, with what to do. After fixing it, no one should have to press *Retry* in every
incident.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import Case, OuterRef, Q, Subquery, TextField, Value, When
from django.db.models.fields.json import KT

from incidents.claiming.recent import recently
from incidents.models.incident import ACTIVE
from workflows import ports
from workflows.effects.failing import failures, left_to_people
from workflows.models import Effect, Resource
from workflows.planning.actions import CHANGE
from workflows.ports import VendorError

AWAY: Final = frozenset({"channel_not_found", "is_archived", "is_inactive", "not_in_channel"})
AT_ONCE: Final = 200
SELDOM: Final = timedelta(hours=1)  # between retries of what was reported several times: each may add another report
# No one needs the announcement of an incident that is over by now. Messages about one are still corrected or withdrawn,
# and messages that may have been posted are looked for.
FOLLOWS: Final = Q(incident__status__in=ACTIVE) | Q(verb=CHANGE) | Q(thing__in=["notice", "summary"]) | Q(unsure=True)

POSTED: Final = Resource.objects.filter(incident=OuterRef("incident"), key=OuterRef("thing"))
OUTLET: Final = Resource.objects.filter(incident=OuterRef("incident"), key="outlet").values_list("external_id")[:1]
STANDS_IN: Final = Subquery(POSTED.values_list(KT("external__channel_id"))[:1])


def retry(*, at: datetime) -> int:
    """Retry what could not be posted or changed in a channel that we may post in by now; return how many.

    Each channel is asked about separately, so that one that stays unavailable holds up no other. Failures that were
    reported several times are left to people, and retried once an hour.
    """
    failed = Effect.objects.filter(
        FOLLOWS, state=Effect.State.FAILED, error_code__in=AWAY, kind="post", spec__has_any_keys=["channel", "in"]
    ).exclude(left_to_people.LEFT_TO_PEOPLE, recently("ended_at", at=at, within=SELDOM))
    failed = failed.annotate(channel=_channel())
    channels = failed.exclude(channel=None).values_list("channel", flat=True).distinct()
    return sum(
        failures.retry_all(failed.filter(channel=channel).order_by("pk")[:AT_ONCE], at=at)
        for channel in channels
        if _is_open(channel)
    )


def _channel() -> Case:
    """Return the channel of a post: by id if it exists already, else by the name that settings give now.

    A post that may exist is looked for in the channel it was meant for.
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
