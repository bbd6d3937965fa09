"""The newest retype of an incident: from what to what, what was done since, and how much is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from incidents import sentences, timeline
from incidents.models import Event, Incident, IncidentType
from incidents.policies.policy import moves_room
from workflows.planning.actions import CREATE, RETIRE
from workflows.status.progress import EffectLine, Progress

SHOWN: Final = timedelta(minutes=10)  # after that only the plan shows it, unless something is left to do
# What was done, by kind and verb, for one and for several, in order. Our own messages and the rest are counted only
# while they are pending.
DONE: Final = {
    ("page", CREATE): ("opened {} page", "opened {} pages"),
    ("page", RETIRE): ("resolved {} page", "resolved {} pages"),
    ("member", CREATE): ("invited {} person", "invited {} people"),
    ("channel", CREATE): ("opened {} channel", "opened {} channels"),
    ("archived", CREATE): ("archived {} channel", "archived {} channels"),
    ("capture", CREATE): ("captured {} profile", "captured {} profiles"),
}
MOVED: Final = {"channel": "moved the conversation to a private channel", "closed": "made the channel private"}


@dataclass(frozen=True, slots=True)
class RetypedLine:
    """A retype: its types by name, what was ``done`` since in words, and how many effects are pending and failed.

    ``back`` is the slug of the previous type if going back loses nothing.
    """

    before: str
    after: str
    by: str
    at: datetime
    done: str
    left: int
    failed: int
    is_planned: bool
    back: str


def of(incident: Incident, now: Progress, *, at: datetime) -> RetypedLine | None:
    """Return the newest retype of an active incident: while some of it is pending, and for a while afterwards."""
    if not incident.is_active:
        return None
    newest = timeline.read("e.incident_id = %s AND e.kind = 'retyped' ORDER BY e.n DESC LIMIT 1", [incident.pk])
    event = next(iter(newest), None)
    if event is None or "revision" not in event.data:
        return None
    effects = [one for one in now.effects if one.revision >= event.data["revision"]]
    left = sum(one.state in {"waiting", "running"} for one in effects)
    if now.planned and not left and at - event.at > SHOWN:
        return None
    return RetypedLine(
        before=event.data["from_name"],
        after=event.data["to_name"],
        by=event.by.name if event.by else "",
        at=event.at,
        done=sentences.enumerated(_done(effects, moved=bool(event.data["closed"]))),
        left=left,
        failed=sum(one.state == "failed" for one in effects),
        is_planned=now.planned,
        back=_back(event, incident),
    )


def _done(effects: Iterable[EffectLine], *, moved: bool) -> list[str]:
    """Say what was done, counted by kind; moving to a private channel is not also counted as opening one."""
    found: Counter[tuple[str, str]] = Counter()
    for one in effects:
        if one.state == "done":
            found[one.kind, one.verb] += one.count
    said = [MOVED[kind] for kind in MOVED if moved and found.pop((kind, CREATE), 0)]
    counted = [(one if found[key] == 1 else many).format(found[key]) for key, (one, many) in DONE.items() if found[key]]
    return [*counted, *said]


def _back(event: Event, incident: Incident) -> str:
    """Return the previous type's slug if it can be chosen, and if neither that nor this retype shuts anyone out."""
    if event.data["closed"]:
        return ""
    found = IncidentType.objects.usable().filter(slug=str(event.data["from"])).first()
    return found.slug if found is not None and not moves_room(incident.private, found.policy) else ""
