"""What an issue tracker did to follow-ups: it opened a ticket for one, or someone changed the ticket there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from incidents.followups.folding import State
from incidents.lifecycle import entries
from incidents.lifecycle.to_do import followups
from incidents.models import Followup, Incident, Person, Source


def track_followup(incident: Incident, *, n: int, ticket: str, url: str, tracker: str, at: datetime) -> None:
    """Record which ticket stands for a follow-up; an empty one means that our text was removed from it."""
    with followups.held(incident, n, by=None) as (now, one):
        if one.ticket == ticket:
            return
        data = {"ticket": ticket, "tracker": tracker}
        followups.write(now, one, "followup_tracked", by=None, at=at, source=Source.SYSTEM, data=data, link=url)


def follow_ticket(
    incident: Incident,
    *,
    n: int,
    changes: Mapping[str, str],
    owner: Person | None,
    tracker: str,
    at: datetime,
) -> Followup:
    """Apply a ticket's changes to its follow-up: any of title, state, owner (then ``owner``) and due.

    Raises ``Refused`` for a change that cannot be made here; then none of them is made.
    """
    with followups.held(incident, n, by=None) as (now, row):
        one = row
        said: dict[str, Any] = {"by": None, "at": at, "source": Source.SYSTEM}
        if "title" in changes:
            entries.edit(now, n=one.entry_n, text=changes["title"], **said)
        said["data"] = {"tracker": tracker}
        if changes.get("state") == State.OPEN:
            one = _moved(now, one, changes["state"], said)
        if "owner" in changes and one.owner_id != (owner.pk if owner else None):
            given = followups.given(now, one.phase, owner, None, at, Source.SYSTEM) or {"owner": None, "name": ""}
            one = followups.write(now, one, "followup_given", **said | {"data": said["data"] | given})
        if "due" in changes:
            one = _due(now, one, changes["due"], said)
        if "state" in changes:
            one = _moved(now, one, changes["state"], said)
    return one


def _due(now: Incident, one: Followup, due: str, said: Mapping[str, Any]) -> Followup:
    due_on = date.fromisoformat(due) if due else None
    if one.due_on == due_on:
        return one
    data = followups.due(due_on, said["at"]) or {"due": ""}
    return followups.write(now, one, "followup_due", **{**said, "data": said["data"] | data})


def _moved(now: Incident, one: Followup, state: str, said: Mapping[str, Any]) -> Followup:
    if one.state == state:
        return one
    if state == State.OPEN:
        followups.must_not_be_retracted(now, one)
    elif not one.is_open:
        one = followups.write(now, one, "followup_reopened", **said)
    kinds = {State.OPEN: "followup_reopened", State.DONE: "followup_done", State.DROPPED: "followup_dropped"}
    return followups.write(now, one, kinds[State(state)], **said)
