"""Page people: request, open, retitle and resolve a page. Each is recorded before the pager is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from incidents import lifecycle
from incidents.lifecycle import rules
from incidents.models import Event, Incident, Person, Source
from workflows import ports
from workflows.effects.work import Outcome, Work, made
from workflows.loading import load_facts
from workflows.models import Page
from workflows.oncall import acknowledgements, callees, page_reach
from workflows.oncall.pager_events import Who
from workflows.planning import pages
from workflows.planning.desired import desired_state
from workflows.planning.observed import GONE
from workflows.planning.pages import Callee
from workflows.planning.wording import cards
from workflows.ports import Pager, PageRequest, PageStatus

SKEW = timedelta(minutes=2)
JOINED = (
    "The page to {page} joined an open incident of {joined} in PagerDuty, so it notified no one. Page them again, or "
    "call them."
)
SHARED = "left the page to {page} open in PagerDuty: its incident has alerts of others"
Status = Page.Status


@dataclass(frozen=True, slots=True)
class PageChoice:
    """Whom someone may page: ``rings`` says who that is now, ``state`` how a page to them stands already.

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
    """Raise ``Refused`` for guests, who neither page anyone nor learn who is on call; None is a terminal."""
    if by is not None and not by.can_join:
        raise lifecycle.Refused("Guests cannot page anyone. Ask someone you work with.")


def named(words: str, among: Sequence[PageChoice]) -> PageChoice | None:
    """Return the choice with a name, an id or a ref, ignoring case; None when there is none."""
    low = words.strip().lstrip("@").casefold()
    return next((one for one in among if low in {one.name.casefold(), one.target.casefold(), _id(one)}), None)


def of_person(person: Person, among: Sequence[PageChoice]) -> PageChoice | None:
    """Return the choice that pages someone by name, or None while the pager does not know them."""
    ids = {f"user/{one}" for one in person.on_pager.filter(gone=False).values_list("pager_id", flat=True)}
    return next((one for one in among if one.target in ids), None)


def _id(choice: PageChoice) -> str:
    return choice.target.partition("/")[2].casefold()


def said(page: Page) -> str:
    """Say how a page stands: *paging*, *acknowledged by Eve Ito*, *resolved by Firekind*."""
    words = str(Status(page.status).label)
    if page.joined and page.status == Status.TRIGGERED:
        return f"joined an open incident of {page.joined}"
    return f"{words} by {page.status_by}" if page.status_by and page.status != Status.TRIGGERED else words


def ask(
    incident: Incident,
    *,
    target: str,
    by: Person | None,
    at: datetime,
    because: str = "",
    via: str = Source.WEB,
) -> str:
    """Ask for a page by hand; return what will be done, in words.

    Raises ``BadInput`` for someone who cannot be paged or whose page is still open, ``Refused`` once it has ended.
    """
    if ports.pager() is None:
        raise lifecycle.Refused("PagerDuty is not connected: set PAGERDUTY_API_KEY and PAGERDUTY_FROM.")
    callee = callees.known([], asked=[target], pager=True, at=at).asked.get(target)
    with rules.changing(incident, by=by) as now:
        must_page(by)  # before anything is said of names
        if callee is None or not callee.service:
            raise lifecycle.BadInput("target", "No one in PagerDuty has that name. Choose from the list.")
        because = rules.text(because, field="because", needed=False)
        rules.must_be_active(now, "page someone for")
        data = {"target": target, "name": callee.name, "turn": _next_turn(now, callee)}
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
    """Return which page to the same one this is. A first one that the policy asks for, too, is the same page."""
    before = list(Page.objects.filter(incident=incident, target=callee.ref))
    for page in before:
        if page.is_open and not page.joined:
            raise lifecycle.BadInput("target", f"{callee.name} was already paged: {said(page)}.")
    opened = {pages.turn_of(page.key, callee.ref) for page in before}
    asked = set(_asked(incident, callee.ref).values_list("data__turn", flat=True))
    if asked - opened:
        raise lifecycle.BadInput("target", f"{callee.name} is already being paged: see the plan for progress.")
    return max(asked | opened, default=0) + 1


def _asked(incident: Incident | int, ref: str) -> QuerySet[Event]:
    return Event.objects.filter(incident=incident, kind="paged", data__target=ref)


def ring(pager: Pager, work: Work) -> Outcome:
    """Open the page under its key, unless one with that key was ever opened."""
    with transaction.atomic():  # a concurrent plan knows who is paged as soon as there is a page
        page = _written(work)
        _note_rung(page, at=timezone.now(), unsure=work.unsure)
    incident = Incident.objects.select_related("policy_version").get(pk=work.effect.incident_id)
    ring = PageRequest(
        key=page.dedup_key,
        target=page.target,
        service=page.service_id,
        title=str(work.effect.spec["title"]),
        details=cards.page_details(incident.codename),
        link=f"{settings.FIREKIND.base_url}{incident.get_absolute_url()}",
        unsure=work.unsure,
        codename=incident.codename,
    )
    return _opened(work, page, pager.ring(ring))


def look(pager: Pager, work: Work) -> Outcome | None:
    """Find a page that is no longer wanted; a wanted one is found when it is opened."""
    if not work.effect.abandoned:
        return None
    begun = work.effect.begun_at
    assert begun is not None, "claiming sets it"
    page = _written(work)
    found = _found(pager, page, since=begun - SKEW)
    return _opened(work, page, found) if found else None


def retitle(pager: Pager, work: Work) -> Outcome:
    """Change the page's title."""
    page = _of(work)
    taken = _retitled(pager, page, str(work.effect.spec["title"]))
    external = work.external[work.effect.thing] | {"title_kept": not taken}
    return Outcome([made(work, external=external, external_id=page.pager_id)])


def retitle_ended(pager: Pager, work: Work) -> Outcome:
    """Try to change the title of a page that ended: what the pager no longer takes is recorded as kept."""
    spec = work.effect.spec
    page = Page.objects.get(incident=work.effect.incident_id, key=spec["page"])
    taken = _retitled(pager, page, str(spec["title"]))
    says = (
        "" if taken else f"PagerDuty keeps the title of the resolved page to {page.name}: it can no longer be changed"
    )
    return Outcome([made(work, external={"title_kept": not taken})], says=says)


def resolve(pager: Pager, work: Work) -> Outcome:
    """End the page, unless someone acknowledged it while people still respond, or it is asked for again meanwhile."""
    page = _of(work)
    incident = Incident.objects.select_related("type", "policy_version", "lead").get(pk=work.effect.incident_id)
    external = work.external[work.effect.thing]
    now = pager.look(page.pager_id) if page.pager_id and page.is_open else None
    if now is not None:
        acknowledgements.note_found(page, now)
    if (kept := _kept(page, now, incident)) is not None:
        thing = made(work, external=external, external_id=page.pager_id)
        return Outcome([thing], says=kept, kind="page")
    spec = work.effect.spec
    if incident.private:
        spec = spec | {"title": cards.neutral_title(incident.codename)}
        external = external | {"title_kept": not _retitled(pager, page, spec["title"])}
    says = f"resolved the page to {page.name}" if _end(pager, page, now) else SHARED.format(page=page.name)
    thing = made(work, external=external, external_id=page.pager_id, spec=spec)
    thing.state = GONE
    return Outcome([thing], says=says, kind="page", data={"room": 0})


def _kept(page: Page, now: PageStatus | None, incident: Incident) -> str | None:
    """Say in words why a page is left open; nothing where the type only asks for it again, None where it is not."""
    if not (incident.is_active and page.is_open) or (now is not None and now.status == Status.RESOLVED):
        return None
    if now is not None and now.status == Status.ACKNOWLEDGED:
        _note_status(page, now.status, by=now.by, at=now.at or timezone.now())
        return f"left the page to {page.name} open: {said(page)}"
    if page.key not in {thing.key for thing in desired_state(load_facts.one(incident).facts).things}:
        return None
    Page.objects.filter(pk=page.pk).update(withdrawn_at=None)
    return ""


def _end(pager: Pager, page: Page, now: PageStatus | None) -> bool:
    """End a page that is open, and return whether nothing of it is left open with the pager.

    The intent is recorded first: a crash in between counts as withdrawn.
    """
    by, ended = "Firekind", True
    if now is not None and now.status == Status.RESOLVED:
        by = now.by or by
    else:
        if page.is_open:
            Page.objects.filter(pk=page.pk, withdrawn_at=None).update(withdrawn_at=timezone.now())
        codename = page.incident.codename
        ended = pager.resolve(page.pager_id, key=page.dedup_key, via=page.via, codename=codename)
    if page.is_open:
        _note_status(page, Status.RESOLVED, by=by, at=timezone.now())
    return ended


def _retitled(pager: Pager, page: Page, title: str) -> bool:
    """Change a page's title, and return whether that was taken. One that was sent as an event is looked for first."""
    if not page.pager_id:
        found = _found(pager, page, since=page.opened_at - SKEW)
        if found is None or not found.id:
            return False  # what it joined is someone else's
        page.pager_id, page.number, page.url = found.id, found.number, found.url
        page.save(update_fields=["pager_id", "number", "url"])
    return pager.retitle(page.pager_id, title, key=page.dedup_key, codename=page.incident.codename)


def _found(pager: Pager, page: Page, *, since: datetime) -> PageStatus | None:
    return pager.find(page.dedup_key, service=page.service_id, since=since, codename=page.incident.codename)


def _of(work: Work) -> Page:
    return Page.objects.get(incident=work.effect.incident_id, key=work.effect.thing)


def _written(work: Work) -> Page:
    """Return the row of the page, written and committed before the pager is called."""
    effect, spec = work.effect, work.effect.spec
    key = salted_hmac("workflows.page", f"{effect.incident_id}/{effect.thing}").hexdigest()[:32]
    values = {
        "target": spec["target"],
        "name": spec["name"],
        "service_id": spec["service"],
        "dedup_key": f"firekind-{key}",
        "status_at": effect.begun_at or timezone.now(),
        "opened_at": timezone.now(),
    }
    turn = pages.turn_of(effect.thing, spec["target"])
    asked = _asked(effect.incident_id, spec["target"]).filter(data__turn=turn).first()
    if asked is not None:
        values |= {"because": asked.text, "asked_by_id": asked.by_id}
    page, _ = Page.objects.get_or_create(incident_id=effect.incident_id, key=effect.thing, defaults=values)
    return page


def _note_rung(page: Page, *, at: datetime, unsure: bool) -> None:
    """Record who is on call at this moment: they are the ones paged, even if the next shift starts.

    Where an earlier try may have rung others, they stay known as rung.
    """
    callee = callees.known([], asked=[page.target], pager=True, at=at).asked.get(page.target)
    if callee is None:
        return
    before = page.rung.values_list("pk", flat=True) if unsure else []
    page.rung.set([*before, *(one.person_id for one in callee.people)])
    page.rung_ids = list(dict.fromkeys([*(page.rung_ids if unsure else ()), *callee.ids]))
    page.now_ids, page.rings, page.rung_at = list(callee.ids), callee.rings, at
    page.save(update_fields=["rings", "rung_ids", "now_ids", "rung_at"])


def _opened(work: Work, page: Page, rung: PageStatus) -> Outcome:
    """Record the page as the pager has it. News of it may have come first: they are newer than what we were told."""
    with transaction.atomic():
        page = Page.objects.select_for_update().get(pk=page.pk)
        page.pager_id, page.number = rung.id or page.pager_id, rung.number or page.number
        page.url, page.via, page.joined = rung.url or page.url, rung.via, rung.joined[:200]
        if page.status == Status.OPENING:
            page.status, page.status_by = rung.status, rung.by
            page.status_at = rung.at or timezone.now()
        assigned = [Who(one.id, one.name) for one in rung.assigned]
        if page_reach.is_news(page, assigned, status=rung.status):
            page_reach.follow(page, assigned, at=rung.assigned_at or timezone.now())
        page.save()
        acknowledgements.note_found(page, rung)
    external = {"id": page.pager_id, "number": page.number, "url": page.url, "via": page.via}
    how = " through the fallback, because PagerDuty could not be reached" if page.via == "events" else ""
    says = f"paged {page.name}{how}{f': {page.rings}' if page.rings else ''}"
    says = JOINED.format(page=page.name, joined=page.joined) if page.joined else says
    says += f". Why: {page.because}" if page.because else ""
    thing = made(work, external=external, external_id=page.pager_id)
    thing.label = page.name
    data = {"page": page.key, "url": page.url}
    # Before whatever was heard of it meanwhile: who acknowledges is often quicker than the answer to our request.
    return Outcome([thing], says=says, kind="page", data=data, at=page.opened_at)


def _note_status(page: Page, status: str, *, by: str, at: datetime) -> None:
    page.status, page.status_by, page.status_at = status, by, max(at, page.status_at)
    page.save(update_fields=["status", "status_by", "status_at"])
