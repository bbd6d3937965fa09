"""Which tickets should exist for an incident's follow-ups. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from workflows.planning.things import Gap, Thing

FIELDS: Final = ("title", "state", "owner", "due")
OPEN: Final = "open"
TITLE_CHARS: Final = 200  # every tracker accepts this many
PRIVATE: Final = "/private"
REDACTED: Final = "Redacted follow-up"


@dataclass(frozen=True, slots=True)
class TrackerNow:
    """The tracker that follow-ups go to: ``place`` is its project, ``private_place`` the one for private incidents."""

    name: str
    place: str
    private_place: str = ""


@dataclass(frozen=True, slots=True)
class TrackedFollowup:
    """A follow-up as its ticket should say it; ``owner`` is an account in the tracker, ``due`` an ISO date."""

    n: int
    title: str
    state: str = OPEN
    owner: str = ""
    due: str = ""


def key(n: int, *, private: bool = False) -> str:
    """Return the key of a follow-up's ticket; a ticket in a private project has a different one."""
    return f"ticket/{n}{PRIVATE}" if private else f"ticket/{n}"


def is_private(ticket: str) -> bool:
    """Return whether a ticket's key is for the private project."""
    return ticket.endswith(PRIVATE)


def number(ticket: str) -> int:
    """Return the number of the follow-up in a ticket's key."""
    return int(ticket.split("/")[1])


def title(text: str) -> str:
    """Return a follow-up as one line that every tracker accepts."""
    said = " ".join(text.split()) or REDACTED
    return said if len(said) <= TITLE_CHARS else f"{said[: TITLE_CHARS - 1].rstrip()}…"


def tickets(
    followups: tuple[TrackedFollowup, ...], *, tracker: TrackerNow, known: Mapping[str, str], private: bool
) -> Iterator[Thing]:
    """Yield the tickets that should exist; ``known`` maps keys of those that do, or may by now, to their projects.

    A follow-up gets a ticket while it is open. A private incident's tickets exist only in the private project, and
    those in the other are withdrawn. Tickets in projects that are no longer configured are left unchanged.
    """
    for one in followups:
        place = tracker.private_place if private else tracker.place
        own = key(one.n, private=private)
        is_ours = known[own] == place if own in known else one.state == OPEN
        if place and is_ours:
            yield _ticket(own, one, place, private=private)
        if private and known.get(key(one.n)) == tracker.place:
            spec = {"place": tracker.place, "private": False, "withdrawn": True}
            yield Thing(key(one.n), "ticket", spec, f"the ticket of follow-up {one.n}")


def stranded(places: Iterable[str]) -> Iterator[Gap]:
    """Say for each project that is no longer connected that its public content is still public, and how to fix that."""
    for place, count in sorted(Counter(places).items()):
        has, them = ("ticket still has its title", "it") if count == 1 else ("tickets still have their titles", "them")
        shown = place.partition(":")[2] or place
        says = (
            f"{count} {has} in {shown}, which is no longer connected, so Firekind can't withdraw {them}. Empty {them} "
            f"by hand, or connect {shown} again and Firekind will."
        )
        yield Gap(f"tickets/{_short(place)}", says)


def doubtful(places: Iterable[str]) -> Iterator[Gap]:
    """Say the same for tickets that may have been opened there: the responses were lost before the project changed."""
    for place, count in sorted(Counter(places).items()):
        those, them = ("1 ticket", "it") if count == 1 else (f"{count} tickets", "them")
        shown = place.partition(":")[2] or place
        says = (
            f"{those} may have been opened in {shown}, which is no longer connected, so Firekind can't look for "
            f"{them}. Search {shown} for the follow-ups' titles and empty what you find by hand, or connect it again "
            "and Firekind will."
        )
        yield Gap(f"tickets/{_short(place)}/doubtful", says)


def _short(place: str) -> str:
    """Abbreviate a project, because its path may be longer than a key."""
    return hashlib.sha256(place.encode()).hexdigest()[:16]


def _ticket(own: str, one: TrackedFollowup, place: str, *, private: bool) -> Thing:
    fields = {"title": one.title, "state": one.state, "owner": one.owner, "due": one.due}
    return Thing(own, "ticket", {"place": place, "private": private, **fields}, f"the ticket of follow-up {one.n}")
