"""The page of one incident, and the fragments that keep it current."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from incidents import event_kinds, timeline, visibility
from incidents.followups import followup_lists
from incidents.forms import VERBS, VerbForm
from incidents.forms.given import number
from incidents.models import Event, Followup, Incident, Person
from incidents.models.incident import Status
from incidents.people.bidi import isolated
from incidents.policies.policy import Policy
from incidents.reading import catch_up_reading, last_said, timeline_layout
from incidents.reading.timeline_filters import GROUPS, TimelineFilters
from incidents.search import moment
from incidents.timeline import TimelineEntry
from incidents.views import panels
from incidents.views.detail import page_reading, shown_entries
from incidents.views.detail.page_reading import PageReading, tints
from incidents.views.panels import Facts
from incidents.views.signed_in import Request, incident_or_404, signed_in

SHOWN = 40
MOST_SHOWN = 160
MOST_EARLIER = 400  # in a part that was fetched before: entries recorded late may be from any time
ENDINGS = ("resolved", "cancelled", "duplicated")
STEPS = ("mitigate", "resolve", "reopen")
REST = ("impact", "next-step", "lead", "bring", "rename", "summary", "services", "duplicate", "cancel", "archive")


@signed_in
def page(request: Request, codename: str) -> HttpResponse:
    """Show an incident. An older codename redirects to the current one."""
    incident = incident_or_404(request.person, codename)
    if incident.codename != codename:
        return redirect(incident)
    reading = page_reading.of(incident, limit=SHOWN + 1)
    known, newest = catch_up_reading.parted(reading.together, limit=SHOWN + 1, reader=request.person)
    drawn = panels.draw(request, incident, reading.facts)
    context = head(incident, request.person, known, reading)
    context |= told(newest, incident, request.person, limit=SHOWN, tints=reading.tints)
    context |= {"panels": drawn.elements, "seen": drawn.said}
    return render(request, "incidents/incident.html", context)


@signed_in
def live(request: Request, codename: str) -> HttpResponse:
    """Return what is new after event ``n`` and every panel that changed since it was ``seen``; 204 if nothing did.

    If the page's newest entry no longer exists, the page shows what the database lost, and is rendered again.
    """
    incident = incident_or_404(request.person, codename)
    seen = timeline.seen_of(incident, request.GET.get("n"))
    is_news = seen is None or incident.last_n > seen
    context, facts = _news(request, incident, seen=seen) if is_news else ({}, page_reading.facts(incident))
    drawn = panels.draw(request, incident, facts, seen=panels.read_seen(request.GET))
    if not is_news and not drawn.elements:
        return HttpResponse(status=204)
    context |= {"incident": incident, "news": is_news, "panels": panels.joined(drawn.elements), "seen": drawn.said}
    return render(request, "incidents/incident.html#live", context)


def _news(request: Request, incident: Incident, *, seen: int | None) -> tuple[dict[str, Any], Facts]:
    oldest = read_place(request.GET.get("from", ""))
    limit, after = (MOST_SHOWN, oldest) if oldest else (SHOWN, catch_up_reading.BEGINNING)
    reading = page_reading.of(incident, limit=limit + 1, after=after)
    known, shown = catch_up_reading.parted(reading.together, limit=limit + 1, reader=request.person, after=after)
    if oldest and not 0 < len(shown) <= limit:
        oldest, limit = None, SHOWN
        shown = timeline.latest(incident, limit=limit + 1, reader=request.person)
    context = told(shown, incident, request.person, limit=limit, tints=reading.tints, new_after=seen)
    context |= head(incident, request.person, known, reading) | {"restart": oldest is None}
    context |= {"oldest": place(*oldest)} if oldest else {}
    return context | {"arrived": _arrived(incident, seen, request.person)}, reading.facts


@signed_in
def earlier(request: Request, codename: str) -> HttpResponse:
    """Show the page of entries before a place in the timeline; with ``from``, all of them from that place on."""
    incident = incident_or_404(request.person, codename)
    before, oldest = read_place(request.GET.get("before", "")), read_place(request.GET.get("from", ""))
    limit = MOST_EARLIER if oldest else SHOWN
    entries = timeline.latest(incident, limit=limit + 1, reader=request.person, before=before, after=oldest)
    context = told(entries, incident, request.person, limit=limit, tints=tints()) | {"incident": incident}
    context |= {"oldest": place(*oldest)} if oldest else {}
    context |= {"before": before[1] if before else "all", "place": request.GET.get("before", "")}
    return render(request, "incidents/earlier.html" + ("#page" if request.htmx else ""), context)


@signed_in
def sifted(request: Request, codename: str) -> HttpResponse:
    """Show the entries that match the filters, newest first; with ``n``, starting at that entry."""
    incident = incident_or_404(request.person, codename)
    filters = TimelineFilters.read(request.GET)
    before = read_place(request.GET.get("before", "")) or filters.until or _from_entry(incident, request.GET.get("n"))
    entries = timeline.latest(incident, limit=SHOWN + 1, reader=request.person, before=before, only=filters.only)
    context = told(entries, incident, request.person, limit=SHOWN, tints=tints()) | {"incident": incident}
    context |= {"filters": filters, "groups": GROUPS}
    is_narrowed = filters.any or before is not None
    context |= {"narrowed": is_narrowed or not request.htmx, "here_at": request.get_full_path()}
    return render(request, "incidents/sifted.html" + ("#page" if request.htmx else ""), context)


def _from_entry(incident: Incident, given: str | None) -> tuple[datetime, int] | None:
    """Return the place just after an entry; for a change, just after the entry it is about."""
    n = number(given)
    event = None if n is None else Event.objects.filter(incident=incident, n=n).first()
    if event is not None and event.about_n is not None:
        event = Event.objects.get(incident=incident, n=event.about_n)
    return (event.at, event.n + 1) if event else None


@signed_in
def history(request: Request, codename: str, n: int) -> HttpResponse:
    """Show everything that one entry ever said."""
    incident = incident_or_404(request.person, codename)
    events = Event.objects.filter(incident=incident, n=n, about_n=None).select_related("by")
    entry = next(iter(timeline.entries(timeline.naming(events, reader=request.person))), None)
    status = 200 if entry else 404
    name = "incidents/history.html" + ("#dialog" if request.htmx else "")
    return render(request, name, {"incident": incident, "entry": entry}, status=status)


def _cursor(incident: Incident, reading: PageReading) -> str:
    """Return the number of the newest entry as the page carries it; the last one written may be about long ago."""
    known = (one.event for one in reading.together if one.event.n == incident.last_n)
    newest = next(known, None) or Event.objects.filter(incident=incident, n=incident.last_n).only("n", "at").get()
    return newest.borne


def head(incident: Incident, person: Person, known: list[TimelineEntry], reading: PageReading) -> dict[str, Any]:
    """Return what the page shows apart from its timeline; ``known`` are the entries for the catch-up."""
    stated = last_said.among(known)
    return {
        "incident": incident,
        "cursor": _cursor(incident, reading),
        "policy": incident.policy,
        "called": f"{'Drill: ' if incident.is_drill else ''}{incident.policy.name}",
        "asks": _asks(incident),
        "person": person,
        "is_sample": reading.is_sample,
        "original": visibility.original(person, incident),
        "done": sum(item in incident.checked for item in incident.policy.checklist),
        "update": stated.get("updated"),
        "impact": stated.get("impact"),
        "next_step": stated.get("next_step"),
        "ended": _ended(incident, known),
        "catch_up": catch_up_reading.told(incident, known, followups=reading.followups),
        "retyped": [one.event for one in reversed(known) if one.event.kind == "retyped"][:20],
        "todo": _todo(incident, reading.followups),
        "roles": _roles(incident),
        "steps": _steps(incident),
        "rest": [(name, VERBS[name]) for name in REST if VERBS[name].offered(incident)],
        "groups": GROUPS,
    }


def _ended(incident: Incident, known: Sequence[TimelineEntry]) -> TimelineEntry | None:
    """Return the entry that ended an incident, if it has ended."""
    found = [one for one in known if one.event.kind in ENDINGS]
    return found[-1] if found and not incident.is_active else None


def _steps(incident: Incident) -> list[tuple[str, type[VerbForm], bool]]:
    """Return the lifecycle steps, and whether each is offered; a step already taken keeps its place in the header."""
    found = [(name, VERBS[name], VERBS[name].offered(incident)) for name in STEPS]
    return [one for one in found if one[2] or (one[0] == "mitigate" and incident.status == Status.MITIGATED)]


def _asks(incident: Incident) -> Policy:
    """Return what its type asks for in this incident."""
    held = incident.policy.held(private=incident.private)
    return held.rehearsed if incident.is_drill else held


def told(
    oldest_first: list[TimelineEntry],
    incident: Incident,
    reader: Person,
    *,
    limit: int,
    tints: Mapping[str, str],
    new_after: int | None = None,
) -> dict[str, Any]:
    """Lay out at most ``limit`` entries; one more than that means that there are earlier ones.

    ``oldest`` is the place from which they are shown: the beginning if there are no earlier ones.
    """
    shown, has_more = oldest_first[-limit:], len(oldest_first) > limit
    begins = place(shown[0].event.at, shown[0].event.n) if has_more else place(*catch_up_reading.BEGINNING)
    return {
        "drawn": shown_entries.drawn(shown, incident, reader=reader, tints=tints, new_after=new_after),
        "tints": tints,
        "days": timeline_layout.days(reversed(shown)),
        "more": begins if has_more else "",
        "oldest": begins,
        "count": len(shown),
    }


def place(at: datetime, n: int) -> str:
    """Format a place in the timeline for an address."""
    return f"{at.isoformat()}_{n}"


def read_place(text: str) -> tuple[datetime, int] | None:
    """Parse a place in the timeline; None if it is not one."""
    at_text, _, n_text = text.partition("_")
    try:
        return moment(at_text), int(n_text)
    except (ValueError, OverflowError):
        return None


def _todo(incident: Incident, found: Sequence[Followup]) -> dict[str, Any]:
    """Return its tasks and follow-ups: open ones, tasks first; closed ones; and which are late."""
    today = timezone.localdate()
    owed = sorted((one for one in found if one.is_open), key=lambda one: not one.is_task)
    late = {one.n for one in owed if one.is_late(today=today)}
    over = [one for one in found if not one.is_open]
    return {"owed": owed, "over": over, "late": late, "stays_here": followup_lists.stays_here(incident)}


def _roles(incident: Incident) -> list[tuple[str, Person | None]]:
    wanted = [role for role in incident.policy.roles if role.casefold() != "lead"]
    names = [*wanted, *(role for role in incident.roles if role not in wanted)]
    ids = [incident.role_holder_id(name) for name in names]
    holders = {one.pk: one for one in Person.objects.filter(pk__in=[pk for pk in ids if pk])} if any(ids) else {}
    return [("Lead", incident.lead), *((name, holders.get(pk or 0)) for name, pk in zip(names, ids, strict=True))]


def _arrived(incident: Incident, seen: int | None, person: Person) -> str:
    """Return the newest thing that others did since, for screen readers; empty for a page that is rendered again."""
    if seen is None:
        return ""
    others = timeline.since(incident, seen).exclude(by=person).exclude(kind__in=event_kinds.QUIET)
    newest = timeline.entries(timeline.naming(others.order_by("-n")[:1], reader=person))
    return next((_heard(entry) for entry in newest if entry.stands), "")


def _heard(entry: TimelineEntry) -> str:
    by = entry.event.by
    return f"{isolated(by.name)}: {entry.sentence}" if by else entry.sentence
