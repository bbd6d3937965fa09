"""What people state while an incident goes on: its impact, and the next step with its owner."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from incidents import timeline
from incidents.lifecycle import people, rules
from incidents.models import Event, Incident, Participant, Person, Source


def state_impact(
    incident: Incident,
    *,
    text: str,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    since: int | None = None,
) -> Incident:
    """State who is affected and how much; earlier statements stay on the timeline."""
    with rules.changing(incident, by=by, since=since, clash={"impact"}) as now:
        append_impact(now, text, by=by, at=at, source=source, told={"room": now.room})
        rules.save(now)
    return now


def state_next_step(
    incident: Incident,
    *,
    text: str,
    owner: Person | None = None,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    since: int | None = None,
) -> Incident:
    """State the next step and its owner: ``owner``, else ``by``. Empty text clears the next step."""
    with rules.changing(incident, by=by, since=since, clash={"next_step"}) as now:
        append_next_step(now, text, owner=owner or by, by=by, at=at, source=source, told={"room": now.room})
        rules.save(now)
    return now


def append_impact(
    incident: Incident, text: str, *, by: Person | None, at: datetime, source: str, told: Mapping[str, Any]
) -> Event:
    """Write the impact in the caller's transaction. ``told`` says where it is posted: room 0 means with an update."""
    text = rules.text(text, field="impact")
    return timeline.append(incident, "impact", at=at, by=by, source=source, text=text, data=told)


def append_next_step(
    incident: Incident,
    text: str,
    *,
    owner: Person | None,
    by: Person | None,
    at: datetime,
    source: str,
    told: Mapping[str, Any],
) -> Event:
    """Write the next step in the caller's transaction; its owner takes part from now on."""
    rules.must_be_active(incident, "set the next step of")
    text = rules.text(text, field="next_step", needed=False)
    data = dict(told)
    if text and owner is not None:
        must_be_in(incident, owner, by=by, at=at, source=source)
        data |= {"owner": owner.pk, "name": owner.name}
    return timeline.append(incident, "next_step", at=at, by=by, source=source, text=text, data=data)


def must_be_in(incident: Incident, owner: Person, *, by: Person | None, at: datetime, source: str) -> None:
    """Bring the owner in. A next step opens no private incident to anyone: there they have to be brought in first."""
    if owner == by or Participant.objects.filter(incident=incident, person=owner, left_at=None).exists():
        return
    if incident.private:
        raise rules.BadInput("owner", f"{owner.name} is not in this private incident. Bring them in first.")
    if not owner.can_join:
        raise rules.BadInput("owner", f"{owner.name} cannot be brought in: choose someone from this workspace.")
    people.bring_in(incident, people=[owner], by=by, at=at, source=source)
