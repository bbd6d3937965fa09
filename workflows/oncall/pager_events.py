"""Events about the pager's incidents, as plain vendor-neutral values. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from workflows.pager_port import MergedInto

TRIGGERED, ACKNOWLEDGED, RESOLVED = "triggered", "acknowledged", "resolved"

# The status that each kind of news results in; kinds that are missing here do not change it.
STATUS_OF: Final = {
    "triggered": TRIGGERED,
    "acknowledged": ACKNOWLEDGED,
    "unacknowledged": TRIGGERED,
    "resolved": RESOLVED,
    "reopened": TRIGGERED,
}
# Of two statuses from the same moment the later stage wins, whichever arrived first.
RANK: Final = {"opening": 0, TRIGGERED: 1, ACKNOWLEDGED: 2, RESOLVED: 3}
SECOND: Final = timedelta(seconds=1)


def latest(at: datetime) -> datetime:
    """Return the last moment that a time may mean: one without a fraction is any of its second."""
    return at if at.microsecond else at + SECOND - timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Who:
    """A user of the pager: their id there, and their name."""

    id: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class PagerIncident:
    """The pager's incident as the news describes it; what the news leaves out is empty.

    ``key`` is the key it was opened with, ``opened_at`` when. ``service`` and ``policy`` are names.
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

    ``id`` identifies it permanently, ``kind`` is one word (*acknowledged*, *noted*), ``at`` is when it happened there.
    ``by`` is the actor, None for the pager itself; ``ours`` says that we did it through the pager's API. ``people`` are
    those it is about: who is paged now, or who was asked to join. ``text`` is what someone wrote. ``into`` is the
    incident that this one was merged into.

    It reads as ``{by} {did}`` or, without an actor, as ``happened``. Both may contain ``{page}``, ``{people}`` (with
    ``{are}``, which is *is* for a single person), ``{level}``, the level of the escalation policy, and ``{text}``. News
    with ``told`` is posted in the channel.
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
        """The status it results in; empty if it leaves that as it is."""
        return STATUS_OF.get(self.kind, "")
