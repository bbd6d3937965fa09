"""Pages that were opened twice, because requests went two ways and both were carried out: the second one is ended.

PagerDuty merges requests of one key within one service alone, and the fallback's events may lead to another.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet

from incidents import lifecycle, sentences
from incidents.models import Source
from workflows.models import Page
from workflows.pager_port import Pager, PageStatus
from workflows.paging import apply_page_event, match_page
from workflows.planning.wording import cards

PATIENCE: Final = timedelta(minutes=10)  # since anything was heard of the page
SKEW: Final = timedelta(minutes=2)
TWICE: Final = "PagerDuty opened the page to {page} twice because a request came late: {ended} the second one{which}"


def possible(pages: QuerySet[Page], *, at: datetime) -> QuerySet[Page]:
    """Return those of which a request was not answered, and may have been carried out beside another one."""
    since = at - PATIENCE
    lately = Q(opened_at__gt=since) | Q(withdrawn_at__gt=since) | Q(status_at__gt=since) | Q(looked_at=None)
    return pages.filter(lately, match_page.MAY_BE_TWO)


def end(pager: Pager, page: Page, *, at: datetime) -> None:
    """End what is open under a page's key besides the page, of which it is known which one it is.

    What people renamed is left to them. So is what was open already when they ended the page, which they may have
    merged into it: the next look takes that one for the page.
    """
    codename = page.incident.codename
    for twin in pager.twins(page.pager_id, key=page.dedup_key, since=page.opened_at - SKEW, codename=codename):
        if not match_page.is_titled(twin.title, codename) or _was_chosen(page, twin):
            continue
        pager.retitle(twin.id, cards.neutral_title(codename), key=page.dedup_key, codename=codename)
        whole = pager.resolve(twin.id, key=page.dedup_key, via=twin.via, codename=codename)
        _tell(page, twin, whole=whole, at=at)


def _was_chosen(page: Page, twin: PageStatus) -> bool:
    ended_there = not page.is_open and page.withdrawn_at is None
    return ended_there and (twin.at is None or twin.at <= page.status_at)


def _tell(page: Page, twin: PageStatus, *, whole: bool, at: datetime) -> None:
    """Say once that the page was opened twice."""
    said = f"twin {twin.id}"
    with transaction.atomic():
        page = apply_page_event.held(page)
        if said in page.news:
            return
        page.news = [*page.news, said]
        page.save(update_fields=["news"])
        number = f", #{twin.number}" if twin.number else ""
        people = sentences.enumerated([one.name for one in twin.assigned])
        which = f"{number}{f', which paged {people}' if people else ''}"
        text = TWICE.format(page=page.name, which=which, ended="resolved" if whole else "left")
        data = {"page": page.key, "url": page.url} | ({} if page.incident.is_active else {"room": 0})
        lifecycle.remark(page.incident, "page", by=None, at=at, source=Source.SYSTEM, text=text, data=data)
