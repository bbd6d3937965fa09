"""Poll pages, for lost webhooks and for installations that cannot be reached from outside.

Open ones are polled every minute. Ended ones, which someone may have reopened, take turns.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q, QuerySet

from incidents.claiming import leases, stopping
from incidents.claiming.recent import not_looked_at, recently
from incidents.claiming.shared_clock import clock
from incidents.models import Incident
from workflows import ports
from workflows.models import Page
from workflows.pager_port import Pager, PageStatus
from workflows.paging import match_page, note_found, page_effects, twins
from workflows.ports import VendorError

log = logging.getLogger(__name__)

EVERY: Final = timedelta(seconds=55)  # a little less than a minute, so that no page is skipped every other time
AT_ONCE: Final = 120  # calls a minute, of the 960 that PagerDuty grants a key
ENDED_AT_ONCE: Final = 5  # each may take as many calls
REOPENED_AT_ONCE: Final = 10  # few of them are ever reopened
MAY_REOPEN: Final = timedelta(hours=24)  # while its incident is active, and for this long after a page ended
PATIENCE: Final = timedelta(minutes=10)  # for a page that is being opened: its effect looks for it
Status = Page.Status


def look_again(*, at: datetime) -> int:
    """Poll pages not checked for a minute; return how many had changed."""
    pager = ports.pager()
    if pager is None:
        return 0
    # Marked as checked before they are, so that concurrent polls take different ones.
    pages = _take(due(at=at), at_once=AT_ONCE, at=at) + _take(ended(at=at), at_once=ENDED_AT_ONCE, at=at)
    pages += _take(may_be_reopened(at=at), at_once=REOPENED_AT_ONCE, at=at)
    doubted, moved = twins.in_turn(pages, at=at), 0
    for page in stopping.until_asked(pages):
        try:
            moved += _check(pager, page, doubted=page.pk in doubted, at=at)
        except VendorError as error:
            log.warning("could not check page %s: %s", page.pk, error)
            if error.retry_after is not None or error.retryable:
                break
    return moved


def _check(pager: Pager, page: Page, *, doubted: bool, at: datetime) -> bool:
    """Poll one page, and look for a second one if that is doubted; return whether it had changed."""
    if doubted and not page.is_open:
        twins.end(pager, page.pk, at=at)
    rung = _look(pager, page, at=at)
    if rung is None:
        note_found.note_unseen(page, looked_at=at)
    moved = rung is not None and note_found.note(page, rung, looked_at=at)
    if doubted and page.is_open:
        twins.end(pager, page.pk, at=at)
    if page.doubted_at is not None:
        twins.forget(page.pk, at=at)
    return moved


def due(*, at: datetime) -> QuerySet[Page]:
    """Return open pages not checked lately, oldest check first."""
    lately = recently("opened_at", at=clock.at(at), within=PATIENCE)
    being_opened = Q(lately, status=Status.OPENING, pager_id="")
    return _not_lately(at=at).exclude(being_opened).exclude(status=Status.RESOLVED)


def ended(*, at: datetime) -> QuerySet[Page]:
    """Return ended pages not checked lately that a late request of ours may still open, or open again."""
    return _not_lately(at=at).filter(_comes_again(at=at), status=Status.RESOLVED)


def may_be_reopened(*, at: datetime) -> QuerySet[Page]:
    """Return ended pages that someone may have reopened in the pager, oldest check first.

    Two queries, each answered by an index, so pages that ended long ago are not read.
    """
    known = Page.objects.filter(status=Status.RESOLVED).exclude(pager_id="")
    lately = known.filter(status_at__gt=clock.at(at) - MAY_REOPEN)
    active = known.filter(incident__in=Incident.objects.filter(active=True))
    return _not_lately(at=at).filter(pk__in=lately.values("pk").union(active.values("pk"))).exclude(_comes_again(at=at))


def _comes_again(*, at: datetime) -> Q:
    """Return the condition for ended pages that a late request of ours may open, maybe under another id."""
    return Q(match_page.MAY_BE_TWO, withdrawn_at__gt=clock.at(at) - PATIENCE) | Q(doubted_at__isnull=False)


def _take(pages: QuerySet[Page], *, at_once: int, at: datetime) -> list[Page]:
    return leases.take_turns(match_page.with_incidents(pages), at_once=at_once, looked_at=clock.at(at))


def _not_lately(*, at: datetime) -> QuerySet[Page]:
    here = Page.objects.filter(elsewhere=False)
    return not_looked_at(here, known_since="opened_at", at=clock.at(at), within=EVERY)


def _look(pager: Pager, page: Page, *, at: datetime) -> PageStatus | None:
    if page.pager_id and (page.is_open or not Page.objects.filter(_comes_again(at=at), pk=page.pk).exists()):
        return pager.look(page.pager_id)
    since, codename = page.opened_at - page_effects.SKEW, page.incident.codename
    # People may have resolved it before its id was known. What a late request opened since then is a second one.
    first = page.is_open and not page.pager_id and page.doubted_at is not None
    return pager.find(page.dedup_key, service=page.service_id, since=since, codename=codename, first=first)
