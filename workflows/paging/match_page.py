"""Match news from the pager to the page it is about."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet

from incidents.claiming.shared_clock import clock
from workflows.alerts import own_pages
from workflows.models import Effect, Page
from workflows.oncall.pager_events import PagerEvent, PagerIncident
from workflows.pager_port import key_sign
from workflows.planning.actions import CREATE

# Certain matches, those by id first; then every page that the fallback opened, or may be opening, and whose id is
# unknown or that may have been opened twice.
CANDIDATES: Final = """
    SELECT p.id, p.pager_id = %(id)s AND p.pager_id <> '' OR p.dedup_key = %(key)s, p.pager_id, p.dedup_key, i.codename
      FROM workflows_page p JOIN incidents_incident i ON i.id = p.incident_id
     WHERE p.pager_id <> '' AND p.pager_id = %(id)s OR p.dedup_key = %(key)s
        OR p.pager_id = '' AND (p.via = 'events' OR p.status = 'opening' OR p.withdrawn_at IS NOT NULL)
        OR p.doubted_at IS NOT NULL
     ORDER BY p.pager_id <> %(id)s OR p.pager_id = '', p.dedup_key <> %(key)s, p.opened_at DESC LIMIT 50
"""
# A request without a response may be carried out in addition to another one.
MAY_BE_TWO: Final = Exists(
    Effect.objects.filter(incident=OuterRef("incident"), thing=OuterRef("key"), verb=CREATE, unsure=True)
)


def find(news: PagerEvent) -> tuple[Page | None, list[int]]:
    """Return the page that news is about, or the keys of candidates that a look must decide between.

    A page is identified by the pager's id, else by the key it was opened with. The pager shows no key for what the
    fallback opened, so until its id is known, the key prefix in the title identifies it. For any other title like ours,
    pages are looked at: older ones have no prefix, one may have been opened twice, and another Firekind uses the same
    codenames.
    """
    told = news.page
    with connection.cursor() as cursor:
        cursor.execute(CANDIDATES, {"id": told.id, "key": told.key})
        rows = cursor.fetchall()
    if surely := [pk for pk, known, *_ in rows if known][:1]:
        page = Page.objects.get(pk=surely[0])
        return (None, surely) if _is_a_second(page, told) else (page, [])
    if own_pages.OWN.fullmatch(told.key):
        return None, []
    fits = [(pk, id, key) for pk, _, id, key, codename in rows if own_pages.is_titled(told.title, codename)]
    signed = [pk for pk, id, key in fits if id == "" and told.title.startswith(key_sign(key))]
    if len(signed) == 1 and not {*_opened_twice(told)} - {*signed}:
        return Page.objects.get(pk=signed[0]), []
    return None, [] if told.key else [pk for pk, *_ in fits] or _opened_twice(told)


def look_soon(pages: Collection[int], *, at: datetime) -> None:
    """Have the next poll look at these pages again, and for a second one of each. Runs in the caller's transaction."""
    held = [page.pk for page in Page.objects.select_for_update(no_key=True).filter(pk__in=pages).order_by("pk")]
    Page.objects.filter(pk__in=held).update(looked_at=None, doubted_at=clock.at(at))


def with_incidents(pages: QuerySet[Page]) -> QuerySet[Page]:
    """Read pages with their incidents, without the incidents' words."""
    return pages.select_related("incident").defer("incident__words")


def _is_a_second(page: Page, told: PagerIncident) -> bool:
    """Return whether a pager incident is a second one, other than the page with its key.

    The page is open, or was resolved in the pager: a late request of ours must not page anyone again.
    """
    ended_there = page.status == Page.Status.RESOLVED and page.withdrawn_at is None
    is_another = "" not in {page.pager_id, told.id} and told.id != page.pager_id
    return is_another and (page.is_open or ended_there)


def _opened_twice(told: PagerIncident) -> list[int]:
    """Return the pages of which this may be a second one, by its title."""
    codename = own_pages.named_in(told.title)
    return list(Page.objects.filter(MAY_BE_TWO, incident__codename=codename).values_list("pk", flat=True))
