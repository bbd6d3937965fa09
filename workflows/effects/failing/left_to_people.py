"""Which final failures are retried once their vendor works again, and which are left to people."""

from __future__ import annotations

from typing import Final

from django.db.models import BigIntegerField, CharField, Exists, OuterRef, Q, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Concat

from incidents.models import Event
from workflows.models import Effect
from workflows.planning.actions import KINDS
from workflows.ports import VendorError

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
        *("fetch_members_failed", "file_update_failed", "update_failed"),
        *("may_have_rung",),  # PagerDuty could not say whether a page went out
        *("org_login_required", "team_added_to_org", "external_channel_migrating"),  # while Slack migrates something
    }
)
TOLD: Final = 3  # failures of this sort before a step is left to people
FOLLOWED: Final = frozenset({"chat", "pager", "tracker"})  # the ports that are asked whether they work again
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


def is_followed(effect: Effect, error: VendorError) -> bool:
    """Return whether an effect that is about to fail for good with this error is retried automatically all the same."""
    if error.code not in REFUSED | AWAY or KINDS[effect.kind].port not in FOLLOWED:
        return False
    if error.code in REFUSED:
        return True
    this = Effect.objects.filter(pk=effect.pk)
    if this.filter(SAYS_WHAT_FAILED).exists():
        return effect.token < TOLD
    reports = Event.objects.filter(incident=effect.incident_id, kind="failed", data__effect=effect.pk)
    return reports.count() + 1 < TOLD
