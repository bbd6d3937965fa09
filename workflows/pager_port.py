"""What the domain asks of a pager: its people, targets and shifts, and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class PagerPerson:
    """Someone the pager can page."""

    id: str
    name: str
    email: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """An escalation policy, a service or a schedule (``kind``), as the pager knows it.

    ``service`` is where a page to it is opened: of a policy, one of its services; empty when it has none. ``policy`` is
    who that pages; ``levels`` counts a policy's, and ``schedules`` are those that each of them pages. ``paused`` is a
    service in a maintenance window: what is opened there may notify no one.
    """

    kind: str
    id: str
    name: str
    url: str = ""
    policy: str = ""
    service: str = ""
    levels: int = 0
    schedules: tuple[tuple[str, ...], ...] = ()
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """Someone's turn on call: for a schedule (level 0) or a level of an escalation policy. None: without end."""

    subject: str
    level: int
    user: str
    start: datetime | None
    end: datetime | None


def key_sign(key: str) -> str:
    """Return the sign of its key that a page sent as an event has before its title: a webhook shows no key of it."""
    return f"[{key[-4:]}] "


def unsigned(title: str, *, key: str) -> str:
    """Return a title without the sign of a key: it is no part of what a page is called."""
    return title.removeprefix(key_sign(key))


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page to be opened: who (``policy/P1``, ``service/P2``, ``user/P3``), on which service, and what it says.

    ``key`` is the opaque name by which it is found again, whichever way it was sent. ``unsure`` says that an earlier
    try may have opened it, so that no other way is taken which could ring twice. ``codename`` stands in every title of
    ours.
    """

    key: str
    target: str
    service: str
    title: str
    details: str
    link: str
    unsure: bool = False
    codename: str = ""


@dataclass(frozen=True, slots=True)
class MergedInto:
    """What the pager's people merged one of its incidents into; what is not said of it is empty."""

    id: str
    title: str = ""
    url: str = ""
    number: int | None = None


@dataclass(frozen=True, slots=True)
class PageStatus:
    """A page as the pager knows it.

    ``status`` is triggered, acknowledged or resolved, ``by`` who made it so (``by_id`` where that is a person),
    ``via`` how it was sent (rest, events). ``id`` is empty while only the fallback knows of it. ``assigned`` are those
    who are paged now, since ``assigned_at``; empty where the pager does not say. ``service`` is the one that the
    fallback opened it on, which decides who is paged first; empty where it is not known. ``doubted`` says that a
    request that was not answered may open it a second time. ``into`` is what it ended by being merged into.
    """

    id: str
    status: str
    number: int | None = None
    url: str = ""
    via: str = "rest"
    at: datetime | None = None
    by: str = ""
    key: str = ""
    title: str = ""
    by_id: str = ""
    assigned: tuple[PagerPerson, ...] = ()
    assigned_at: datetime | None = None
    joined: str = ""
    service: str = ""
    opened_at: datetime | None = None
    doubted: bool = False
    into: MergedInto | None = None


@dataclass(frozen=True, slots=True)
class OpenIncident:
    """What is open in the pager, whoever opened it: as much of it as rules look at, and who made it so as it is."""

    id: str
    status: str
    title: str
    opened_at: datetime
    at: datetime
    key: str = ""
    number: int | None = None
    url: str = ""
    priority: str = ""
    service_id: str = ""
    service: str = ""
    by: str = ""
    by_id: str = ""


class Pager(Protocol):
    """Pages people. Every call may raise ``VendorError``; none of them retries."""

    @property
    def connection(self) -> str:
        """An opaque name of the settings by which the pager is connected: another one may lead to another account."""

    def ring(self, ring: PageRequest) -> PageStatus:
        """Open a page, or return the one already opened with its key, in any status."""

    def find(self, key: str, *, service: str, since: datetime, codename: str = "") -> PageStatus | None:
        """Find a page by its key, in any status."""

    def twins(self, id: str, *, key: str, since: datetime) -> Sequence[PageStatus]:
        """Find what else is open under a page's key, because requests went two ways and both were carried out.

        What has something of anyone else's in it is left out.
        """

    def open_incidents(self, *, since: datetime) -> Sequence[OpenIncident]:
        """List what was opened since a moment and is open, whoever opened it."""

    def look(self, id: str) -> PageStatus | None:
        """Return how a page stands; None when the pager has none of that id."""

    def retitle(self, id: str, title: str, *, key: str = "", codename: str = "") -> bool:
        """Change a page's title; return whether that was taken: not once it ended, nor where it is someone else's."""

    def fallback_service(self) -> str:
        """Return the id of the service that the fallback opens pages on; empty when that is not known. Asks nobody."""

    def resolve(self, id: str, *, key: str, via: str, codename: str = "") -> bool:
        """End a page; one that ended already is fine. Without an id it is ended the way it was sent, by its key.

        Return False where it was left open, because alerts of others are in its incident.
        """

    def acknowledge(self, id: str, *, by: str) -> PageStatus:
        """Acknowledge a page in someone's name, by their email there; return how it stands then.

        One that someone else acknowledged, or that ended, is left as it is.
        """

    def note(self, id: str, text: str) -> None:
        """Write a note on a page."""

    def people(self) -> Sequence[PagerPerson]:
        """Read everyone who can be paged."""

    def targets(self) -> Sequence[Target]:
        """Read every escalation policy, service and schedule."""

    def turns(
        self, *, policies: Sequence[str], schedules: Sequence[str], since: datetime, until: datetime
    ) -> Sequence[Turn]:
        """Read who is on call when, overrides applied, for these policies (each level) and schedules."""

    def overrides(self, *, schedules: Sequence[str], since: datetime, until: datetime) -> Sequence[Turn]:
        """Read which turns of these schedules are overrides; what one of them covers may have been overridden again."""
