"""Apply the polled state of a page: its status, who is paged, and the timeline entry, unless news came first."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from incidents import lifecycle
from incidents.models import Source
from workflows.models import Page
from workflows.oncall import page_reach
from workflows.oncall.pager_events import SECOND, PagerEvent, PagerIncident, Who
from workflows.pager_port import PageStatus
from workflows.paging import apply_page_event, called_off, pager_names, poll_dedup

SETTLED: Final = timedelta(minutes=2)  # by then PagerDuty's reads reflect what its webhooks said
JOINED: Final = (
    "The page to {page} joined an open incident of {joined} in PagerDuty, so it notified no one. Page them again, or "
    "call them."
)
UNSEEN: Final = (
    "PagerDuty shows no incident for the page to {page}, which went through the fallback, so it may have notified no "
    "one: its service may be in a maintenance window or disabled, or no one is on call for it. Page them again, or "
    "call them."
)
Status = Page.Status
REOPENED: Final = (
    "reopened",
    "reopened the page to {page}: paging again",
    "The page to {page} was reopened: paging again",
)

# By the status found: the kind of news, and its text with and without an actor.
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


def note(page: Page, rung: PageStatus, *, looked_at: datetime, ends: bool = False) -> bool:
    """Apply the status a page was found in; return whether it had changed without an event.

    For a page that we are about to end, only the call that ``ends`` it applies what it finds.
    """
    with transaction.atomic():
        page = apply_page_event.held(page)
        if not ends and apply_page_event.is_ending(page):
            return False
        if page.is_open and "" not in {page.pager_id, rung.id} and rung.id != page.pager_id:
            return False  # a second one replaced the page since it was looked at
        if page.was_called_off and rung.joined:
            return False  # no one was paged by it, and no one should be
        passed = _joined(page, rung, looked_at=looked_at) or _follow(page, rung, looked_at=looked_at)
        since, until = _between(page, rung, looked_at=looked_at)
        at = min(until, max(since, looked_at))  # what the pager reports after this look may have happened after it
        is_newer = _is_since(page, rung, until=until) and _is_newer(page, at=at, looked_at=looked_at)
        if rung.status == page.status or not is_newer:
            if rung.id and not page.pager_id:
                page.via = rung.via
            pager_names.learn(page, _told(rung))
            if page.is_open:
                called_off.take_up(page, _told(rung), at=looked_at)
            page.save(update_fields=["pager_id", "number", "url", "via", "joined", "withdrawn_at"])
            return passed
        # One that was reopened may have been acknowledged and triggered again since: all that is one piece of news.
        first = min(since, page.status_at) if _is_reopened(page, rung) else since
        id = poll_dedup.note(rung.status, since=first, until=until)
        news = _news(page, rung, id=id, at=max(at, page.status_at + timedelta(microseconds=1)))
        apply_page_event.take(page, news, at=max(looked_at, news.at))
    return True


def note_unseen(page: Page, *, looked_at: datetime) -> None:
    """Report once that a page sent as an event was not found in time and may have reached no one.

    PagerDuty accepts an event before it checks whether anyone can be paged. It is not sent again automatically: it may
    have been opened where we did not look, and would page twice.
    """
    if _is_not_there(page, looked_at=looked_at):
        with transaction.atomic():
            page = apply_page_event.held(page)
            if _is_not_there(page, looked_at=looked_at):
                page.unseen_at = looked_at
                page.save(update_fields=["unseen_at"])
                called_off.tell(page, UNSEEN.format(page=page.name), at=looked_at)


def _is_not_there(page: Page, *, looked_at: datetime) -> bool:
    sent = page.via == "events" and page.status == Status.TRIGGERED and not (page.pager_id or page.joined)
    return sent and page.unseen_at is None and looked_at - page.opened_at > SETTLED


def _joined(page: Page, rung: PageStatus, *, looked_at: datetime) -> bool:
    """Record, once, that a page was merged into someone else's open incident and pages no one."""
    if not rung.joined or page.joined:
        return False
    page.joined, page.url = rung.joined[:200], rung.url or page.url
    page.save(update_fields=["joined", "url"])
    text = JOINED.format(page=page.name, joined=page.joined)
    data = {"page": page.key, "url": page.url, "over": True}
    lifecycle.remark(page.incident, "page", by=None, at=looked_at, source=Source.SYSTEM, text=text, data=data)
    return True


def _follow(page: Page, rung: PageStatus, *, looked_at: datetime) -> bool:
    """Apply who was found to be paged; return whether that differs from what we knew.

    Who is paged first was reported when the page was opened; what we never knew about an older page is not reported
    now.
    """
    people = _people(rung)
    since, until = poll_dedup.span(rung.assigned_at or looked_at)
    is_older = page.rung_at is not None and until < page.rung_at
    if not page.is_open:
        return False  # if it is open again, that news says who is paged
    if is_older or not page_reach.is_news(page, people, status=rung.status):
        return False
    id = poll_dedup.note(poll_dedup.PASSED, since=since, until=until)
    says = "The page to {page} moved on: now paging {people}"
    at = max(since, page.rung_at or since)
    news = PagerEvent(id, poll_dedup.PASSED, at, _told(rung), "", says, people=people, told=bool(page.now_ids))
    apply_page_event.take(page, news, at=max(looked_at, at))
    return True


def _between(page: Page, rung: PageStatus, *, looked_at: datetime) -> tuple[datetime, datetime]:
    """Return the earliest and latest time at which the page can have taken the status found."""
    return poll_dedup.span(rung.at) if rung.at else (page.status_at, looked_at)


def _is_since(page: Page, rung: PageStatus, *, until: datetime) -> bool:
    """Return whether the status found was taken after the page had ended.

    We also treat a page as ended when alerts of others keep its incident open.
    """
    # Changes within one second are stored one after the other at its end.
    return page.is_open or rung.id != page.pager_id or until + SECOND > page.status_at


def _is_reopened(page: Page, rung: PageStatus) -> bool:
    """Return whether a page that had ended is triggered again, with the same id."""
    return not page.is_open and rung.status == Status.TRIGGERED and rung.id != "" and rung.id == page.pager_id


def _is_newer(page: Page, *, at: datetime, looked_at: datetime) -> bool:
    """Return whether what was found is newer than what events have told us."""
    if page.status == Status.OPENING or looked_at - page.status_at > SETTLED:
        return True
    return page.status_at < min(at, looked_at)


def _news(page: Page, rung: PageStatus, *, id: str, at: datetime) -> PagerEvent:
    kind, did, happened = REOPENED if _is_reopened(page, rung) else FOUND[rung.status]
    was_opened = page.status != Status.OPENING and not page.was_called_off and rung.id == page.pager_id
    if not was_opened and rung.status == Status.TRIGGERED:
        kind = rung.status
    by = _who(rung) if rung.status != Status.TRIGGERED else None
    people = () if page.is_open else _people(rung)  # for an open page it is known by now
    return PagerEvent(id, kind, at, _told(rung), did, happened, by=by, people=people, told=True, into=rung.into)


def _people(rung: PageStatus) -> tuple[Who, ...]:
    return tuple(Who(one.id, one.name) for one in rung.assigned)


def _told(rung: PageStatus) -> PagerIncident:
    return PagerIncident(rung.id, key=rung.key, title=rung.title, url=rung.url, number=rung.number, status=rung.status)


def _who(rung: PageStatus) -> Who | None:
    """Return who made a change; None if it was a service or an integration, as in webhooks."""
    return Who(rung.by_id, rung.by) if rung.by_id else None
