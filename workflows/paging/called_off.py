"""Pages that are no longer wanted before they are opened: ended here, and taken up if they arrive after all."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from incidents import lifecycle
from incidents.claiming.shared_clock import clock
from incidents.models import Incident, Source
from workflows.effects import effect_queue
from workflows.loading.load_facts import IncidentState
from workflows.models import Effect, Page, Resource
from workflows.oncall.pager_events import PagerIncident
from workflows.pager_port import unsigned
from workflows.paging import pager_names
from workflows.planning.actions import CREATE
from workflows.planning.observed import THERE
from workflows.planning.pages import OPENING
from workflows.planning.plan import Plan

State = Effect.State
Status = Page.Status


def over(known: IncidentState, result: Plan) -> list[str]:
    """Return the keys of pages that are being opened and that this plan no longer asks for."""
    cancelled, owed = set(result.cancels), known.observed.owed
    coming = {key for key, chain in owed.items() if any(one.effect not in cancelled for one in chain)}
    coming |= {action.thing for action in result.actions} | known.observed.seen.keys()
    return [one.key for one in known.facts.paged if one.status == OPENING and one.key not in coming]


def end(incident: Incident, keys: Collection[str], *, at: datetime) -> None:
    """End pages that are over, so that no one is shown as paged by them. The caller holds the incident.

    Their status keeps its time, so anything the pager reports about them counts as newer.
    """
    opening = Page.objects.filter(incident=incident, key__in=keys, status=Status.OPENING)
    if opening.update(status=Status.RESOLVED, status_by="", withdrawn_at=clock.at(at)):
        effect_queue.replan(incident.pk)


def open_again(page: Page) -> None:
    """Resume opening a page that was called off, under its old key: if the first one arrives, it is the same page."""
    page.status, page.withdrawn_at = Status.OPENING, None
    page.save(update_fields=["status", "withdrawn_at"])


def take_up(page: Page, told: PagerIncident, *, at: datetime, knew: str | None = None) -> None:
    """Adopt a page that is open although its effect was given up or failed; the plan decides what becomes of it.

    Also adopt one that a late request opened again after the first had ended and its key was free: ``knew`` is the id
    that the ended page had before the news. Runs in the caller's transaction, which holds the page and saves it.
    """
    makes = Effect.objects.filter(incident=page.incident_id, thing=page.key, verb=CREATE)
    last = makes.order_by("-pk").first()
    if not told.id or last is None or last.state in {State.WAITING, State.RUNNING}:
        return  # that effect looks for it; if it ends without finding it, the next poll gets here again
    there = Resource.objects.filter(incident=page.incident_id, key=page.key).first()
    if there is not None and told.id == (page.pager_id if knew is None else knew):
        return
    pager_names.relearn(page, told)
    page.joined, page.withdrawn_at = "", None
    Resource.objects.update_or_create(
        incident=page.incident,
        key=page.key,
        defaults={
            "kind": "page",
            "label": page.name,
            "spec": last.spec | {"title": unsigned(told.title, key=page.dedup_key) or last.spec["title"]},
            "external": pager_names.external(page),
            "external_id": page.pager_id,
            "state": THERE,
            "since_at": at,
        },
    )
    makes.filter(state=State.FAILED).update(state=State.DONE, ended_at=at, error="", error_code="")
    _tell(page, again=there is not None, at=at)
    effect_queue.replan(page.incident_id)


def _tell(page: Page, *, again: bool, at: datetime) -> None:
    how = "again, because a request arrived late and reopened the page" if again else "after all"
    whom = page.rings.removeprefix("pages ")
    tell(page, f"paged {page.name} {how}{f': {whom}' if whom else ''}", at=at)


def tell(page: Page, text: str, *, at: datetime) -> None:
    """Write about a page on the timeline, and in the channel of an active incident. The caller holds the page."""
    data = {"page": page.key, "url": page.url} | ({} if page.incident.is_active else {"room": 0})
    lifecycle.remark(page.incident, "page", by=None, at=at, source=Source.SYSTEM, text=text, data=data)
