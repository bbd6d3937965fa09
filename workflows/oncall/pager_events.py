"""Events about the pager's incidents, as plain vendor-neutral values. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from workflows.pager_port import MergedInto

TRIGGERED, ACKNOWLEDGED, RESOLVED = "triggered", "acknowledged", "resolved"

# What each kind of news makes of the status; kinds that are not here leave it as it is.
STATUS_OF: Final = {
    "triggered": TRIGGERED,
    "acknowledged": ACKNOWLEDGED,
    "unacknowledged": TRIGGERED,
    "resolved": RESOLVED,
    "reopened": TRIGGERED,
}
# Of two statuses from the same moment the one further on holds, whichever was heard of first.
RANK: Final = {"opening": 0, TRIGGERED: 1, ACKNOWLEDGED: 2, RESOLVED: 3}
SECOND: Final = timedelta(seconds=1)


def latest(at: datetime) -> datetime:
    """Return the last moment that a time may mean: one without a fraction is any of its second."""
    return at if at.microsecond else at + SECOND - timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Who:
    """Someone as the pager knows them: their id there, and their name."""

    id: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class PagerIncident:
    """The pager's incident as the news describes it; what the news does not say is empty.

    ``key`` is what it was opened with, ``opened_at`` when. ``service`` and ``policy`` are names.
    """

    id: str
    key: str = ""
    title: str = ""
    url: str = ""
    number: int | None = None
    status: str = ""
    urgency: str = ""
    priority: str = ""
    service_id: str = ""
    service: str = ""
    policy_id: str = ""
    policy: str = ""
    opened_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PagerEvent:
    """One thing that happened to one of the pager's incidents.

    ``id`` names it for good, ``kind`` is one word (*acknowledged*, *noted*), ``at`` when it happened there. ``by`` did
    it, None for the pager itself; ``ours`` says that we did it, through the pager's interface. ``people`` are those it
    is about: who is paged now, or who was asked to join. ``text`` is what someone wrote. ``into`` is what it ended by
    being merged into.

    It reads as ``{by} {did}`` or, where nobody did it, as ``happened``: both may name ``{page}``, ``{people}`` (with
    ``{are}``, which is *is* for one of them), the ``{level}`` of the escalation policy that they are on, and
    ``{text}``. ``told`` news are told where people talk.
    """

    id: str
    kind: str
    at: datetime
    page: PagerIncident
    did: str
    happened: str
    by: Who | None = None
    ours: bool = False
    people: tuple[Who, ...] = ()
    text: str = ""
    told: bool = False
    into: MergedInto | None = None
    joins: bool = False  # whether ``people`` are on it from now on

    @property
    def status(self) -> str:
        """What it makes of the status; empty when it leaves that as it is."""
        return STATUS_OF.get(self.kind, "")
