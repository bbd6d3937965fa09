"""Pages that nobody wants any more before they are opened: ended here, and taken up if they come after all."""

from __future__ import annotations

from datetime import datetime

from incidents import lifecycle
from incidents.models import Incident, Source
from workflows.effects import effect_queue
from workflows.loading.load_facts import IncidentState
from workflows.models import Effect, Page, Resource
from workflows.oncall.pager_events import PagerIncident
from workflows.planning.actions import CREATE
from workflows.planning.observed import THERE
from workflows.planning.pages import OPENING
from workflows.planning.plan import Plan

State = Effect.State
Status = Page.Status


def end(incident: Incident, known: IncidentState, result: Plan, *, at: datetime) -> None:
    """End pages that are being opened by nothing any more, so that nobody is said to be paged by them.

    Their status stays as old as it is: whatever the pager tells of them is news.
    """
    cancelled, owed = set(result.cancels), known.observed.owed
    coming = {key for key, chain in owed.items() if any(one.effect not in cancelled for one in chain)}
    coming |= {action.thing for action in result.actions} | known.observed.seen.keys()
    over = [one.key for one in known.facts.paged if one.status == OPENING and one.key not in coming]
    opening = Page.objects.filter(incident=incident, key__in=over, status=Status.OPENING)
    if over and opening.update(status=Status.RESOLVED, status_by="", withdrawn_at=at):
        effect_queue.plan_anew(incident.pk)


def open_again(page: Page) -> None:
    """Begin to open a page that was called off, under the key that it had: if that one still comes, it is the same."""
    page.status, page.withdrawn_at = Status.OPENING, None
    page.save(update_fields=["status", "withdrawn_at"])


def take_up(page: Page, told: PagerIncident, *, at: datetime) -> None:
    """Own a page that is open, though what was to open it was given up or failed: the plan says what becomes of it.

    So is one that was opened once more, by a request that came late, after the first had ended and its key was free.
    In the caller's transaction, which holds the page and saves it.
    """
    makes = Effect.objects.filter(incident=page.incident_id, thing=page.key, verb=CREATE)
    last = makes.order_by("-pk").first()
    if last is None or last.state in {State.WAITING, State.RUNNING}:
        return  # it looks for it itself
    there = Resource.objects.filter(incident=page.incident_id, key=page.key).first()
    if there is not None and (not told.id or told.id == page.pager_id):
        return
    page.pager_id, page.number = told.id[:64], told.number
    page.url = told.url if told.url.startswith("https://") and len(told.url) <= 500 else ""
    Resource.objects.update_or_create(
        incident=page.incident,
        key=page.key,
        defaults={
            "kind": "page",
            "label": page.name,
            "spec": last.spec | {"title": told.title or last.spec["title"]},
            "external": {"id": page.pager_id, "number": page.number, "url": page.url, "via": page.via},
            "external_id": page.pager_id,
            "state": THERE,
            "since_at": at,
        },
    )
    makes.filter(state=State.FAILED).update(state=State.DONE, ended_at=at, error="", error_code="")
    whom = page.rings.removeprefix("pages ")
    text = f"paged {page.name} after all{f': {whom}' if whom else ''}"
    data = {"page": page.key, "url": page.url}
    lifecycle.remark(page.incident, "page", by=None, at=at, source=Source.SYSTEM, text=text, data=data)
    effect_queue.plan_anew(page.incident_id)
