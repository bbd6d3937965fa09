"""The pager port: its people, targets and shifts, and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

OF_THE_ACCOUNT: Final = frozenset({"2008", "2010", "2012", "2014", "http_402", "http_403"})
"""Codes of errors that are due to the account, or to what the key may do in it, whatever a step is about."""


@dataclass(frozen=True, slots=True)
class PagerPerson:
    """Someone the pager can page. It has no rule to notify a ``silent`` person of urgent pages."""

    id: str
    name: str
    email: str = ""
    url: str = ""
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """An escalation policy, a service or a schedule (``kind``), as the pager knows it.

    ``service`` is where a page to it is opened; for a policy, one of its services, or empty if it has none. ``policy``
    is the policy that this pages; ``levels`` counts a policy's levels, and ``schedules`` holds the schedules that each
    level pages. ``paused`` marks a service in a maintenance window: pages opened there may notify no one.
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
    """Someone's turn on call: for a schedule (level 0) or a level of an escalation policy. None means no end."""

    subject: str
    level: int
    user: str
    start: datetime | None
    end: datetime | None


def key_sign(key: str) -> str:
    """Return the key prefix in the title of a page sent as an event, because webhooks do not include its key."""
    return f"[{key[-4:]}] "


def unsigned(title: str, *, key: str) -> str:
    """Return a title without the key prefix, which is not part of a page's name."""
    return title.removeprefix(key_sign(key))


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page to open: its target (``policy/P1``, ``service/P2``, ``user/P3``), its service, and what it says.

    ``key`` is the opaque name by which it is found again, however it was sent. ``unsure`` says that an earlier try may
    have opened it, so it must not be sent another way, which could page twice. ``codename`` is in every title of ours.
    ``waited_s`` is how long it has waited since it was wanted.
    """

    key: str
    target: str
    service: str
    title: str
    details: str
    link: str
    unsure: bool = False
    codename: str = ""
    waited_s: float = 0.0


@dataclass(frozen=True, slots=True)
class MergedInto:
    """The incident that one of the pager's incidents was merged into by hand; unknown fields are empty."""

    id: str
    title: str = ""
    url: str = ""
    number: int | None = None


@dataclass(frozen=True, slots=True)
class PageStatus:
    """A page as the pager knows it.

    ``status`` is triggered, acknowledged or resolved, ``by`` is who set it (``by_id`` if that is a person), ``via`` is
    how the page was sent (rest, events). ``id`` is empty while only the fallback knows it. ``assigned`` are those paged
    now, since ``assigned_at``; empty if the pager does not say. ``service`` is the one that the fallback opened it on,
    which decides who is paged first; empty if unknown. ``doubted`` says that a request without a response may still
    open it a second time. ``into`` is the incident that it was merged into, which ended it. ``limited`` says that the
    fallback opened it because of a rate limit.
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
    limited: bool = False


@dataclass(frozen=True, slots=True)
class OpenIncident:
    """An open incident in the pager, ours or not: the fields that rules look at, and who set its status."""

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
    """Pages people. Every call may raise ``VendorError``; none retries."""

    @property
    def connection(self) -> str:
        """An opaque name for the connection's settings; a different one may mean a different account."""

    def ring(self, ring: PageRequest) -> PageStatus:
        """Open a page, or return the one already opened with its key, in any status."""

    def find(
        self, key: str, *, service: str, since: datetime, codename: str = "", first: bool = False
    ) -> PageStatus | None:
        """Find a page by its key, in any status; if requests opened several, an open one or the ``first`` of them."""

    def twins(self, id: str, *, key: str, since: datetime) -> Sequence[PageStatus]:
        """Find other pages open under a page's key: requests went two ways, and both were carried out.

        Leaves out any that contain alerts or changes by others.
        """

    def open_incidents(self, *, since: datetime) -> Sequence[OpenIncident]:
        """List what anyone opened since a moment and is still open."""

    def look(self, id: str) -> PageStatus | None:
        """Return the status of a page; None if the pager has none with that id."""

    def retitle(self, id: str, title: str, *, key: str = "", codename: str = "") -> bool:
        """Change a page's title; return False if that was not accepted: it has ended, or is someone else's."""

    def fallback_service(self) -> str:
        """Return the id of the service that the fallback opens pages on; empty if unknown. Makes no request."""

    def resolve(self, id: str, *, key: str, via: str, codename: str = "") -> bool:
        """End a page; one that has already ended is fine. Without an id it is ended the way it was sent, by its key.

        Return False if it was left open because its incident contains other alerts.
        """

    def acknowledge(self, id: str, *, by: str) -> PageStatus:
        """Acknowledge a page in someone's name, by their email there; return its status afterwards.

        One that someone else acknowledged, or that has ended, is left unchanged.
        """

    def note(self, id: str, text: str) -> None:
        """Add a note to a page."""

    def people(self) -> Sequence[PagerPerson]:
        """Read everyone who can be paged."""

    def targets(self) -> Sequence[Target]:
        """Read every escalation policy, service and schedule."""

    def turns(
        self, *, policies: Sequence[str], schedules: Sequence[str], since: datetime, until: datetime
    ) -> Sequence[Turn]:
        """Read who is on call when, overrides applied, for these policies (each level) and schedules."""

    def overrides(self, *, schedules: Sequence[str], since: datetime, until: datetime) -> Sequence[Turn]:
        """Read which turns of these schedules are overrides; part of one may have been overridden again."""
