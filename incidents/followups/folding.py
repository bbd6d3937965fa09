"""What the events about one task or follow-up add up to. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final

from incidents.models import Followup
from incidents.timeline import TimelineEntry

Phase, State = Followup.Phase, Followup.State
MADE: Final = {"task": Phase.DURING, "followup": Phase.AFTERWARDS}  # the kinds of events that create one
CHANGES: Final = (
    "followup_given",
    "followup_due",
    "followup_done",
    "followup_dropped",
    "followup_reopened",
    "followup_tracked",
)
KINDS: Final = (*MADE, *CHANGES)
OWNED: Final = (*MADE, "followup_given")  # the kinds of events that may set its owner


@dataclass(frozen=True, slots=True)
class FollowupFold:
    """A task or follow-up as its events describe it; the fields are named like the row's columns."""

    n: int
    entry_n: int
    text: str
    link: str
    phase: str
    by_id: int | None
    made_at: datetime
    owner_id: int | None
    due_on: date | None
    state: str = State.OPEN
    ended_at: datetime | None = None
    ticket: str = ""
    ticket_url: str = ""


def fold(entries: Iterable[TimelineEntry]) -> FollowupFold:
    """Fold the entries about one task or follow-up, oldest first: the one that created it, then its changes.

    If its first entry was retracted, it is dropped. If its words were redacted, it has no text and is still to be done.
    """
    first, *rest = entries
    now = _begun(first)
    for entry in rest:
        now = _changed(now, entry)
    if first.retracted is None:
        return now
    return replace(now, state=State.DROPPED, ended_at=first.retracted.at)


def _begun(first: TimelineEntry) -> FollowupFold:
    event = first.event
    return FollowupFold(
        n=event.data["followup"],
        entry_n=event.n,
        text="" if first.redacted is not None or event.redacted else first.text,
        link=event.link,
        phase=MADE[event.kind],
        by_id=event.by_id,
        made_at=event.at,
        owner_id=event.data.get("owner"),
        due_on=_day(event.data),
    )


def _changed(now: FollowupFold, entry: TimelineEntry) -> FollowupFold:
    event = entry.event
    if event.kind == "followup_given":
        return replace(now, owner_id=event.data.get("owner"))
    if event.kind == "followup_due":
        return replace(now, due_on=_day(event.data))
    if event.kind == "followup_tracked":
        return replace(now, ticket=event.data.get("ticket", ""), ticket_url=event.link)
    if event.kind == "followup_reopened":
        return replace(now, state=State.OPEN, ended_at=None)
    return replace(now, state=State.DONE if event.kind == "followup_done" else State.DROPPED, ended_at=event.at)


def _day(data: dict[str, Any]) -> date | None:
    return date.fromisoformat(data["due"]) if data.get("due") else None
