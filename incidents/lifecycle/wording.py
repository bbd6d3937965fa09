from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from incidents import timeline
from incidents.lifecycle import rules
from incidents.models import Incident, Person, Source


def rename(
    incident: Incident,
    *,
    title: str,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    since: int | None = None,
) -> Incident:
    """Change the title; the codename stays. The whole of a long title goes at the start of the summary."""
    title, whole = rules.short_title(title)
    with rules.changing(incident, by=by) as now:
        if title != now.title:
            rules.must_be_fresh(now, since=since, clash={"renamed"})
            data = {"from": now.title, "room": now.room}
            now.title = title
            timeline.append(now, "renamed", at=at, by=by, source=source, text=title, data=data)
            rules.save(now, "title")
        if whole:
            return describe(now, summary=rules.beginning(whole, now.summary), by=by, at=at, source=source)
    return now


def describe(
    incident: Incident,
    *,
    summary: str,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    since: int | None = None,
) -> Incident:
    """Write the summary that someone joining late reads first."""
    summary = rules.text(summary, field="summary", needed=False)
    with rules.changing(incident, by=by) as now:
        if summary != now.summary:
            rules.must_be_fresh(now, since=since, clash={"described"})
            now.summary = summary
            timeline.append(now, "described", at=at, by=by, source=source, text=summary)
            rules.save(now, "summary")
    return now


def serve(
    incident: Incident,
    *,
    services: Collection[str],
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    since: int | None = None,
) -> Incident:
    """Set the affected services."""
    names = rules.names(services)
    with rules.changing(incident, by=by) as now:
        if names != now.services:
            rules.must_be_fresh(now, since=since, clash={"served"})
            now.services = names
            timeline.append(now, "served", at=at, by=by, source=source, text=", ".join(names))
            rules.save(now, "services")
    return now


def check_off(
    incident: Incident, *, item: str, done: bool, by: Person | None, at: datetime, source: str = Source.WEB
) -> Incident:
    """Check off an item of the policy's checklist, or put it back. Raises ``BadInput`` for any other item."""
    with rules.changing(incident, by=by) as now:
        if item not in now.policy.checklist:
            raise rules.BadInput("item", "That is not on this type's checklist.")
        if (item in now.checked) != done:
            now.checked = [*now.checked, item] if done else [one for one in now.checked if one != item]
            timeline.append(now, "checked" if done else "unchecked", at=at, by=by, source=source, text=item)
            rules.save(now, "checked")
    return now
