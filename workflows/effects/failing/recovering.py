"""Retry what failed because of a vendor as a whole, not because of what was asked, once that vendor works again.

The vendor rejected our token, or was down for longer than a step is retried. Each failure was reported at once, with
what to do. Hundreds of steps may be waiting, and no one should have to press *Retry* on each of them.
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

# Error codes that say nothing about the request itself: with this token, everything else is refused as well. Missing
# scopes do not belong here, because a token that lacks one still works for other calls. Nor do messages that admins
# have paused (ekm_access_denied): our test call would succeed, and every step would fail and be reported every minute.
REFUSED: Final = frozenset(
    {
        *("account_inactive", "invalid_auth", "not_authed", "token_expired", "token_revoked"),  # Slack's
        *("accesslimited", "team_access_not_granted", "two_factor_setup_required"),  # by who or where we are
        *("2006", "2007", "http_401"),  # those of PagerDuty and of trackers
    }
)
# Error codes of a vendor that is down or unreachable. The request itself may still be the cause.
AWAY: Final = frozenset(
    {
        *("certificate", "connection_failed", "connection_lost", "unavailable", "unreadable_answer"),
        *("fatal_error", "internal_error", "request_timeout", "service_unavailable"),
        *("org_login_required", "team_added_to_org", "external_channel_migrating"),  # while Slack migrates something
    }
)
TOLD: Final = 3  # failures of this sort before a step is left to people
# For each vendor, a read-only call that shows whether it accepts the token. *Not found* is a valid answer.
ASKED: Final[Mapping[str, Callable[[Any, datetime], object]]] = {
    "chat": lambda chat, at: chat.look("C0"),
    "pager": lambda pager, at: pager.look("P0"),
    "tracker": lambda tracker, at: tracker.changed_tickets(at),
}
AT_ONCE: Final = 200
# How often people were told about an effect. An effect that keeps failing this way while the vendor works is itself to
# blame; one that failed because of the token never is.
TIMES_TOLD: Final = (
    Event.objects.filter(incident=OuterRef("incident"), kind="failed")
    .annotate(effect=Cast(KT("data__effect"), BigIntegerField()))
    .filter(effect=OuterRef("pk"))
)
# Failures of a message that reports a failure are not reported; its claims are counted instead.
SAYS_WHAT_FAILED: Final = Exists(
    Event.objects.filter(incident=OuterRef("incident"), kind="failed")
    .annotate(thing=Concat(Value("told/"), "n", output_field=CharField()))
    .filter(thing=OuterRef("thing"))
)
LEFT_TO_PEOPLE: Final = Exists(TIMES_TOLD[TOLD - 1 : TOLD]) | Q(SAYS_WHAT_FAILED, token__gte=TOLD)
WORTH_IT: Final = Q(error_code__in=REFUSED) | ~LEFT_TO_PEOPLE


def retry(*, at: datetime) -> int:
    """Retry what failed because of a vendor that works again; return how many."""
    connected = ports.connected()
    return sum(_retry_of(name, connected[name], at=at) for name in ASKED if name in connected)


def _retry_of(name: str, port: Any, *, at: datetime) -> int:
    kinds = [kind for kind, about in KINDS.items() if about.port == name]
    failed = Effect.objects.filter(WORTH_IT, state=Effect.State.FAILED, error_code__in=REFUSED | AWAY, kind__in=kinds)
    effects = list(failed.order_by("-pk")[:AT_ONCE])[::-1]  # oldest failure first: later ones may be consequences
    return failures.retry_all(effects, at=at) if effects and _is_well(name, port, at=at) else 0


def _is_well(name: str, port: Any, *, at: datetime) -> bool:
    try:
        ASKED[name](port, at)
    except VendorError as error:
        log.info("what failed because of the vendor waits on: %s", error)
        return False
    return True
