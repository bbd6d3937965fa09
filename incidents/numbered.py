"""Numbers as buttons, links, forms and open pages bear them: each with the moment of what it numbers.

A database that lost its last moments, by a failover or a restore, gives their numbers out again: what bears one outside
would be about something else from then on. No moment comes again.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from django.db.models import Model, QuerySet

SINCE: Final = datetime(2020, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
MOMENTS: Final = 1 << 64
BORNE: Final = re.compile(r"(?P<n>[0-9]{1,15})(?:-(?P<moment>[0-9a-f]{1,16}))?", re.ASCII)
Row = TypeVar("Row", bound=Model)


def written(n: int, at: datetime) -> str:
    """Write a number with its moment, as ``12-c6ab5f3d1e24``."""
    return f"{n}-{_moment(at)}"


def read(text: object) -> int | None:
    """Return the number alone; None for what is none."""
    borne = BORNE.fullmatch(str(text))
    return int(borne["n"]) if borne else None


def fits(text: object, at: datetime) -> bool:
    """Return whether a number may be that of something from a moment; typed by hand it bears none, and may be any."""
    borne = BORNE.fullmatch(str(text))
    return borne is not None and borne["moment"] in {None, _moment(at)}


def found(rows: QuerySet[Row], text: object, *, n: str = "n", at: str = "at") -> Row | None:
    """Return the row that is meant, by the names of its columns; None when there is none, or it is another one now."""
    row = rows.filter(**{n: read(text) or 0}).first()
    return row if row is not None and fits(text, getattr(row, at)) else None


def _moment(at: datetime) -> str:
    return f"{(at - SINCE) // MICROSECOND % MOMENTS:x}"  # also of what was said before: an entry may be of long ago
