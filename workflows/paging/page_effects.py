"""Open, retitle and end pages at the pager: what a page's effects do, and how to look for each.

Each page is recorded before the pager is called.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from incidents import event_kinds
from incidents.claiming.shared_clock import clock
from incidents.models import Event, Incident
from workflows.effects import effect_queue, late_requests, restoring
from workflows.effects.work import Outcome, Work, made
from workflows.loading import load_facts
from workflows.models import Effect, Page, PagerTarget
from workflows.oncall import acknowledgements, callees, page_reach
from workflows.oncall.pager_events import Who
from workflows.pager_port import Pager, PageRequest, PageStatus, unsigned
from workflows.paging import called_off, note_found, pager_names, paging
from workflows.planning import pages
from workflows.planning.desired import desired_state
from workflows.planning.observed import GONE
from workflows.planning.wording import cards

SKEW = timedelta(minutes=2)
SHARED = "left the page to {page} open in PagerDuty: its incident has other alerts"
IN_MAINTENANCE = ". Its service is in a maintenance window, so it may have notified no one"
Status = Page.Status


def ring(pager: Pager, work: Work) -> Outcome:
    """Open the page under its key, unless one with that key was ever opened."""
    with transaction.atomic():  # so that a concurrent plan knows who is paged as soon as the page exists
        page = _written(work)
        unsure = work.unsure or late_requests.others_on_their_way(work.effect, at=timezone.now()).exists()
        if unsure:
            Page.objects.filter(pk=page.pk).update(doubted_at=clock.at(timezone.now()))
        _note_rung(page, at=timezone.now(), unsure=unsure)
    incident = Incident.objects.select_related("policy_version").get(pk=work.effect.incident_id)
    ring = PageRequest(
        key=page.dedup_key,
        target=page.target,
        service=page.service_id,
        title=str(work.effect.spec["title"]),
        details=cards.page_details(incident.codename),
        link=f"{settings.FIREKIND.base_url}{incident.get_absolute_url()}",
        unsure=unsure,
        codename=incident.codename,
        waited_s=max(0.0, (clock.at(timezone.now()) - work.effect.created_at).total_seconds()),
    )
    return _opened(work, page, pager.ring(ring), unsure=unsure)


def look(pager: Pager, work: Work) -> Outcome | None:
    """Find a page that is no longer wanted; a wanted one is found when it is opened."""
    if not work.effect.abandoned:
        return None
    begun = work.effect.begun_at
    assert begun is not None, "claiming sets it"
    page = _written(work)
    found = pager.look(page.pager_id) if page.pager_id else _found(pager, page, since=begun - SKEW)
    return _opened(work, page, found, unsure=True) if found else None


def retitle(pager: Pager, work: Work) -> Outcome:
    """Change the page's title."""
    page, title = _of(work), str(work.effect.spec["title"])
    taken = _retitled(pager, page, title)
    if page.pager_id != (now := _of(work)).pager_id:  # a second one has replaced the page
        page, taken = now, _retitled(pager, now, title)
    external = work.external[work.effect.thing] | {"title_kept": not taken}
    return Outcome([made(work, external=external, external_id=page.pager_id)])


def retitle_ended(pager: Pager, work: Work) -> Outcome:
    """Try to change the title of an ended page; a title that the pager no longer accepts is recorded as kept."""
    spec = work.effect.spec
    page = Page.objects.get(incident=work.effect.incident_id, key=spec["page"])
    taken = _retitled(pager, page, str(spec["title"]))
    says = (
        "" if taken else f"PagerDuty keeps the title of the resolved page to {page.name}: it can no longer be changed"
    )
    return Outcome([made(work, external={"title_kept": not taken})], says=says)


def resolve(pager: Pager, work: Work) -> Outcome:
    """End the page, unless someone acknowledged it in an active incident, or it is wanted again."""
    page = _of(work)
    incident = Incident.objects.select_related("type", "policy_version", "lead").get(pk=work.effect.incident_id)
    external = work.external[work.effect.thing]
    now = pager.look(page.pager_id) if page.pager_id and page.is_open else None
    may_be_ours = now is not None and restoring.put_back_at(page.opened_at) is not None
    if now is not None:
        acknowledgements.note_found(page, now, may_be_ours=may_be_ours)
    if (kept := _kept(page, now, incident)) is not None:
        thing = made(work, external=external, external_id=page.pager_id)
        return Outcome([thing], says=kept, kind="page", data={"page": page.key, "over": True})
    spec = work.effect.spec
    if incident.private:
        spec = spec | {"title": cards.neutral_title(incident.codename)}
        external = external | {"title_kept": not _retitled(pager, page, spec["title"])}
    if now is not None and acknowledgements.was_ended_by_others(page, now, may_be_ours=may_be_ours):
        note_found.note(page, now, looked_at=timezone.now(), ends=True)
        page = _of(work)
    says = _says_how_it_ended(_of(work)) if _end(pager, page, now) else SHARED.format(page=page.name)
    thing = made(work, external=external, external_id=page.pager_id, spec=spec)
    thing.state = GONE
    return Outcome([thing], says=says, kind="page", data={"room": 0, "page": page.key, "over": True})


def _kept(page: Page, now: PageStatus | None, incident: Incident) -> str | None:
    """Say why a page is left open: empty if the type wants it again, None if it is not left open."""
    if not (incident.is_active and page.is_open) or (now is not None and now.status == Status.RESOLVED):
        return None
    if now is not None and now.status == Status.ACKNOWLEDGED:
        _note_status(page, now.status, by=now.by, at=now.at or timezone.now())
        return f"left the page to {page.name} open: {paging.said(page)}"
    if page.key not in {thing.key for thing in desired_state(load_facts.one(incident).facts).things}:
        return None
    Page.objects.filter(pk=page.pk).update(withdrawn_at=None)
    return ""


def _says_how_it_ended(page: Page) -> str:
    """Say that we ended a page, or found it ended; empty if the timeline says who did."""
    if page.withdrawn_at is not None:
        return f"resolved the page to {page.name}"
    told = {"kind": "page", "at": page.status_at, "data__page": page.key, "data__news": Status.RESOLVED}
    is_told = Event.objects.filter(incident=page.incident_id, **told).exists()
    return "" if is_told else f"found the page to {page.name} resolved"


def _end(pager: Pager, page: Page, now: PageStatus | None) -> bool:
    """End an open page; return whether nothing of it remains open in the pager.

    The intent is recorded first: a crash in between counts as withdrawn.
    """
    by, ended = "Firekind", True
    if now is not None and now.status == Status.RESOLVED:
        by = now.by if now.by_id else by
    else:
        if page.is_open:
            Page.objects.filter(pk=page.pk, withdrawn_at=None).update(withdrawn_at=clock.at(timezone.now()))
        codename = page.incident.codename
        ended = pager.resolve(page.pager_id, key=page.dedup_key, via=page.via, codename=codename)
    if page.is_open:
        _note_status(page, Status.RESOLVED, by=by, at=timezone.now())
    return ended


def _retitled(pager: Pager, page: Page, title: str) -> bool:
    """Change a page's title; return whether that was accepted. One that was sent as an event is looked up first."""
    if not page.pager_id:
        found = _found(pager, page, since=page.opened_at - SKEW)
        if found is None or not found.id:
            return False  # the incident that it joined is someone else's
        page.pager_id, page.number, page.url = found.id, found.number, found.url
        page.save(update_fields=["pager_id", "number", "url"])
    return pager.retitle(page.pager_id, title, key=page.dedup_key, codename=page.incident.codename)


def _found(pager: Pager, page: Page, *, since: datetime) -> PageStatus | None:
    return pager.find(page.dedup_key, service=page.service_id, since=since, codename=page.incident.codename)


def _of(work: Work) -> Page:
    return Page.objects.get(incident=work.effect.incident_id, key=work.effect.thing)


def _written(work: Work) -> Page:
    """Return the page's row, written and committed before the pager is called."""
    effect, spec = work.effect, work.effect.spec
    # Keyed by the codename, which is never reused: a number repeats after a restore, and would find the lost page.
    key = salted_hmac("workflows.page", f"{effect.incident.codename}/{effect.thing}").hexdigest()[:32]
    values = {
        "target": spec["target"],
        "name": spec["name"],
        "service_id": spec["service"],
        "dedup_key": f"firekind-{key}",
        "status_at": effect.begun_at or timezone.now(),
        "opened_at": timezone.now(),
    }
    turn = pages.turn_of(effect.thing, spec["target"])
    asked = paging.requests(effect.incident_id, spec["target"]).filter(data__turn=turn).first()
    if asked is not None:
        values |= {"because": asked.text, "asked_by_id": asked.by_id}
    page, _ = Page.objects.get_or_create(incident_id=effect.incident_id, key=effect.thing, defaults=values)
    if page.was_called_off and not effect.abandoned:
        called_off.open_again(page)
    return page


def _note_rung(page: Page, *, at: datetime, unsure: bool) -> None:
    """Record who is on call right now: they are the ones paged, even if the next shift starts.

    If an earlier try may have paged others, they stay recorded as paged, and the pager's reports on that try are news.
    """
    if unsure and page.pager_id:
        return
    callee = callees.known([], asked=[page.target], pager=True, at=at).asked.get(page.target)
    if callee is None:
        return
    before = page.rung.values_list("pk", flat=True) if unsure else []
    page.rung.set([*before, *(one.person_id for one in callee.people)])
    page.rung_ids = list(dict.fromkeys([*(page.rung_ids if unsure else ()), *callee.ids]))
    page.now_ids, page.rings = list(callee.ids), callee.rings
    page.rung_at = page.rung_at if unsure and page.rung_at else at
    page.save(update_fields=["rings", "rung_ids", "now_ids", "rung_at"])


def _paged_there(page: Page, service: str, *, unsure: bool, at: datetime) -> list[Who]:
    """Return who the fallback pages: those on call for its service, not those who were meant."""
    page.rung_ids, page.now_ids, page.rings = page.rung_ids if unsure else [], [], ""
    there = f"service/{service}"
    callee = callees.known([], asked=[there], pager=True, at=at).asked.get(there)
    return [] if callee is None else [Who(id, name) for id, name in zip(callee.ids, callee.names, strict=True)]


def _opened(work: Work, page: Page, rung: PageStatus, *, unsure: bool) -> Outcome:
    """Record the page as the pager has it. News may have come first, and is newer than the response."""
    with transaction.atomic():
        page = Page.objects.select_for_update(no_key=True).get(pk=page.pk)
        if page.was_called_off:
            called_off.open_again(page)
        page.pager_id, page.number = rung.id or page.pager_id, rung.number or page.number
        page.url, page.via, page.joined = rung.url or page.url, rung.via, rung.joined[:200]
        unheard = page.status == Status.OPENING
        if unheard:
            page.status, page.status_by = rung.status, rung.by
            page.status_at = rung.at or timezone.now()
        assigned = [Who(one.id, one.name) for one in rung.assigned]
        since = rung.assigned_at or timezone.now()
        if rung.via == "events" and unheard and not (assigned or rung.joined):
            since = page.rung_at or since  # before it was sent, so that anything the pager says is newer
            assigned = _paged_there(page, rung.service, unsure=unsure, at=since)
        if page_reach.is_news(page, assigned, status=rung.status):
            page_reach.follow(page, assigned, at=since)
        if rung.doubted:
            page.doubted_at = clock.at(timezone.now())
            Effect.objects.filter(pk=work.effect.pk).update(unsure=True)
        page.save()
        acknowledgements.note_found(page, rung)
    external = pager_names.external(page)
    why = "is rate limiting" if rung.limited else "could not be reached"
    how = f" through the fallback, because PagerDuty {why}" if page.via == "events" else ""
    whom = page.rings.removeprefix("pages ")
    says = f"paged {page.name}{how}{f': {whom}' if whom else ''}{IN_MAINTENANCE if _is_paused(page) else ''}"
    says += page_reach.unnotified(page)
    says = note_found.JOINED.format(page=page.name, joined=page.joined) if page.joined else says
    says += f"{event_kinds.WHY}{page.because}" if page.because else ""
    thing = made(work, external=external, external_id=page.pager_id)
    thing.label = page.name
    also = None
    title = unsigned(rung.title, key=page.dedup_key)
    if title and title != thing.spec["title"]:  # an earlier request opened it, with the title of that time
        thing.spec = thing.spec | {"title": title}
        also = partial(_replan, page.incident_id)
    data = {"page": page.key, "url": page.url, "over": bool(page.joined)}
    # Timed before any news: an acknowledgement is often faster than the response to our request.
    return Outcome([thing], says=says, kind="page", data=data, at=page.opened_at, also=also)


def _is_paused(page: Page) -> bool:
    """Return whether a page's service is in a maintenance window; the fallback has its own service."""
    return page.via == "rest" and PagerTarget.objects.filter(pager_id=page.service_id, paused=True).exists()


def _replan(incident_id: int, _: datetime) -> None:
    effect_queue.replan(incident_id)


def _note_status(page: Page, status: str, *, by: str, at: datetime) -> None:
    page.status, page.status_by, page.status_at = status, by, max(at, page.status_at)
    page.save(update_fields=["status", "status_by", "status_at"])
