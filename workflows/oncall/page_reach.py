"""Who a page has reached, now and before. No one who was paged is dropped; late events undo nothing."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final

from workflows.models import Page, PagerUser
from workflows.oncall import callees
from workflows.oncall.pager_events import ACKNOWLEDGED, PagerEvent, Who
from workflows.planning.wording import page_notes

# Kinds of news that say who is paged from then on.
KINDS: Final = {"triggered", "unacknowledged", "reopened", "escalated", "reassigned", "delegated", "passed"}


def hear(page: Page, news: PagerEvent) -> bool:
    """Record who this news says is paged; return whether that changed. The caller holds the page and saves it."""
    return news.kind in KINDS and follow(page, news.people, at=news.at)


def is_again(page: Page, news: PagerEvent) -> bool:
    """Return whether this news pages only people already reached by the page; call it before ``hear``."""
    ids = {who.id for who in news.people}
    late = page.rung_at is not None and news.at < page.rung_at
    return news.kind in KINDS and bool(ids) and not late and ids <= set(page.rung_ids)


def follow(page: Page, people: Collection[Who], *, at: datetime) -> bool:
    """Record who was paged at a moment; return whether that adds anyone.

    In a public incident they are then brought in. In a private one this alone brings in no one, because anyone in the
    pager can pass a page on. The caller holds the page and saves it.
    """
    known = {who.id: who for who in people if who.id}
    if not known:
        return False
    new = [id for id in known if id not in page.rung_ids]
    page.rung_ids = [*page.rung_ids, *new]
    if not page.incident.private:
        page.rung.add(*_invitable(known))
    if page.rung_at is not None and at < page.rung_at:
        return bool(new)
    moved = set(known) != set(page.now_ids)
    if moved:
        page.now_ids, page.rings = list(known), callees.rings(_names(known.values()))
    page.rung_at = at
    return moved or bool(new)


def is_news(page: Page, people: Collection[Who], *, status: str) -> bool:
    """Return whether others are assigned than are paged; acknowledging narrows them to one, which is no change."""
    ids, now = {who.id for who in people}, set(page.now_ids)
    return bool(ids) and not (ids <= now if status == ACKNOWLEDGED else ids == now)


def unnotified(page: Page) -> str:
    """Say whose phones do not ring, of the people who are paged now; empty if everyone's does."""
    users = PagerUser.objects.filter(pager_id__in=page.now_ids, silent=True).select_related("person")
    names = callees.silent(users)
    return f". {page_notes.unnotified(names)}: call them" if names else ""


def users_of(pages: Collection[Page]) -> dict[str, PagerUser]:
    """Return who is paged by the open ones of these pages, by the pager's id: at most one query."""
    ids = {id for page in pages if page.is_open for id in page.rung_ids}
    found = PagerUser.objects.filter(pager_id__in=ids).select_related("person") if ids else ()
    return {user.pager_id: user for user in found}


def before(pages: Collection[Page]) -> dict[int, list[str]]:
    """Return the names of those each page paged before but not now, by primary key: at most one query."""
    ids = {page.pk: [id for id in page.rung_ids if id not in page.now_ids] for page in pages}
    names = _known({id for some in ids.values() for id in some})
    return {pk: [names[id] for id in some if id in names] for pk, some in ids.items()}


def _names(people: Collection[Who]) -> list[str]:
    known = _known({who.id for who in people if not who.name})
    return sorted(who.name or known.get(who.id, "someone") for who in people)


def _known(ids: set[str]) -> dict[str, str]:
    return dict(PagerUser.objects.filter(pager_id__in=ids).values_list("pager_id", "name")) if ids else {}


def _invitable(ids: Collection[str]) -> list[int]:
    """Return the ids of the people matched with these users who may be brought in."""
    users = PagerUser.objects.filter(pager_id__in=list(ids), person__isnull=False).select_related("person")
    return [user.person.pk for user in users if user.person is not None and user.person.can_join]
