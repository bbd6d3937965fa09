"""End one of two pages when requests went two ways and both were carried out.

PagerDuty deduplicates by key only within one service, and the fallback's events may go to another.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from incidents import sentences
from incidents.claiming import rotation
from incidents.claiming.shared_clock import clock
from workflows.alerts import own_pages
from workflows.effects import effect_queue
from workflows.models import Page, Resource
from workflows.oncall.pager_events import PagerIncident
from workflows.pager_port import Pager, PageStatus
from workflows.paging import apply_page_event, called_off, match_page, page_effects, pager_names
from workflows.planning.wording import cards
from workflows.ports import VendorError

log = logging.getLogger(__name__)

PATIENCE: Final = timedelta(minutes=10)  # after which no late request arrives, and no webhook asks for another look
AT_ONCE: Final = 5  # each may take thirty calls
EVERY_S: Final = 60
TWICE: Final = (
    "PagerDuty opened the page to {page} twice, because a request arrived late. Resolving the duplicate{number}{paged}"
)
Status = Page.Status


def in_turn(pages: Sequence[Page], *, at: datetime) -> set[int]:
    """Return the pages to look for a second one of now: a few each minute, in turn."""
    doubted = [page.pk for page in pages if page.doubted_at is not None and page.pager_id]
    return set(rotation.in_turn(doubted, at_once=AT_ONCE, every_s=EVERY_S, at=at))


def end(pager: Pager, pk: int, *, at: datetime) -> None:
    """End other pages open under a page's key; what cannot be ended now is looked for again.

    Pages that people renamed, or that contain others' alerts, are left to them. So is one that was already open when
    they ended the page, because they may have merged the page into it: the next look adopts it as the page. Raises
    ``VendorError`` only if nothing more may be sent for a while.
    """
    page = match_page.with_incidents(Page.objects.all()).get(pk=pk)
    try:
        found = _found(pager, page)
        for twin in found:
            _end(pager, page, twin, at=at)
    except VendorError as error:
        log.warning("could not end a second page of %s: %s", pk, error)
        if error.retry_after is not None:
            raise
        return
    if not found and page.doubted_at is not None and clock.at(at) - page.doubted_at > PATIENCE:
        Page.objects.filter(pk=pk, doubted_at=page.doubted_at).update(doubted_at=None)


def forget(pk: int, *, at: datetime) -> None:
    """Stop looking for a page that has ended and never appeared: if it still does, its key identifies it."""
    never = Page.objects.filter(pk=pk, status=Status.RESOLVED, pager_id="")
    never.filter(doubted_at__lte=clock.at(at) - PATIENCE).update(doubted_at=None)


def _found(pager: Pager, page: Page) -> list[PageStatus]:
    ended_there = not page.is_open and page.withdrawn_at is None
    return [
        twin
        for twin in pager.twins(page.pager_id, key=page.dedup_key, since=page.opened_at - page_effects.SKEW)
        if own_pages.is_titled(twin.title, page.incident.codename)
        and not (ended_there and (twin.opened_at is None or twin.opened_at <= page.status_at))
    ]


def _end(pager: Pager, page: Page, twin: PageStatus, *, at: datetime) -> None:
    """End one of the two. If someone acknowledged one of them, that one stays open."""
    if twin.status == Status.ACKNOWLEDGED and page.status == Status.TRIGGERED:
        former = pager.look(page.pager_id)
        if not _take(page, twin) or former is None:
            return  # something has changed: the next look decides
        twin = former
    if _tell(page, twin, at=at):
        _make_neutral(pager, page, twin)
        pager.resolve(twin.id, key=page.dedup_key, via=twin.via, codename=page.incident.codename)


def _make_neutral(pager: Pager, page: Page, twin: PageStatus) -> None:
    """Remove the subject from its title. In a private incident that precedes its end, or the title would stay."""
    title, codename = cards.neutral_title(page.incident.codename), page.incident.codename
    try:
        pager.retitle(twin.id, title, key=page.dedup_key, codename=codename)
    except VendorError as error:
        if error.retry_after is not None or (error.retryable and page.incident.private):
            raise
        log.warning("could not retitle a second page of %s: %s", page.pk, error)


def _take(page: Page, twin: PageStatus) -> bool:
    """Make the second one the page, unless it has ended or changed meanwhile; the next look applies its status."""
    with transaction.atomic():
        held = apply_page_event.held(page)
        is_same = (held.status, held.pager_id) == (Status.TRIGGERED, page.pager_id)
        if not is_same or apply_page_event.is_ending(held):
            return False
        pager_names.relearn(held, PagerIncident(twin.id, url=twin.url, number=twin.number))
        held.via, held.looked_at = twin.via, None
        held.save(update_fields=["pager_id", "number", "url", "via", "looked_at"])
        for there in Resource.objects.filter(incident=page.incident_id, key=page.key):
            there.external, there.external_id = there.external | pager_names.external(held), held.pager_id
            there.spec |= {"title": twin.title}  # the title of the time it was opened
            there.save(update_fields=["external", "external_id", "spec"])
        effect_queue.replan(page.incident_id)
    return True


def _tell(page: Page, twin: PageStatus, *, at: datetime) -> bool:
    """Report once that the page was opened twice, before fixing it; return whether the other still is a second one."""
    said = f"twin {page.dedup_key}"
    with transaction.atomic():
        held = apply_page_event.held(page)
        if held.pager_id == twin.id:
            return False
        if said in held.news:
            return True
        held.news = [*held.news, said]
        held.save(update_fields=["news"])
        people = sentences.enumerated([one.name for one in twin.assigned])
        number = f", #{twin.number}" if twin.number else ""
        text = TWICE.format(page=held.name, number=number, paged=f", which paged {people}" if people else "")
        called_off.tell(held, text, at=at)
    return True
