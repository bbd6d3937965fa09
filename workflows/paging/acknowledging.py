"""Acknowledge a page from here, in the name of someone it reached. A worker carries out the recorded request."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from django.db.models import F

from incidents import lifecycle, timeline
from incidents.lifecycle import rules
from incidents.models import Incident, Person
from workflows.effects.work import Outcome, Work
from workflows.models import Effect, Page, PagerUser, Planned
from workflows.oncall import people
from workflows.pager_port import Pager, PageStatus
from workflows.paging import apply_page_event, note_found, paging
from workflows.planning.pages import acknowledgement_key
from workflows.ports import VendorError

NOT_YOURS: Final = "Only people this page reached, and who are matched with PagerDuty, can acknowledge it here."
BEING_ENDED: Final = "The page is being resolved, so there is nothing to acknowledge."
ASKED: Final = "Acknowledging the page to {page}…"
NO_USER: Final = "They are no longer matched with PagerDuty. Acknowledge it there, or match them under On-call, People."
Status = Page.Status


@dataclass(frozen=True, slots=True)
class AckWish:
    """A request to acknowledge a page that is still triggered; ``failed`` says why it failed and what to do.

    ``delayed`` says why it takes longer than a moment.
    """

    person_id: int
    name: str
    failed: str = ""
    delayed: str = ""


class AckReply(NamedTuple):
    """The reply to someone who wants to acknowledge a page; ``begun`` says whether their request is new."""

    says: str
    begun: bool = False


def ask(incident: Incident, *, page: int, by: Person, at: datetime) -> AckReply:
    """Record once that someone wants to acknowledge a page; return what happens now.

    If it was acknowledged or resolved meanwhile, the reply says so; that is no error. Raises ``Refused`` for a page
    that does not exist or did not reach them.
    """
    with rules.changing(incident, by=by) as now:
        found = Page.objects.select_for_update(of=("self",), no_key=True).filter(incident=now, pk=page).first()
        if found is None or by.pk not in able([found])[found.pk]:
            raise lifecycle.Refused(NOT_YOURS)
        if found.status in {Status.ACKNOWLEDGED, Status.RESOLVED}:
            return AckReply(f"The page to {found.name} is already {paging.said(found)}.")
        _must_ring(found, now)
        if (earlier := of([found]).get(found.pk)) is not None and not earlier.failed:
            who = "You are" if earlier.person_id == by.pk else f"{earlier.name} is"
            return AckReply(f"{who} already acknowledging the page to {found.name}.")
        found.ack_asked_by, found.ack_asked_at, found.ack_turn = by, at, found.ack_turn + 1
        found.save(update_fields=["ack_asked_by", "ack_asked_at", "ack_turn"])
        rules.save(now)
        timeline.nudge_readers(now.pk)
    return AckReply(ASKED.format(page=found.name), begun=True)


def _must_ring(page: Page, incident: Incident) -> None:
    if page.joined or page.status == Status.OPENING:
        raise lifecycle.Refused(NOT_YOURS)
    if not incident.is_active or apply_page_event.is_ending(page):
        raise lifecycle.Refused(BEING_ENDED)


def able(pages: Collection[Page]) -> dict[int, frozenset[int]]:
    """Return who can acknowledge each page from here, by primary key: people it reached, now or before.

    Empty while the page has no id from the pager. Leaves out guests and the user that opens our pages.
    """
    known = {user.pager_id: user.person for user in _users(pages)}
    return {
        page.pk: frozenset(
            person.pk
            for id in page.rung_ids
            if page.pager_id and (person := known.get(id)) is not None and person.can_join
        )
        for page in pages
    }


def _users(pages: Iterable[Page]) -> list[PagerUser]:
    ids = {id for page in pages for id in page.rung_ids}
    if not ids:
        return []
    found = PagerUser.objects.filter(pager_id__in=ids - people.our_ids(), person__isnull=False, gone=False)
    return list(found.exclude(email="").select_related("person"))


def of(pages: Collection[Page]) -> dict[int, AckWish]:
    """Return the requests that are pending or failed, by their pages' primary keys; few queries."""
    asked = {page.pk: page for page in pages if page.ack_turn}
    if not asked:
        return {}
    keys = {pk: acknowledgement_key(page.key, turn=page.ack_turn) for pk, page in asked.items()}
    of_incidents = {page.incident_id for page in asked.values()}
    effects = Effect.objects.filter(incident__in=of_incidents, thing__in=keys.values()).order_by("pk")
    latest = {(one.incident_id, one.thing): one for one in effects}
    people_ids = {page.ack_asked_by_id for page in asked.values() if page.ack_asked_by_id is not None}
    names = dict(Person.objects.filter(pk__in=people_ids).values_list("pk", "name"))
    planned = set(_planned(of_incidents))
    found = {pk: _asked(page, latest.get((page.incident_id, keys[pk])), names, planned) for pk, page in asked.items()}
    return {pk: one for pk, one in found.items() if one is not None}


def _planned(incidents: Collection[int]) -> Iterable[int]:
    """Return those of these incidents that were planned from their newest facts."""
    rows = Planned.objects.filter(incident__in=incidents, revision__gte=F("incident__revision"))
    return rows.values_list("incident", flat=True)


def _asked(page: Page, effect: Effect | None, names: Mapping[int, str], planned: Collection[int]) -> AckWish | None:
    """Return the state of a request; None if it is over: done, called off, or never picked up by a plan."""
    if page.ack_asked_by_id is None or (effect is None and page.incident_id in planned):
        return None
    person_id, name = page.ack_asked_by_id, names.get(page.ack_asked_by_id, "Someone")
    if effect is None:
        return AckWish(person_id, name)
    if effect.state == Effect.State.FAILED:
        return AckWish(person_id, name, failed=effect.error)
    if effect.state in {Effect.State.WAITING, Effect.State.RUNNING}:
        return AckWish(person_id, name, delayed=effect.error)
    return None


def acknowledge(pager: Pager, work: Work) -> Outcome:
    """Acknowledge the page in the requester's name, unless someone has acknowledged or resolved it."""
    page, person = _page(work), work.effect.spec["person"]
    user = next((one for one in _users([page]) if one.person_id == person), None)
    if user is None:
        raise VendorError(NO_USER, code="not_a_user", method=work.effect.method)
    return _found(page, pager.acknowledge(page.pager_id, by=user.email))


def look(pager: Pager, work: Work) -> Outcome | None:
    """Check whether the page is still triggered; if anyone acknowledged or resolved it, nothing is left to do."""
    page = _page(work)
    now = pager.look(page.pager_id)
    return None if now is None or now.status == Status.TRIGGERED else _found(page, now)


def _found(page: Page, now: PageStatus) -> Outcome:
    """Record the state in which the page was found. An acknowledgement is reported once and brings its author in."""

    def note(at: datetime) -> None:
        note_found.note(page, now, looked_at=at)

    return Outcome(also=note)


def _page(work: Work) -> Page:
    return Page.objects.get(incident=work.effect.incident_id, key=work.effect.spec["page"])
