"""The wanted content of follow-ups' tickets, and which tickets exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from incidents.models import Followup
from workflows import ports
from workflows.planning.actions import CREATE
from workflows.planning.observed import THERE, Observed
from workflows.planning.tickets import wanted
from workflows.planning.tickets.wanted import TrackedFollowup, TrackerNow
from workflows.tracker_port import Tracker


def tracker() -> TrackerNow | None:
    """Return where follow-ups go now; None if no tracker is connected."""
    found = ports.tracker()
    return TrackerNow(found.name, found.place(), found.place(private=True)) if found is not None else None


def tracked(followups: Iterable[Followup], *, tickets: Mapping[str, str]) -> tuple[TrackedFollowup, ...]:
    """Return the follow-ups for afterwards, and those that have or may have one of ``tickets``, oldest first.

    A task has no ticket while its incident is active. One that was left open at the end got a ticket, which is kept up
    to date and withdrawn when it must be, even after the task is done or the incident reopened.
    """
    found = ports.tracker()
    if found is None:
        return ()
    numbers = {wanted.number(key) for key in tickets}
    kept = (one for one in followups if not one.is_task or one.n in numbers)
    return tuple(_tracked(one, found) for one in sorted(kept, key=lambda one: one.n))


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


def stranded(observed: Observed) -> tuple[str, ...]:
    """Return the projects, other than the private one, whose tickets hold our words and that are not connected now."""
    place = public_place()
    seen = [one for key, one in observed.seen.items() if one.kind == "ticket" and not wanted.is_private(key)]
    stand = [one.spec for one in seen if one.state == THERE and not one.spec.get("withdrawn")]
    return tuple(sorted(str(spec["place"]) for spec in stand if spec["place"] != place))


def doubtful(observed: Observed) -> tuple[str, ...]:
    """Return the projects that are not connected now and in which tickets may have been opened."""
    place = public_place()
    public = (chain for key, chain in observed.owed.items() if key.startswith("ticket/") and not _is_private(key))
    begun = (one for chain in public for one in chain if one.verb == CREATE and (one.under_way or one.doubted))
    places = (str(one.spec["place"]) for one in begun if one.spec is not None)
    return tuple(sorted(one for one in places if one != place))


def _is_private(key: str) -> bool:
    return wanted.is_private(key.partition("@")[0])


def public_place() -> str:
    """Return the project that tickets of public incidents go to now; empty if none."""
    now = tracker()
    return now.place if now is not None else ""


def _tracked(one: Followup, tracker: Tracker) -> TrackedFollowup:
    return TrackedFollowup(
        n=one.n,
        title=wanted.title(one.text),
        state=one.state,
        owner=tracker.account(one.owner.email) if one.owner is not None else "",
        due=one.due_on.isoformat() if one.due_on else "",
    )
