"""Status, timeline, list and help: what can be read without leaving Slack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from incidents import timeline
from incidents.models import Incident, Person
from incidents.people.bidi import isolated
from incidents.reading import catch_up_reading, last_said
from incidents.templatetags.firekind import span
from incidents.views.lists import urgency
from integrations.slack.interaction import incident_lookup
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn, setup
from workflows.status import page_status, progress

ENTRIES: Final = 12
HELD_UP: Final = 3  # named steps that are tried again
LISTED: Final = 20
CONSIDERED: Final = 200  # the newest open ones; the most urgent of them are listed
BARE: Final = frozenset({"updated", "noted"})  # kinds whose sentence is a person's own words, without a verb in front


def status(asked: SlackRequest, incident: Incident) -> Answer:
    """Show an incident's current state."""
    channels = incident_lookup.channels([incident])
    lines = [mrkdwn.bold(incident.title), _facts(incident, channels, at=asked.at)]
    stated = last_said.of([incident]).get(incident.pk, {})
    if (impact := stated.get("impact")) is not None:
        lines.append(f"Impact: {mrkdwn.escape(mrkdwn.cut(impact.text, 300))}")
    if (step := stated.get("next_step")) is not None and step.text and incident.is_active:
        owner = f"{mrkdwn.escape(isolated(name))}: " if (name := step.event.data.get("name")) else ""
        lines.append(f"Next step: {owner}{mrkdwn.escape(mrkdwn.cut(step.text, 300))}")
    if (update := stated.get("updated")) is not None:
        lines.append(f"Last update, {mrkdwn.when(update.event.at)}: {mrkdwn.escape(mrkdwn.cut(update.text, 600))}")
    lines += [*_update_due(incident, at=asked.at), *_owed(incident)]
    lines.append(mrkdwn.link(incident_lookup.page(incident), "Open in Firekind"))
    return Say("\n".join(lines))


def recent(asked: SlackRequest, incident: Incident) -> Answer:
    """Show the newest entries of the timeline."""
    entries = timeline.latest(incident, limit=ENTRIES, reader=asked.by)
    lines = [_entry(entry) for entry in entries]
    lines.append(mrkdwn.link(incident_lookup.page(incident), "The whole timeline"))
    return Say("\n".join(lines))


def listed(asked: SlackRequest) -> Answer:
    """List the open incidents that a person may see."""
    found = list(incident_lookup.seen(asked.by).filter(active=True, is_drill=False)[:CONSIDERED])
    drills = list(incident_lookup.seen(asked.by).filter(active=True, is_drill=True)[:LISTED])
    if not (found or drills):
        return Say(f"No incident is open. `{setup.command()} declare` opens one.")
    shown = urgent_first(found, at=asked.at)[:LISTED]
    channels = incident_lookup.channels([*shown, *drills])
    lines = [line(incident, channels, at=asked.at) for incident in shown]
    if len(found) > LISTED:
        lines.append(mrkdwn.link(f"{setup.base_url()}/", "See all"))
    lines += [line(incident, channels, at=asked.at) for incident in drills]
    return Say("\n".join(lines))


def urgent_first(found: Iterable[Incident], *, at: datetime) -> list[Incident]:
    """Sort open incidents by what a responder looks at first, like the list on the web."""
    newest_first = list(found)
    unanswered = page_status.unanswered([one.pk for one in newest_first])
    return sorted(
        newest_first,
        key=lambda one: urgency.rank(
            one.policy,
            status=one.status,
            is_overdue=one.is_overdue(at=at),
            is_unanswered=one.pk in unanswered,
            has_lead=one.lead_id is not None,
        ),
    )


def line(incident: Incident, channels: Mapping[int, str], *, at: datetime) -> str:
    """Describe an incident in two short lines."""
    title = mrkdwn.bold_link(incident_lookup.page(incident), incident.title)
    return f"{title}\n{_facts(incident, channels, at=at)}"


def age(seconds: float) -> str:
    """Say how long an incident has been open, in the words of its page."""
    return "just now" if seconds < 60 else span(seconds)


def _facts(incident: Incident, channels: Mapping[int, str], *, at: datetime) -> str:
    parts = ["*Drill*"] if incident.is_drill else []
    parts += [":lock: Private"] if incident.private else []
    parts += [mrkdwn.escape(incident.policy.name), str(incident.get_status_display()), age(incident.age_s(at=at))]
    parts.append(_lead(incident.lead))
    parts.append(f"<#{channels[incident.pk]}>" if incident.pk in channels else incident.codename)
    return "  ·  ".join(parts)


def _lead(lead: Person | None) -> str:
    return f"{mrkdwn.mention(lead.chat_id, lead.name)} leads" if lead else "no lead yet"


def _update_due(incident: Incident, *, at: datetime) -> Iterator[str]:
    """Say when the next status update is or was due, if one is."""
    due = catch_up_reading.of(incident).due_at
    if incident.is_overdue(at=at):
        yield "*A status update is overdue.*" + (f" It was due {mrkdwn.when(due)}." if due else "")
    elif due:
        yield f"The next update is due {mrkdwn.when(due)}."


def _owed(incident: Incident) -> list[str]:
    so_far = progress.of(incident)
    gaps = [f"Missing: {mrkdwn.escape(gap.says)}" for gap in so_far.gaps]
    failed = [
        f"Failed: {mrkdwn.escape(one.sentence)}. {mrkdwn.escape(one.detail)}" for one in so_far.effects if one.can_retry
    ]
    held_up = [
        f"Retrying {mrkdwn.when(one.again_at)}: {mrkdwn.escape(one.sentence)}. {mrkdwn.escape(one.why)}"
        for one in so_far.effects
        if one.again_at is not None
    ]
    more = [f"{len(held_up) - HELD_UP} more steps are being retried."] if len(held_up) > HELD_UP else []
    return [*gaps, *failed, *held_up[:HELD_UP], *more]


def _entry(entry: timeline.TimelineEntry) -> str:
    who = mrkdwn.escape(entry.event.by.name) if entry.event.by else ""
    said = mrkdwn.escape(mrkdwn.cut(entry.sentence, 200))
    if entry.event.kind in BARE:
        return f"{mrkdwn.when(entry.event.at)}  {who} · {entry.kind.label}: {said}"
    return f"{mrkdwn.when(entry.event.at)}  {who} {said}".replace("   ", "  ")
