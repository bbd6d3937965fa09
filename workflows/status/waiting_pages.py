"""Pages that no one has acknowledged, and who they reached: what those people are told."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Q, QuerySet

from incidents.models import Person
from workflows.models import Page, PagerUser
from workflows.paging import acknowledging
from workflows.paging.acknowledging import AckWish

FALLBACK = "events"  # it pages those on call for its service; those who were meant are brought in, not paged


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """An unacknowledged page: ``now`` are the people it pages since ``since``, ``before`` those it paged earlier.

    ``rings`` names who is paged now, strangers included. ``able`` are the people who can acknowledge it from here, and
    ``asked`` is who requested that, until it is done.
    """

    id: int
    incident_id: int
    name: str
    url: str
    since: datetime
    rings: str
    now: tuple[int, ...]
    before: tuple[int, ...]
    able: frozenset[int] = frozenset()
    asked: AckWish | None = None

    def reached(self, person_id: int) -> bool:
        """Return whether it paged this person, now or before."""
        return person_id in self.now or person_id in self.before

    def asked_for(self, person_id: int) -> str:
        """Say who requested to acknowledge it, to this person: *you*, or a name; empty if no one did."""
        if self.asked is None:
            return ""
        return "you" if self.asked.person_id == person_id else self.asked.name

    def may_acknowledge(self, person_id: int) -> bool:
        """Return whether someone can acknowledge it from here now: no one is doing that, or they failed."""
        return person_id in self.able and (self.asked is None or bool(self.asked.failed))


def among(pages: Iterable[Page]) -> list[WaitingPage]:
    """Return those of these pages that wait for someone, in a fixed number of queries."""
    waiting = [page for page in pages if page.status == Page.Status.TRIGGERED and not page.joined]
    ids = {id for page in waiting for id in page.rung_ids}
    people = dict(PagerUser.objects.filter(pager_id__in=ids).values_list("pager_id", "person_id")) if ids else {}
    noted: dict[int, set[int]] = {}
    if waiting:
        sent = [page for page in waiting if page.via != FALLBACK]
        rows = Page.rung.through.objects.filter(page__in=sent).values_list("page_id", "person_id")
        for page_id, person_id in rows:
            noted.setdefault(page_id, set()).add(person_id)
    able, asked = acknowledging.able(waiting), acknowledging.of(waiting)
    return [
        replace(_waiting(page, people, noted.get(page.pk, set())), able=able[page.pk], asked=asked.get(page.pk))
        for page in waiting
    ]


def _waiting(page: Page, people: Mapping[str, int | None], noted: Collection[int]) -> WaitingPage:
    """Split those who were paged into now and before; if nothing is known about now, it is everyone recorded."""
    reached = {found for id in page.rung_ids if (found := people.get(id)) is not None} | set(noted)
    now = {found for id in page.now_ids if (found := people.get(id)) is not None} if page.now_ids else reached
    return WaitingPage(
        id=page.pk,
        incident_id=page.incident_id,
        name=page.name,
        url=page.url,
        since=max(filter(None, (page.status_at, page.rung_at))),
        rings=page.rings.removeprefix("pages "),
        now=tuple(sorted(now)),
        before=tuple(sorted(reached - now)),
    )


def reaching(person: Person) -> QuerySet[Page]:
    """Return unacknowledged pages that reached this person, in any incident: the caller checks visibility."""
    ids = list(PagerUser.objects.filter(person=person).values_list("pager_id", flat=True))
    noted = Q(pk__in=Page.rung.through.objects.filter(person=person).values("page_id")) & ~Q(via=FALLBACK)
    return Page.objects.filter(noted | Q(rung_ids__overlap=ids), status=Page.Status.TRIGGERED, joined="")
