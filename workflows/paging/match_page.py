"""Match news of the pager to the page that they are about."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime
from typing import Final

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet

from workflows import ports
from workflows.models import Effect, Page
from workflows.oncall.pager_events import PagerEvent, PagerIncident
from workflows.planning.actions import CREATE
from workflows.planning.wording import cards

# Those that are surely meant, the ones known by id first; then all that the fallback opened, or may just be opening,
# and whose id is not known, or of which there may be a second one.
CANDIDATES: Final = """
    SELECT p.id, p.pager_id = %(id)s AND p.pager_id <> '' OR p.dedup_key = %(key)s, p.pager_id, i.codename, p.service_id
      FROM workflows_page p JOIN incidents_incident i ON i.id = p.incident_id
     WHERE p.pager_id <> '' AND p.pager_id = %(id)s OR p.dedup_key = %(key)s
        OR p.pager_id = '' AND (p.via = 'events' OR p.status = 'opening' OR p.withdrawn_at IS NOT NULL)
        OR p.doubted_at IS NOT NULL
     ORDER BY p.pager_id <> %(id)s OR p.pager_id = '', p.dedup_key <> %(key)s, p.opened_at DESC LIMIT 50
"""
NAMED: Final = re.compile(r"(?:.*\()?([a-z-]+)(?:\)| needs you)")  # the codename in a title that we gave
OWN: Final = re.compile(r"firekind-[0-9a-f]{32}")  # a key that `page_effects` opens pages with
# Of a request that was not answered: it may be carried out beside another one.
MAY_BE_TWO: Final = Exists(
    Effect.objects.filter(incident=OuterRef("incident"), thing=OuterRef("key"), verb=CREATE, unsure=True)
)


def find(news: PagerEvent) -> tuple[Page | None, list[int]]:
    """Return the page that news are about, or the keys of those of which a look has to say which is meant.

    A page is known by the pager's id, else by the key that it was opened with. What the fallback opened has no key
    there, so until its id is known it is told by a title that we gave it. Taken for someone else's, it could declare an
    incident; someone else's that only mentions our codename is not taken for it. Pages of one incident have one title,
    and a page may have been opened twice.
    """
    told = news.page
    with connection.cursor() as cursor:
        cursor.execute(CANDIDATES, {"id": told.id, "key": told.key})
        rows = cursor.fetchall()
    if surely := [pk for pk, known, *_ in rows if known][:1]:
        page = Page.objects.get(pk=surely[0])
        return (None, surely) if _is_a_second(page, told) else (page, [])
    fits = [(pk, id, service_id) for pk, _, id, codename, service_id in rows if is_titled(told.title, codename)]
    if not fits:
        return None, _opened_twice(told)
    here = [(pk, id) for pk, id, service_id in fits if _may_be_on(told.service_id, service_id)]
    doubtful = [pk for pk, *_ in fits]
    if len(here) == 1 and here[0][1] == "" and not (set(_opened_twice(told)) - {here[0][0]}):
        return Page.objects.get(pk=here[0][0]), []
    return None, doubtful


def _may_be_on(told: str, own: str) -> bool:
    """Return whether a page may be on the service that news name: its own, or that to which the fallback leads.

    There are all pages that went through it, whichever services they were meant for.
    """
    pager = ports.pager()
    places = {own, pager.fallback_service() if pager else ""}
    return told == "" or "" in places or told in places


def is_lost(told: PagerIncident) -> bool:
    """Return whether a page that is none of ours now was: its row went with the database's last moments.

    Taken for an alert it could declare an incident, or join one.
    """
    return OWN.fullmatch(told.key) is not None


def look_soon(pages: Collection[int], *, at: datetime) -> None:
    """Let the next poll look at pages again, and for a second one of each. In the caller's transaction."""
    held = [page.pk for page in Page.objects.select_for_update().filter(pk__in=pages).order_by("pk")]
    Page.objects.filter(pk__in=held).update(looked_at=None, doubted_at=at)


def with_incidents(pages: QuerySet[Page]) -> QuerySet[Page]:
    """Read pages with their incidents, without the words of these."""
    return pages.select_related("incident").defer("incident__words")


def is_titled(title: str, codename: str) -> bool:
    """Return whether a title is one that we gave to the page of an incident."""
    return title.endswith((f"({codename})", cards.neutral_title(codename)))


def _is_a_second(page: Page, told: PagerIncident) -> bool:
    """Return whether an incident of the pager is another one than the open page that has its key."""
    return page.is_open and "" not in {page.pager_id, told.id} and told.id != page.pager_id


def _opened_twice(told: PagerIncident) -> list[int]:
    """Return the pages of which this may be a second one, by the title that it has."""
    named = NAMED.fullmatch(told.title)
    if named is None or not is_titled(told.title, named[1]):
        return []
    return list(Page.objects.filter(MAY_BE_TWO, incident__codename=named[1]).values_list("pk", flat=True))
