"""Shared by every tracker's stand-in: tickets, people's edits, faults, a log of calls and queued webhooks."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import RLock
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from integrations.standin.faults import LATENCY, InForce, OrderedFault, Struck

EPOCH: Final = datetime.fromtimestamp(0, tz=UTC)
DOWN, LOST, BROKEN, REFUSED, LIMITED = "down", "lost", "broken", "refused", "limited"
FAULTS: Final = (LATENCY, DOWN, LOST, BROKEN, REFUSED, LIMITED)


@dataclass(slots=True)
class BoardTicket:
    """A ticket; ``state`` is open, done or dropped, whatever the tracker calls it.

    ``moved`` is the project that someone moved it to, for trackers that keep something in the old place.
    """

    n: int
    project: str
    title: str
    body: str = ""
    state: str = "open"
    owner: str = ""
    due: str = ""
    id: str = ""
    labels: list[str] = field(default_factory=list)
    created_at: datetime = EPOCH
    updated_at: datetime = EPOCH
    deleted: bool = False
    moved: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One parsed request to a stand-in."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Answered:
    """A stand-in's answer; ``body`` becomes JSON."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hook:
    """A queued webhook."""

    headers: Mapping[str, str]
    body: bytes


class Board(ABC):
    """The tickets of some projects. ``clock`` is the only source of time; two boards share nothing."""

    def __init__(
        self,
        *,
        token: str = "token",  # noqa: S107 -- opens only this stand-in
        secret: str = "hook-secret",  # noqa: S107 -- opens only this stand-in
        projects: tuple[str, ...],
        people: tuple[str, ...] = (),
        web_url: str = "https://tracker.example",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.token, self.secret, self.projects, self.people, self.now = token, secret, projects, people, clock
        self.web_url = web_url
        self.lock = RLock()
        self.tickets: list[BoardTicket] = []
        self.calls: list[Asked] = []
        self.faults: InForce[OrderedFault] = InForce(OrderedFault, FAULTS)
        self.hooks: deque[Hook] = deque(maxlen=10_000)
        self.version = 0
        self.on_change: Callable[[], None] = lambda: None

    def strike(self, method: str, path: str) -> Struck[OrderedFault]:
        """Return the effect of the active faults on one request."""
        with self.lock:
            return self.faults.strike(f"{method} {path}")

    def serve(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        struck: Struck[OrderedFault] | None = None,
    ) -> Answered:
        """Answer one request. Raises ``ConnectionResetError`` for an answer that gets lost.

        The faults' effect is decided here, unless ``struck`` is given.
        """
        parts = urlsplit(url)
        names = {name.lower(): value for name, value in headers.items()}
        asked = Asked(method, parts.path, dict(parse_qsl(parts.query)), names, json.loads(body) if body else None)
        with self.lock:
            self.calls.append(asked)
            struck = struck or self.strike(method, parts.path)
            if struck.kind == DOWN:
                return Answered(503, {"message": "Service Unavailable"})
            if struck.kind == REFUSED:
                raise ConnectionResetError("before it was done")
            if struck.kind == LIMITED and struck.fault is not None:
                return self.limit(struck.fault.retry_after_s)
            answered = self.answer(asked)
        if struck.kind == LOST:
            raise ConnectionResetError("after it was done")
        if struck.kind == BROKEN:
            return Answered(502, {"message": "Bad Gateway"})
        return answered

    @abstractmethod
    def answer(self, asked: Asked) -> Answered:
        """Answer as the real tracker would."""

    @abstractmethod
    def limit(self, wait_s: int) -> Answered:
        """Refuse a request for exceeding the rate limit, the way this tracker does."""

    @abstractmethod
    def hook(self, ticket: BoardTicket, did: str) -> Hook:
        """Return the signed webhook about what happened to a ticket."""

    @abstractmethod
    def move(self, ticket: BoardTicket, project: str) -> BoardTicket:
        """Move a ticket to another project, as a person does; return the ticket that has its words there.

        The token can read that project if it is one of ``projects``.
        """

    def add(self, project: str, title: str, **more: Any) -> BoardTicket:
        """Add a new ticket; it gets an id, unless one is given."""
        n, now = self.next_n(project), self.stamp()
        more.setdefault("id", str(10_000 + len(self.tickets)))
        ticket = BoardTicket(n, project, title, created_at=now, updated_at=now, **more)
        self.tickets.append(ticket)
        self.hooks.append(self.hook(ticket, "opened"))
        self.changed()
        return ticket

    def edit(self, ticket: BoardTicket, **fields: str) -> None:
        """Change a ticket, as a person or an app does, and queue the webhook."""
        with self.lock:
            for name, value in fields.items():
                setattr(ticket, name, value)
            ticket.updated_at = self.stamp()
            self.hooks.append(self.hook(ticket, "edited"))
            self.changed()

    def delete(self, ticket: BoardTicket) -> None:
        """Delete a ticket for good."""
        with self.lock:
            ticket.deleted = True
            self.hooks.append(self.hook(ticket, "deleted"))
            self.changed()

    def next_n(self, project: str) -> int:
        """Return the number of a project's next ticket."""
        return 1 + max((one.n for one in self.tickets if one.project == project), default=0)

    def copied(self, ticket: BoardTicket, project: str) -> BoardTicket:
        """Copy a ticket to another project, where it gets a new number."""
        kept = {name: getattr(ticket, name) for name in ("body", "state", "owner", "due")}
        return self.add(project, ticket.title, **kept)

    def renumbered(self, ticket: BoardTicket, project: str) -> BoardTicket:
        """Move a ticket to another project, where it remains the same ticket under a new number."""
        ticket.n, ticket.project, ticket.updated_at = self.next_n(project), project, self.stamp()
        self.hooks.append(self.hook(ticket, "edited"))
        self.changed()
        return ticket

    def changed(self) -> None:
        """Record that something changed, for pages, snapshots and the sender of webhooks."""
        self.version += 1
        self.on_change()

    def stamp(self) -> datetime:
        """Return the time with this tracker's precision, a second."""
        return self.now().replace(microsecond=0)

    def of(self, project: str, n: int) -> BoardTicket | None:
        """Return a ticket by its number."""
        return next((one for one in self.tickets if (one.project, one.n) == (project, n)), None)

    def there(self, project: str) -> list[BoardTicket]:
        """Return the tickets of a project that were not deleted."""
        return [one for one in self.tickets if one.project == project and not one.deleted]

    def writes(self) -> list[Asked]:
        """Return the requests that would change something."""
        return [one for one in self.calls if one.method != "GET"]


def iso(at: datetime) -> str:
    """Format a time as most trackers do."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
