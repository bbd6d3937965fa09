"""Whether something was done lately, by a mark that may be of a clock that was ahead.

Such a mark lies in the future. Taken for recent until then, it would hold up whatever is done again every so often.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeVar

from django.db.models import F, Model, Q, QuerySet

Row = TypeVar("Row", bound=Model)


def is_recent(mark: datetime | None, *, at: datetime, within: timedelta) -> bool:
    """Return whether a mark was made within so long before a moment, or may be of a clock that is not off by more."""
    return mark is not None and abs(at - mark) < within


def recently(field: str, *, at: datetime, within: timedelta) -> Q:
    """Return what is so of rows whose mark ``is_recent``: there is one, and it lies so close to the moment."""
    return Q(**{f"{field}__isnull": False, f"{field}__gt": at - within, f"{field}__lt": at + within})


def not_looked_at(rows: QuerySet[Row], *, known_since: str, at: datetime, within: timedelta) -> QuerySet[Row]:
    """Return rows neither looked at nor come to be known so lately, the oldest look first.

    ``known_since`` is the field that says since when a row is known; ``looked_at`` holds its last look.
    """
    looked = recently("looked_at", at=at, within=within)
    known = Q(looked_at=None) & recently(known_since, at=at, within=within)
    return rows.exclude(looked).exclude(known).order_by(F("looked_at").asc(nulls_first=True), "pk")
