"""Who is on call now and next, as last read from the pager."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from incidents.views.signed_in import Request, signed_in
from workflows.models import PagerTarget
from workflows.oncall import freshness, roster
from workflows.oncall.roster import RosterEntry
from workflows.views.oncall import rota_filter, rota_search
from workflows.views.oncall.members import member_or_404
from workflows.views.oncall.rota_filter import RotaFilter

TITLES = {PagerTarget.Kind.POLICY: "Escalation policies", PagerTarget.Kind.SCHEDULE: "Schedules"}


@require_GET
@signed_in
def now(request: Request) -> HttpResponse:
    """Show who is on call, per escalation policy and schedule, all or those searched for.

    The page refreshes itself while it is open.
    """
    member_or_404(request.person)
    at = timezone.now()
    fresh = freshness.of(at=at)
    seek = RotaFilter.read(request, view="oncall")
    among = roster.whole(at=at) if fresh.is_known else []
    entries = _saying(seek.q, among) if seek.q else among
    is_missed = bool(seek.q and not entries)
    context = {
        "here": "oncall",
        "tab": "who",
        "fresh": fresh,
        "said": fresh.words(at=at),
        "sections": [(title, [one for one in entries if one.target.kind == kind]) for kind, title in TITLES.items()],
        "any": bool(entries),
        "seek": seek,
        "count": len(entries),
        "meant": seek.meant(name for one in among for name in one.names) if is_missed else None,
        "is_narrowed": is_missed and seek.is_narrowed(),
    }
    is_polled = request.htmx and request.htmx.trigger != rota_filter.FORM
    response = render(request, "workflows/oncall.html" + ("#now" if is_polled else ""), context)
    return seek.answer(response, request)


def _saying(q: str, among: Iterable[RosterEntry]) -> list[RosterEntry]:
    """Return those that match all of these words, each with its matching services first."""
    return [_naming_first(q, one) for one in among if rota_search.says(q, one.names)]


def _naming_first(q: str, entry: RosterEntry) -> RosterEntry:
    found, others = rota_search.said_first(q, entry.services)
    return replace(entry, services=(*found, *others))
