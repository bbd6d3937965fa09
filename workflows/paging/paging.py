"""Page people: who can be paged, and a request to do it. `page_effects` opens the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from incidents import lifecycle
from incidents.drills import agreement
from incidents.lifecycle import rules
from incidents.models import Event, Incident, Person, Source
from workflows import ports
from workflows.models import Page
from workflows.oncall import callees
from workflows.planning import pages
from workflows.planning.pages import Callee

Status = Page.Status


@dataclass(frozen=True, slots=True)
class PageChoice:
    """Someone who can be paged: ``rings`` says who that is now, ``state`` the state of their page, if any.

    ``strangers`` are the names of those it does not bring in.
    """

    target: str
    name: str
    kind: str
    rings: str = ""
    state: str = ""
    strangers: tuple[str, ...] = ()


def choices(incident: Incident, *, at: datetime | None = None) -> list[PageChoice]:
    """Return everyone who can be paged: escalation policies, services, then people; empty without a pager."""
    if ports.pager() is None:
        return []
    open_ones = {page.target: page for page in Page.objects.filter(incident=incident, joined="") if page.is_open}
    return [_choice(callee, open_ones.get(callee.ref)) for callee in callees.everyone(at=at or timezone.now())]


def _choice(callee: Callee, page: Page | None) -> PageChoice:
    kind = {"policy": "escalation policy", "user": "person"}.get(callee.ref.partition("/")[0], "service")
    strangers = tuple(one.name for one in callee.strangers)
    return PageChoice(callee.ref, callee.name, kind, callee.rings, said(page) if page else "", strangers)


def must_page(by: Person | None) -> None:
    """Raise ``Refused`` for non-members, who may neither page anyone nor learn who is on call; None is a terminal."""
    if by is not None and not by.can_join:
        raise lifecycle.Refused(f"{by.kept_out} cannot page anyone. Ask someone you work with.")


def named(words: str, among: Sequence[PageChoice]) -> PageChoice | None:
    """Return the choice with a name, an id or a ref, ignoring case; None if there is none."""
    low = words.strip().lstrip("@").casefold()
    return next((one for one in among if low in {one.name.casefold(), one.target.casefold(), _id(one)}), None)


def of_person(person: Person, among: Sequence[PageChoice]) -> PageChoice | None:
    """Return the choice that pages this person; None while the pager does not know them."""
    ids = {f"user/{one}" for one in person.on_pager.filter(gone=False).values_list("pager_id", flat=True)}
    return next((one for one in among if one.target in ids), None)


def _id(choice: PageChoice) -> str:
    return choice.target.partition("/")[2].casefold()


def said(page: Page) -> str:
    """Say the state of a page: *paging*, *acknowledged by Eve Ito*, *resolved by Firekind*."""
    if page.was_called_off:
        return "called off before it was opened"
    if page.is_unseen:
        return "sent, but PagerDuty shows no incident for it"
    words = str(Status(page.status).label)
    if page.joined and page.status == Status.TRIGGERED:
        return f"joined an open incident of {page.joined}"
    words = f"{words} by {page.status_by}" if page.status_by and page.status != Status.TRIGGERED else words
    return f"{words}, in a PagerDuty account that is no longer connected" if page.elsewhere and page.is_open else words


def ask(
    incident: Incident,
    *,
    target: str,
    by: Person | None,
    at: datetime,
    because: str = "",
    via: str = Source.WEB,
    since: int | None = None,
) -> str:
    """Request a page by hand; return what will be done, in words.

    ``since`` is the last event number that the person saw: if the target was requested after it, by them or another,
    they read that first. So a form that is sent twice pages once, even if its page has ended by then.

    Raises ``BadInput`` for someone who cannot be paged or whose page is still open, ``Stale`` for one requested
    meanwhile, ``Refused`` once the incident has ended.
    """
    if ports.pager() is None:
        raise lifecycle.Refused("PagerDuty is not connected: set PAGERDUTY_API_KEY and PAGERDUTY_FROM.")
    callee = callees.known([], asked=[target], pager=True, at=at).asked.get(target)
    with rules.changing(incident, by=by) as now:
        must_page(by)  # before any name is mentioned
        if callee is None or not callee.service:
            raise lifecycle.BadInput("target", "No one in PagerDuty has that name. Choose from the list.")
        because = rules.text(because, field="because", needed=False)
        agreement.must_be_real(now, "page someone for")
        rules.must_be_active(now, "page someone for")
        data = {"target": target, "name": callee.name, "turn": _next_turn(now, callee)}
        rules.must_be_fresh(now, since=since, clash={"paged"}, target=target)
        lifecycle.remark(now, "paged", by=by, at=at, source=via, text=because, data=data)
        if now.private:
            _let_in(now, callee, by=by, at=at, via=via)
    return f"page {callee.label}"


def _let_in(incident: Incident, callee: Callee, *, by: Person | None, at: datetime, via: str) -> None:
    """Bring in by name the people paged for a private incident: paging them implies it."""
    people = Person.objects.filter(pk__in=[one.person_id for one in callee.people])
    because = f"paged by {by.name}" if by is not None else "paged"
    lifecycle.bring_in(incident, people=list(people), by=by, at=at, source=via, because=because)


def _next_turn(incident: Incident, callee: Callee) -> int:
    """Return which page to this target it is. A first page that the policy also asks for is the same page."""
    before = list(Page.objects.filter(incident=incident, target=callee.ref))
    for page in before:
        if page.is_open and not page.joined:
            raise lifecycle.BadInput("target", f"{callee.name} was already paged: {said(page)}.")
    opened = {pages.turn_of(page.key, callee.ref) for page in before}
    asked = set(requests(incident, callee.ref).values_list("data__turn", flat=True))
    if asked - opened and not _was_asked_again(incident, callee):
        raise lifecycle.BadInput("target", f"{callee.name} is already being paged: see the plan for progress.")
    return max(asked | opened, default=0) + 1


def _was_asked_again(incident: Incident, callee: Callee) -> bool:
    """Return whether the last request for this name used an id from another account."""
    kind = callee.ref.partition("/")[0]
    named = Event.objects.filter(incident=incident, kind="paged", data__name__iexact=callee.name)
    last = named.filter(data__target__startswith=f"{kind}/").order_by("-n").first()
    if last is None or last.data["target"] == callee.ref:
        return False
    ref = last.data["target"]
    return callees.known([], asked=[ref], pager=True).asked.get(ref, callee).gone


def requests(incident: Incident | int, ref: str) -> QuerySet[Event]:
    """Return all requests to page a target for an incident."""
    return Event.objects.filter(incident=incident, kind="paged", data__target=ref)
