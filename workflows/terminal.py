"""What the terminal prints: a plan in colour, an incident as JSON or as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.core.management.color import Style
from django.utils import timezone

from incidents import timeline, visibility
from incidents.followups import followup_lists
from incidents.models import Event, Followup, Incident
from incidents.people.bidi import isolated
from incidents.reading import catch_up_reading, last_said
from incidents.visibility import Actor
from workflows.paging.paging import PageChoice
from workflows.planning.plan import Plan
from workflows.status import page_status, progress


def plan_lines(plan: Plan, *, style: Style) -> Iterator[str]:
    """Yield a plan's ``+ ~ - = !`` lines, then what cannot be undone."""
    paints = {"+": style.SUCCESS, "~": style.WARNING, "-": style.ERROR, "!": style.NOTICE}
    for line in plan.lines:
        yield paints.get(line.sign, str)(f"{line.sign} {line.text}")
    for note in plan.notes:
        yield style.WARNING(f"  {note}")
    if not plan.lines:
        yield "  nothing to do"


def callees(among: Sequence[PageChoice], *, style: Style) -> Iterator[str]:
    """List who can be paged, by kind, with who that pages now, or the status of an open page."""
    for heading, found in page_status.grouped(among).items():
        yield style.MIGRATE_HEADING(heading)
        for one in found:
            about = f"already paged: {one.state}" if one.state else one.rings or "pages them"
            about += f" (not brought in: {', '.join(one.strangers)})" if one.strangers else ""
            yield f"  {one.name}  {about}"
    if not among:
        yield "No one can be paged: PagerDuty is not connected, or has not been read yet (see `manage.py oncall`)."


def row(incident: Incident) -> dict[str, Any]:
    """Return an incident as one object of ``list --json``; times are ISO 8601 with their zone."""
    return {
        "codename": incident.codename,
        "title": incident.title,
        "type": incident.type.slug,
        "status": incident.status,
        "private": incident.private,
        "drill": incident.is_drill,
        "declared_at": _iso(incident.declared_at),
        "mitigated_at": _iso(incident.mitigated_at),
        "ended_at": _iso(incident.ended_at),
        "lead": incident.lead.name if incident.lead else None,
        "url": incident.get_absolute_url(),
    }


def whole(incident: Incident, *, reader: Actor) -> dict[str, Any]:
    """Return an incident as the object of ``show --json``: the row, and its events, channel, people and effects."""
    now = progress.of(incident)
    events = Event.objects.filter(incident=incident).select_related("by").order_by("n")
    return about(incident, reader=reader, now=now) | {
        "events": [event(one) for one in timeline.one_by_one(events, reader=reader)],
        "effects": [
            {"key": one.key, "state": one.state, "sentence": one.sentence, "detail": one.detail} for one in now.effects
        ],
    }


def about(incident: Incident, *, reader: Actor, now: progress.Progress | None = None) -> dict[str, Any]:
    """Return the current state of an incident: the row, and its words, channel, people and gaps."""
    now = now or progress.of(incident)
    channel, original = now.channel, visibility.original(reader, incident)
    stated = last_said.of([incident]).get(incident.pk, {})
    impact, step = stated.get("impact"), stated.get("next_step")
    return row(incident) | {
        "summary": incident.summary,
        "impact": impact.text if impact else None,
        "next_step": {"text": step.text, "owner": step.event.data.get("name")} if step else None,
        "followups": [followup(one) for one in followup_lists.of_incident(incident)],
        "services": incident.services,
        "duplicate_of": original.codename if original else None,
        "settled": now.settled,
        "channel": {"id": channel.id, "name": channel.name, "private": channel.private} if channel else None,
        "people": [_person(one) for one in now.people],
        "gaps": [gap.says for gap in now.gaps],
    }


def followup(one: Followup) -> dict[str, Any]:
    """Return a task or follow-up as one object."""
    return {
        "n": one.n,
        "text": one.text,
        "phase": one.phase,
        "state": one.state,
        "owner": one.owner.name if one.owner else None,
        "due_on": one.due_on.isoformat() if one.due_on else None,
        "link": one.link,
        "ticket": {"label": one.ticket, "url": one.ticket_url} if one.ticket else None,
        "made_at": one.made_at.isoformat(),
    }


def _owed(incident: Incident) -> Iterator[str]:
    for one in followup_lists.of_incident(incident):
        due = f", due {one.due_on}" if one.due_on else ""
        if one.is_open:
            yield f"{one.n}. {one.says} ({one.word}): {one.owner.name if one.owner else 'no owner'}{due}"


def _person(one: progress.PersonLine) -> dict[str, Any]:
    return {
        "name": one.name,
        "why": one.why,
        "reasons": list(one.reasons),
        "state": one.state,
        "needed": one.needed,
    }


def page(incident: Incident, *, reader: Actor, style: Style) -> Iterator[str]:
    """Yield an incident as lines of text: what it is, who is there, what is owed, what happened."""
    now = progress.of(incident)
    yield style.MIGRATE_HEADING(f"{incident.codename}  {incident.title}")
    lead = incident.lead.name if incident.lead else "no one yet"
    yield f"{incident.policy.name} · {incident.status} · {_marks(incident)}lead: {lead}"
    if now.channel:
        yield f"#{now.channel.name}"
    yield from _update_due(incident, at=timezone.now())
    yield from _section("People", (f"{one.name} ({one.why}), {one.state}" for one in now.people))
    yield from _section("To do", _owed(incident))
    yield from _section("Missing", [gap.says for gap in now.gaps])
    owed = [one for one in now.effects if one.state != "done"]
    yield from _section("Pending", (f"{one.sign} {one.sentence}: {one.detail or one.state}" for one in owed))
    events = Event.objects.filter(incident=incident).select_related("by").order_by("at", "n")
    yield from _section("Timeline", (_told(event) for event in timeline.one_by_one(events, reader=reader)))


def _update_due(incident: Incident, *, at: datetime) -> Iterator[str]:
    due = catch_up_reading.of(incident).due_at
    moment = f"{due:%Y-%m-%d %H:%M} UTC" if due else ""
    if incident.is_overdue(at=at):
        yield f"a status update is overdue{f': it was due {moment}' if due else ''}"
    elif due:
        yield f"next update due {moment}"


def _marks(incident: Incident) -> str:
    return f"{'private · ' if incident.private else ''}{'drill · ' if incident.is_drill else ''}"


def listing(incidents: Iterable[Incident]) -> Iterator[str]:
    """Yield incidents, one per line."""
    for incident in incidents:
        private = " (private)" if incident.private else ""
        drill = " (drill)" if incident.is_drill else ""
        yield f"{incident.codename:24} {incident.type.slug:12} {incident.status:10} {incident.title}{private}{drill}"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    said = list(lines)
    if said:
        yield ""
        yield title
        yield from (f"  {line}" for line in said)


def event(event: Event) -> dict[str, Any]:
    """Return an entry of a timeline as one object."""
    return {
        "n": event.n,
        "kind": event.kind,
        "at": _iso(event.at),
        "by": event.by.name if event.by else None,
        "source": event.source,
        "text": timeline.sentence(event),
        "about": event.about_n,
        "redacted": bool(event.redacted),
        "link": event.link,
    }


def _told(event: Event) -> str:
    who = isolated(event.by.name) if event.by else "Firekind"
    at = timezone.localtime(event.at)
    return f"{at:%Y-%m-%d %H:%M:%S}  {who}  {timeline.sentence(event)}"


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
