"""Poll open pages: for webhooks that never came, and for installations that cannot be reached from outside."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import F, Q, QuerySet

from incidents import lifecycle
from incidents.claiming import leases
from incidents.models import Source
from workflows import ports
from workflows.models import Page, PagerUser
from workflows.oncall import page_reach
from workflows.oncall.pager_events import PagerEvent, PagerIncident, Who
from workflows.pager_port import Pager, PageStatus
from workflows.paging import apply_page_event, called_off, match_page, page_effects, pager_names, poll_dedup, twins
from workflows.ports import VendorError

log = logging.getLogger(__name__)

EVERY: Final = timedelta(seconds=55)  # a little less than a minute, so that none is left out every other time
AT_ONCE: Final = 120  # calls a minute of the 960 that PagerDuty grants a key
ENDED_AT_ONCE: Final = 5  # each may take as many calls
PATIENCE: Final = timedelta(minutes=10)  # for a page that is being opened: its effect looks for it itself
SETTLED: Final = timedelta(minutes=2)  # by then PagerDuty's reads reflect what its webhooks said
Status = Page.Status

# From the status that is found: the kind of news, and how it reads with and without who it was.
FOUND: Final[Mapping[str, tuple[str, str, str]]] = {
    Status.TRIGGERED: (
        "unacknowledged",
        "unacknowledged the page to {page}: paging again",
        "The page to {page} was unacknowledged: paging again",
    ),
    Status.ACKNOWLEDGED: (
        "acknowledged",
        "acknowledged the page to {page}",
        "The page to {page} was acknowledged",
    ),
    Status.RESOLVED: ("resolved", "resolved the page to {page}", "The page to {page} was resolved"),
}


def look_again(*, at: datetime) -> int:
    """Poll open pages not checked for a minute; return how many had changed."""
    pager = ports.pager()
    if pager is None:
        return 0
    # Marked as looked at before they are: polls at once look at different ones.
    pages = leases.take_turns(match_page.with_incidents(due(at=at)), at_once=AT_ONCE, looked_at=at)
    pages += leases.take_turns(match_page.with_incidents(ended(at=at)), at_once=ENDED_AT_ONCE, looked_at=at)
    doubted, moved = twins.in_turn(pages, at=at), 0
    for page in pages:
        try:
            moved += _check(pager, page, doubted=page.pk in doubted, at=at)
        except VendorError as error:
            log.warning("could not check page %s: %s", page.pk, error)
            if error.retry_after is not None or error.retryable:
                break
    return moved


def _check(pager: Pager, page: Page, *, doubted: bool, at: datetime) -> bool:
    """Look at one page, and where it is doubted for a second one; return whether it had changed."""
    if doubted and not page.is_open:
        twins.end(pager, page.pk, at=at)
    rung = _look(pager, page)
    moved = rung is not None and note(page, rung, looked_at=at)
    if doubted and page.is_open:
        twins.end(pager, page.pk, at=at)
    if page.doubted_at is not None:
        twins.forget(page.pk, at=at)
    return moved


def due(*, at: datetime) -> QuerySet[Page]:
    """Return open pages not checked lately, oldest check first."""
    being_opened = Q(status=Status.OPENING, pager_id="", opened_at__gt=at - PATIENCE)
    return _not_lately(at=at).exclude(being_opened).exclude(status=Status.RESOLVED)


def ended(*, at: datetime) -> QuerySet[Page]:
    """Return pages that have ended, not checked lately, and that a request of ours may open after all, or once more."""
    over = _not_lately(at=at).filter(status=Status.RESOLVED)
    return over.filter(Q(match_page.MAY_BE_TWO, withdrawn_at__gt=at - PATIENCE) | Q(doubted_at__isnull=False))


def _not_lately(*, at: datetime) -> QuerySet[Page]:
    lately = Q(looked_at=None, opened_at__lt=at - EVERY) | Q(looked_at__lt=at - EVERY)
    return Page.objects.filter(lately, elsewhere=False).order_by(F("looked_at").asc(nulls_first=True), "pk")


def _look(pager: Pager, page: Page) -> PageStatus | None:
    if page.pager_id and page.is_open:
        return pager.look(page.pager_id)
    since, codename = page.opened_at - page_effects.SKEW, page.incident.codename
    return pager.find(page.dedup_key, service=page.service_id, since=since, codename=codename)


def note(page: Page, rung: PageStatus, *, looked_at: datetime) -> bool:
    """Apply the status a page was found in; return whether it had changed without an event."""
    with transaction.atomic():
        page = apply_page_event.held(page)
        if apply_page_event.is_ending(page):
            return False  # the code that ends it records what it finds
        if page.is_open and "" not in {page.pager_id, rung.id} and rung.id != page.pager_id:
            return False  # a second one became the page since it was looked at
        if page.was_called_off and rung.joined:
            return False  # nobody was paged by it, and nobody is to be
        passed = _joined(page, rung, looked_at=looked_at) or _follow(page, rung, looked_at=looked_at)
        since, until = _between(page, rung, looked_at=looked_at)
        at = min(until, max(since, looked_at))  # what the pager says after this look may have happened after it
        if rung.status == page.status or not _is_newer(page, at=at, looked_at=looked_at):
            if rung.id and not page.pager_id:
                page.via = rung.via
            pager_names.learn(page, _told(rung))
            if page.is_open:
                called_off.take_up(page, _told(rung), at=looked_at)
            page.save(update_fields=["pager_id", "number", "url", "via", "joined", "withdrawn_at"])
            return passed
        id = poll_dedup.note(rung.status, since=since, until=until)
        news = _news(page, rung, id=id, at=max(at, page.status_at + timedelta(microseconds=1)))
        apply_page_event.take(page, news, at=max(looked_at, news.at))
    return True


def _joined(page: Page, rung: PageStatus, *, looked_at: datetime) -> bool:
    """Record that a page went into someone else's open incident, once: nobody is paged by it."""
    if not rung.joined or page.joined:
        return False
    page.joined, page.url = rung.joined[:200], rung.url or page.url
    page.save(update_fields=["joined", "url"])
    text = page_effects.JOINED.format(page=page.name, joined=page.joined)
    data = {"page": page.key, "url": page.url, "over": True}
    lifecycle.remark(page.incident, "page", by=None, at=looked_at, source=Source.SYSTEM, text=text, data=data)
    return True


def _follow(page: Page, rung: PageStatus, *, looked_at: datetime) -> bool:
    """Apply who was found to be paged; return whether that differs from what we knew.

    Who is paged first was said as the page was opened; what we never knew of an older one is not told now.
    """
    people = _people(rung)
    since, until = poll_dedup.span(rung.assigned_at or looked_at)
    is_older = page.rung_at is not None and until < page.rung_at
    if not page.is_open:
        return False  # if it is open again, the news of that say who is paged
    if is_older or not page_reach.is_news(page, people, status=rung.status):
        return False
    id = poll_dedup.note(poll_dedup.PASSED, since=since, until=until)
    says = "The page to {page} moved on: now paging {people}"
    at = max(since, page.rung_at or since)
    news = PagerEvent(id, poll_dedup.PASSED, at, _told(rung), "", says, people=people, told=bool(page.now_ids))
    apply_page_event.take(page, news, at=max(looked_at, at))
    return True


def _between(page: Page, rung: PageStatus, *, looked_at: datetime) -> tuple[datetime, datetime]:
    """Return the moments between which the page took the status found."""
    return poll_dedup.span(rung.at) if rung.at else (page.status_at, looked_at)


def _is_newer(page: Page, *, at: datetime, looked_at: datetime) -> bool:
    """Return whether what was found is newer than what events have told us."""
    if page.status == Status.OPENING or looked_at - page.status_at > SETTLED:
        return True
    return page.status_at < min(at, looked_at)


def _news(page: Page, rung: PageStatus, *, id: str, at: datetime) -> PagerEvent:
    kind, did, happened = FOUND[rung.status]
    was_opened = page.status != Status.OPENING and not page.was_called_off and rung.id == page.pager_id
    if not was_opened and rung.status == Status.TRIGGERED:
        kind = rung.status
    by = _who(rung) if rung.status != Status.TRIGGERED else None
    people = () if page.is_open else _people(rung)  # of an open page it is known by now
    return PagerEvent(id, kind, at, _told(rung), did, happened, by=by, people=people, told=True)


def _people(rung: PageStatus) -> tuple[Who, ...]:
    return tuple(Who(one.id, one.name) for one in rung.assigned)


def _told(rung: PageStatus) -> PagerIncident:
    return PagerIncident(rung.id, key=rung.key, title=rung.title, url=rung.url, number=rung.number, status=rung.status)


def _who(rung: PageStatus) -> Who | None:
    """Return who made a change: where a look gives but a name, it is theirs when nobody else has it."""
    if rung.by_id or not rung.by:
        return Who(rung.by_id, rung.by) if rung.by_id else None
    named = list(PagerUser.objects.filter(name=rung.by, gone=False).values_list("pager_id", flat=True)[:2])
    return Who(named[0] if len(named) == 1 else "", rung.by)
