"""Page once: find by key, open, and use the fallback only where it cannot page anyone twice.

PagerDuty refuses a key only while an open incident on the same service has it. So every page is first looked up by its
key in all statuses. The fallback is for a REST API that is down, or rate limits for long, never for a request that it
refused.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from integrations import unreached
from integrations.pagerduty.adapter import directory, events_api, lookup, opening
from integrations.pagerduty.protocol import error_messages
from workflows.pager_port import PageRequest, PageStatus
from workflows.ports import VendorError

if TYPE_CHECKING:
    from integrations.pagerduty.adapter.client import PagerDutyPager

DOWN: Final = frozenset(
    {"connection_failed", "connection_lost", "unavailable", "unreadable_answer", unreached.CERTIFICATE}
)
IN_DOUBT: Final = frozenset({"connection_lost", "unreadable_answer"})  # the request may still be carried out
TAKEN: Final = frozenset({"2001", "2002", "http_400"})  # an open page may have the key
LIMITED_AT_MOST_S: Final = 60.0  # as long as a limit usually lasts; the fallback, which has its own, may page others
LOOK_BACK: Final = timedelta(days=1)  # longer than any effect is retried


def ring(pager: PagerDutyPager, ring: PageRequest) -> PageStatus:
    """Open a page, or return the one already opened with its key, in any status."""
    opening.kind_and_id(ring.target)
    try:
        found = _found(pager, ring, sent_twice=ring.unsure)
    except VendorError as error:
        return _instead(pager, ring, error, unsure=ring.unsure)
    return found or _opened(pager, ring)


def _found(pager: PagerDutyPager, ring: PageRequest, *, sent_twice: bool) -> PageStatus | None:
    """Look for a page; among those sent as events only if it may have been sent as one."""
    if sent_twice:
        since = datetime.now(UTC) - LOOK_BACK
        return pager.find(ring.key, service=ring.service, since=since, codename=ring.codename)
    return lookup.by_key(pager.wire, ring.key, codename=ring.codename)


def _opened(pager: PagerDutyPager, ring: PageRequest) -> PageStatus:
    try:
        return _open(pager, ring)
    except VendorError as error:
        if error.code in TAKEN:
            if found := _found(pager, ring, sent_twice=True):
                return found
            if why := _takes_none(pager, service := _service(pager, ring)):
                return _elsewhere(pager, ring, error, instead_of=service, why=why)
        if error.unknown:
            return _after(pager, ring, error)
        return _instead(pager, ring, error, unsure=False)


def _open(pager: PagerDutyPager, ring: PageRequest) -> PageStatus:
    kind, id = opening.kind_and_id(ring.target)
    if kind == "user" and id == pager.sender_id():
        raise opening.refusal("own_sender")  # PagerDuty would acknowledge it at once and notify no one
    body = opening.incident(ring, service=_service(pager, ring))
    return lookup.rung(pager.wire.call("POST", "/incidents", body=body)["incident"])


def _service(pager: PagerDutyPager, ring: PageRequest) -> str:
    kind, id = opening.kind_and_id(ring.target)
    return id if kind == "service" else ring.service or pager.own_service()


def _takes_none(pager: PagerDutyPager, service: str) -> str:
    """Return the error code for a service that takes no page, deleted or switched off; empty when it does take pages.

    PagerDuty refuses a page on such a service with the same codes as a key that is taken.
    """
    try:
        found = pager.wire.call("GET", "/services/{id}", id=service).get("service") or {}
    except VendorError as error:
        return "5002" if error.code in directory.GONE else ""
    return "service_off" if directory.is_off(found) else ""


def _elsewhere(
    pager: PagerDutyPager, ring: PageRequest, error: VendorError, *, instead_of: str, why: str
) -> PageStatus:
    """Open a page on the configured service instead of one that takes none; that does not change who is paged."""
    kind, _ = opening.kind_and_id(ring.target)
    if kind == "service" or not pager.setup.service or (ours := pager.own_service()) == instead_of:
        raise VendorError(error_messages.words(why), code=why, method=error.method) from error
    return _opened(pager, replace(ring, service=ours))


def _after(pager: PagerDutyPager, ring: PageRequest, error: VendorError) -> PageStatus:
    """Look for a page whose opening failed in a way that leaves open whether it was created."""
    try:
        found = _found(pager, ring, sent_twice=ring.unsure)
    except VendorError:
        return _instead(pager, ring, error, unsure=True)
    if found:
        return found
    if error.code in IN_DOUBT and not pager.is_on_fallback_service(ring.service):
        raise error  # PagerDuty may still create it and can be asked: the retry does so soon
    return _instead(pager, ring, error, unsure=False)


def _instead(pager: PagerDutyPager, ring: PageRequest, error: VendorError, *, unsure: bool) -> PageStatus:
    """Send a page as an event while the REST API is down, or limits it for long.

    Raises the error when that is impossible or could page twice.

    If a page may already be open, an event is safe only on the same service, where PagerDuty recognises its key.
    """
    limited = error.retry_after is not None and ring.waited_s + error.retry_after > LIMITED_AT_MOST_S
    if not (limited or error.code in DOWN) or pager.events is None:
        raise error
    if unsure and not pager.is_on_fallback_service(ring.service):
        raise _unsure(error)
    at = datetime.now(UTC)  # before sending, so that anything the pager says about it is newer
    try:
        pager.events.send(events_api.trigger(ring))
    except VendorError as second:
        raise _both(error, second, unsure=unsure) from second
    return PageStatus(
        id="",
        status="triggered",
        via="events",
        at=at,
        key=ring.key,
        title=ring.title,
        service=pager.fallback_service(),
        doubted=ring.unsure or error.unknown,
        limited=limited,
    )


def _unsure(error: VendorError) -> VendorError:
    words = error_messages.words("may_have_rung")
    return VendorError(words, code="may_have_rung", method=error.method, retryable=True, unknown=True)


def _both(error: VendorError, second: VendorError, *, unsure: bool) -> VendorError:
    unknown = unsure or error.unknown or second.unknown
    says = second.says if second.retryable else error_messages.words("fallback_refused")
    return VendorError(
        says,
        code=second.code if second.retryable else "fallback_refused",
        method=second.method,
        retryable=True,
        retry_after=second.retry_after,
        unknown=unknown,
    )
