"""The tracker port: tickets that stand for follow-ups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

MOVED: Final = "moved"
"""The code of the ``VendorError`` about a ticket that somebody moved out of its project."""


@dataclass(frozen=True, slots=True)
class TicketDraft:
    """A ticket to open. ``fields`` as in ``TicketStatus``; ``body`` contains none of people's words.

    ``mark`` is the opaque name by which it is found again; ``private`` says that only the incident's people may read
    it.
    """

    fields: Mapping[str, str]
    body: str
    mark: str
    private: bool = False


@dataclass(frozen=True, slots=True)
class TicketStatus:
    """A ticket as the tracker shows it: ``ref`` is its id for calls, ``label`` its name for people.

    ``fields`` are those of title, state, owner and due that this tracker supports. ``state`` is open, done or dropped,
    or closed if the tracker does not distinguish those two; ``owner`` is the account of someone known here, or empty;
    ``due`` is an ISO date, or empty. ``at`` is when it last changed there.
    """

    ref: str
    label: str
    url: str
    fields: Mapping[str, str]
    at: datetime


class Tracker(Protocol):
    """Where follow-ups become tickets. Every call may raise ``VendorError``; none retries."""

    @property
    def name(self) -> str:
        """Its name, as people know it."""

    def place(self, *, private: bool = False) -> str:
        """Return the project that tickets are opened in; empty if there is none for private ones."""

    def account(self, email: str) -> str:
        """Return someone's account there, or nothing; makes no request."""

    def email(self, account: str) -> str:
        """Return the email of an account's owner, or nothing; makes no request."""

    def open_ticket(self, draft: TicketDraft) -> TicketStatus:
        """Open a ticket."""

    def find_ticket(self, mark: str, *, private: bool, since: datetime) -> TicketStatus | None:
        """Find a ticket by its mark among those opened after ``since``."""

    def look_at_ticket(self, ref: str, *, private: bool = False) -> TicketStatus | None:
        """Return the state of a ticket; None if it was deleted.

        A ticket that someone moved to another project raises ``VendorError`` with the code ``MOVED``: other people read
        that project, so nothing more of ours is written there.
        """

    def change_ticket(self, ref: str, fields: Mapping[str, str], *, private: bool = False) -> TicketStatus:
        """Change these fields of a ticket and no others; return its state afterwards."""

    def withdraw_ticket(self, ref: str) -> None:
        """Replace our words in a ticket with a neutral line and close it; one that was deleted is fine.

        Raises ``VendorError`` with the code ``MOVED`` if they are in another project, out of reach.
        """

    def changed_tickets(self, since: datetime, *, private: bool = False) -> Sequence[TicketStatus]:
        """Return tickets changed since then, oldest change first; may include those of others."""
