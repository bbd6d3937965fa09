"""Whether something was done recently, by a timestamp that may come from a clock that was ahead.

Such a timestamp lies in the future. Counting as recent until then, it would hold up work that recurs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from django.db.models import F, Model, Q, QuerySet

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Pause:
    """A period in which nothing is asked again. It ends early if the clock is set back to before it began."""

    since: datetime
    until: datetime

    def lasts(self, *, at: datetime) -> bool:
        """Return whether it is still on at a moment."""
        return self.since <= at < self.until


def is_recent(mark: datetime | None, *, at: datetime, within: timedelta) -> bool:
    """Return whether a timestamp lies within a period before a moment, or less than that after it (a fast clock)."""
    return mark is not None and abs(at - mark) < within


def recently(field: str, *, at: datetime, within: timedelta) -> Q:
    """Return the condition for rows whose timestamp ``is_recent``: it is set, and close enough to the moment."""
    return Q(**{f"{field}__isnull": False, f"{field}__gt": at - within, f"{field}__lt": at + within})


def not_looked_at(rows: QuerySet[Row], *, known_since: str, at: datetime, within: timedelta) -> QuerySet[Row]:
    """Return rows that were neither looked at nor discovered recently, those not looked at for longest first.

    ``known_since`` names the field that holds when a row was discovered; ``looked_at`` holds its last look.
    """
    looked = recently("looked_at", at=at, within=within)
    known = Q(looked_at=None) & recently(known_since, at=at, within=within)
    return rows.exclude(looked).exclude(known).order_by(F("looked_at").asc(nulls_first=True), "pk")
