"""Follow-ups as their tickets should say them, and which tickets there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from incidents.models import Followup
from workflows import ports
from workflows.planning.observed import Observed
from workflows.planning.tickets import wanted
from workflows.planning.tickets.wanted import TrackedFollowup, TrackerNow
from workflows.tracker_port import Tracker


def tracker() -> TrackerNow | None:
    """Return where follow-ups go now; None where no tracker is connected."""
    found = ports.tracker()
    return TrackerNow(found.name, found.place(), found.place(private=True)) if found is not None else None


def tracked(followups: Iterable[Followup]) -> tuple[TrackedFollowup, ...]:
    """Return those that are for afterwards, oldest first; tasks are none while their incident is active."""
    found = ports.tracker()
    if found is None:
        return ()
    return tuple(_tracked(one, found) for one in sorted(followups, key=lambda one: one.n) if not one.is_task)


def known(observed: Observed) -> Mapping[str, str]:
    """Return the projects of tickets that exist, or may by now, by key."""
    begun = {
        key: str(owed.spec["place"])
        for key, chain in observed.owed.items()
        for owed in chain
        if key.startswith("ticket/") and owed.under_way and owed.spec is not None
    }
    there = {key: str(one.spec["place"]) for key, one in observed.seen.items() if one.kind == "ticket"}
    return begun | there


def _tracked(one: Followup, tracker: Tracker) -> TrackedFollowup:
    return TrackedFollowup(
        n=one.n,
        title=wanted.title(one.text),
        state=one.state,
        owner=tracker.account(one.owner.email) if one.owner is not None else "",
        due=one.due_on.isoformat() if one.due_on else "",
    )
