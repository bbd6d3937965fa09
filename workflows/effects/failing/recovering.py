"""What failed because of a vendor as a whole, and not of what was asked: tried again once that vendor is well again.

It took our token for nobody's, or was away for longer than a step is tried. Each failure was told at once, with what
to do. Hundreds of steps may wait for it: nobody is to press *Retry* on each of them afterwards.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from django.db.models import BigIntegerField, CharField, Exists, OuterRef, Q, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Concat

from incidents.models import Event
from workflows import ports
from workflows.effects.failing import failures
from workflows.models import Effect
from workflows.planning.actions import KINDS
from workflows.ports import VendorError

log = logging.getLogger(__name__)

# Codes of errors that say nothing of what was asked: whatever else is asked with this token is refused as well. What a
# token may not do is another matter, and that it works for something says nothing of it. So it is with messages that
# admins have paused (ekm_access_denied): the question that is asked is answered all the same, and each step would fail,
# and be told, every minute.
REFUSED: Final = frozenset(
    {
        *("account_inactive", "invalid_auth", "not_authed", "token_expired", "token_revoked"),  # Slack's
        *("accesslimited", "team_access_not_granted", "two_factor_setup_required"),  # by who or where we are
        *("2006", "2007", "http_401"),  # PagerDuty's, and those of trackers
    }
)
# Codes of a vendor that is away, or that we do not get through to. What was asked may be to blame after all.
AWAY: Final = frozenset(
    {
        *("certificate", "connection_failed", "connection_lost", "unavailable", "unreadable_answer"),
        *("fatal_error", "internal_error", "request_timeout", "service_unavailable"),
        *("org_login_required", "team_added_to_org", "external_channel_migrating"),  # while Slack moves something
    }
)
TOLD: Final = 3  # times that a step may fail so, until it is left to people
# A call by which a vendor says whether it takes the token, and that changes nothing; that there is no such thing is one
# of its answers.
ASKED: Final[Mapping[str, Callable[[Any, datetime], object]]] = {
    "chat": lambda chat, at: chat.look("C0"),
    "pager": lambda pager, at: pager.look("P0"),
    "tracker": lambda tracker, at: tracker.changed_tickets(at),
}
AT_ONCE: Final = 200
# The times that people were told of an effect. Whatever fails so again and again while the vendor is well has itself to
# blame; nothing that a token failed has.
TIMES_TOLD: Final = (
    Event.objects.filter(incident=OuterRef("incident"), kind="failed")
    .annotate(effect=Cast(KT("data__effect"), BigIntegerField()))
    .filter(effect=OuterRef("pk"))
)
# Of a message that says what failed nothing is told: its claims are counted instead.
SAYS_WHAT_FAILED: Final = Exists(
    Event.objects.filter(incident=OuterRef("incident"), kind="failed")
    .annotate(thing=Concat(Value("told/"), "n", output_field=CharField()))
    .filter(thing=OuterRef("thing"))
)
LEFT_TO_PEOPLE: Final = Exists(TIMES_TOLD[TOLD - 1 : TOLD]) | Q(SAYS_WHAT_FAILED, token__gte=TOLD)
WORTH_IT: Final = Q(error_code__in=REFUSED) | ~LEFT_TO_PEOPLE


def retry(*, at: datetime) -> int:
    """Try again what failed because of a vendor that is well again; return how many."""
    connected = ports.connected()
    return sum(_retry_of(name, connected[name], at=at) for name in ASKED if name in connected)


def _retry_of(name: str, port: Any, *, at: datetime) -> int:
    kinds = [kind for kind, about in KINDS.items() if about.port == name]
    failed = Effect.objects.filter(WORTH_IT, state=Effect.State.FAILED, error_code__in=REFUSED | AWAY, kind__in=kinds)
    effects = list(failed.order_by("-pk")[:AT_ONCE])[::-1]  # first what failed first: the rest may have come of it
    return failures.retry_all(effects, at=at) if effects and _is_well(name, port, at=at) else 0


def _is_well(name: str, port: Any, *, at: datetime) -> bool:
    try:
        ASKED[name](port, at)
    except VendorError as error:
        log.info("what failed because of the vendor waits on: %s", error)
        return False
    return True
