"""Polled states are noted alongside the ids of events, so that neither is reported twice. Pure.

A poll shows since when a page has its status, mostly to the second. An event with that status and about that time is
the same news: the pager may time the event a moment before or after the status.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from workflows.oncall.pager_events import PagerEvent, latest

PREFIX: Final = "look"
PASSED: Final = "passed"  # noted when someone else was found to be paged
APART: Final = timedelta(seconds=1)  # the times that the pager gives to one change
ON: Final = {"escalated", "reassigned", "delegated"}  # the kinds of news that report it


def note(status: str, *, since: datetime, until: datetime) -> str:
    """Return the note that a status, or who is paged, was found, having changed between two moments."""
    return f"{PREFIX} {status} {since.isoformat()} {until.isoformat()}"


def span(at: datetime) -> tuple[datetime, datetime]:
    """Return the earliest and latest moment of something whose time is known to the second."""
    return at.replace(microsecond=0), latest(at)


def told(notes: Iterable[str], news: PagerEvent) -> bool:
    """Return whether news only repeats what polling found before."""
    return any(_covers(note, news) for note in notes if note.startswith(f"{PREFIX} "))


def _covers(note: str, news: PagerEvent) -> bool:
    _, status, since, until = note.split()
    if status != (news.status or (PASSED if news.kind in ON else "")):
        return False
    return datetime.fromisoformat(since) - APART <= news.at <= datetime.fromisoformat(until) + APART
