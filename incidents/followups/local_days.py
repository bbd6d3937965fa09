"""Which day it is where somebody is: what is due by a day is late once that day is over there."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

from incidents.models import Person


def today_of(person: Person, *, at: datetime) -> date:
    """Return the day it is where someone is, as the chat last said; in UTC where it never did."""
    return today_in(person.zone, at=at)


def today_in(zone: str, *, at: datetime) -> date:
    """Return the day it is in a time zone; in UTC for one that this machine does not know."""
    try:
        return at.astimezone(ZoneInfo(zone or "UTC")).date()
    except (ValueError, OSError, KeyError):
        return at.date()
