"""Merge edits on both sides: of a follow-up and of its ticket. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from workflows.planning.tickets import wanted

DONE, CLOSED = "done", "closed"


@dataclass(frozen=True, slots=True)
class TicketMerge:
    """The result of edits on both sides: fields that we send to the tracker, and fields that we take from it."""

    send: dict[str, str] = field(default_factory=dict)
    take: dict[str, str] = field(default_factory=dict)


def merge(
    ours: Mapping[str, str],
    theirs: Mapping[str, str],
    *,
    sent: Mapping[str, str],
    moved: Collection[str],
    ours_is_newer: bool,
) -> TicketMerge:
    """Decide field by field which side wins.

    ``sent`` is our version when both sides were last compared; ``moved`` are fields that have changed there since.

    Each side is compared only with its own past, so that what a tracker truncates or drops is no news, nor is the echo
    of our own edit. If both sides changed, the newer edit wins.
    """
    found = TicketMerge()
    for name in (one for one in wanted.FIELDS if one in theirs):
        we_moved = ours[name] != sent.get(name)
        they_moved = name in moved
        if they_moved and alike(name, ours[name], theirs[name]):
            continue
        if we_moved and (ours_is_newer or not they_moved):
            found.send[name] = ours[name]
        elif they_moved:
            found.take[name] = taken(name, theirs[name])
    return found


def alike(name: str, ours: str, theirs: str) -> bool:
    """Return whether a tracker that shows ``theirs`` says the same as ``ours``."""
    return ours == theirs or (name == "state" and theirs == CLOSED and ours != wanted.OPEN)


def taken(name: str, theirs: str) -> str:
    """Return how we store what a tracker shows."""
    if name == "title":
        return wanted.title(theirs)
    return DONE if name == "state" and theirs == CLOSED else theirs
