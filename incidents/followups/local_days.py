"""What day it is where someone is: what is due on a day is late once that day is over there."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

from incidents.models import Person


def today_of(person: Person, *, at: datetime) -> date:
    """Return the day it is where someone is, by the time zone last read from the chat; UTC if there is none."""
    return today_in(person.zone, at=at)


def today_in(zone: str, *, at: datetime) -> date:
    """Return the day it is in a time zone; UTC for a zone this machine does not know."""
    try:
        return at.astimezone(ZoneInfo(zone or "UTC")).date()
    except (ValueError, OSError, KeyError):
        return at.date()
