"""Pages that were opened twice, because requests went two ways and both were carried out: one of the two is ended.

PagerDuty merges requests of one key within one service alone, and the fallback's events may lead to another.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from incidents import lifecycle, sentences
from incidents.models import Source
from workflows.models import Page, Resource
from workflows.oncall.pager_events import PagerIncident
from workflows.pager_port import Pager, PageStatus
from workflows.paging import apply_page_event, match_page, pager_names
from workflows.planning.wording import cards
from workflows.ports import VendorError

log = logging.getLogger(__name__)

PATIENCE: Final = timedelta(minutes=10)  # until no request comes any more, and no webhook asks for another look
AT_ONCE: Final = 5  # each may take thirty calls
SKEW: Final = timedelta(minutes=2)
TWICE: Final = (
    "PagerDuty opened the page to {page} twice, because a request arrived late. Resolving the duplicate{number}{paged}"
)
Status = Page.Status


def in_turn(pages: Sequence[Page], *, at: datetime) -> set[int]:
    """Return those of some pages of which a second one is looked for now: a few each minute, each in its turn."""
    doubted = [page.pk for page in pages if page.doubted_at is not None and page.pager_id]
    first = int(at.timestamp() // 60) * AT_ONCE % max(len(doubted), 1)
    return set([*doubted[first:], *doubted[:first]][:AT_ONCE])


def end(pager: Pager, pk: int, *, at: datetime) -> None:
    """End what is open under a page's key besides the page; what cannot be ended now is looked for again.

    What people renamed, or took in others' alerts, is left to them. So is what was open already when they ended the
    page, which they may have merged into it: the next look takes that one for the page. Raises ``VendorError`` only
    where nothing more is to be sent for a while.
    """
    page = match_page.read(pk)
    try:
        found = _found(pager, page)
        for twin in found:
            _end(pager, page, twin, at=at)
    except VendorError as error:
        log.warning("could not end a second page of %s: %s", pk, error)
        if error.retry_after is not None:
            raise
        return
    if not found and page.doubted_at is not None and at - page.doubted_at > PATIENCE:
        Page.objects.filter(pk=pk, doubted_at=page.doubted_at).update(doubted_at=None)


def _found(pager: Pager, page: Page) -> list[PageStatus]:
    ended_there = not page.is_open and page.withdrawn_at is None
    return [
        twin
        for twin in pager.twins(page.pager_id, key=page.dedup_key, since=page.opened_at - SKEW)
        if match_page.is_titled(twin.title, page.incident.codename)
        and not (ended_there and (twin.opened_at is None or twin.opened_at <= page.status_at))
    ]


def _end(pager: Pager, page: Page, twin: PageStatus, *, at: datetime) -> None:
    """End one of two. Whoever acknowledged one of them keeps it."""
    codename = page.incident.codename
    if twin.status == Status.ACKNOWLEDGED and page.status == Status.TRIGGERED:
        former = pager.look(page.pager_id)
        _take(page, twin)
        if former is None:
            return
        twin = former
    _tell(page, twin, at=at)
    pager.retitle(twin.id, cards.neutral_title(codename), key=page.dedup_key, codename=codename)
    pager.resolve(twin.id, key=page.dedup_key, via=twin.via, codename=codename)


def _take(page: Page, twin: PageStatus) -> None:
    """Make the second one the page: how it stands is for the next look."""
    with transaction.atomic():
        held = apply_page_event.held(page)
        pager_names.learn_anew(held, PagerIncident(twin.id, url=twin.url, number=twin.number))
        held.via, held.looked_at = twin.via, None
        held.save(update_fields=["pager_id", "number", "url", "via", "looked_at"])
        named = {"id": held.pager_id, "number": held.number, "url": held.url, "via": held.via}
        for there in Resource.objects.filter(incident=page.incident_id, key=page.key):
            there.external, there.external_id = there.external | named, held.pager_id
            there.save(update_fields=["external", "external_id"])


def _tell(page: Page, twin: PageStatus, *, at: datetime) -> None:
    """Say once that the page was opened twice, before that is mended."""
    said = f"twin {page.dedup_key}"
    with transaction.atomic():
        held = apply_page_event.held(page)
        if said in held.news:
            return
        held.news = [*held.news, said]
        held.save(update_fields=["news"])
        people = sentences.enumerated([one.name for one in twin.assigned])
        number = f", #{twin.number}" if twin.number else ""
        text = TWICE.format(page=held.name, number=number, paged=f", which paged {people}" if people else "")
        data = {"page": held.key, "url": held.url} | ({} if held.incident.is_active else {"room": 0})
        lifecycle.remark(held.incident, "page", by=None, at=at, source=Source.SYSTEM, text=text, data=data)
