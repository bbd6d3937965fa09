"""Numbers in buttons, links, forms and open pages, each together with the moment of what it numbers.

A database that lost its last moments, in a failover or a restore, hands out their numbers again, and a button with one
of those numbers would then be about something else. Moments do not repeat.
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
    """Format a number with its moment, as ``12-c6ab5f3d1e24``."""
    return f"{n}-{_moment(at)}"


def read(text: object) -> int | None:
    """Return only the number; None if the text has another form."""
    borne = BORNE.fullmatch(str(text))
    return int(borne["n"]) if borne else None


def fits(text: object, at: datetime) -> bool:
    """Return whether a number may be that of something from a moment; one typed without a moment always fits."""
    borne = BORNE.fullmatch(str(text))
    return borne is not None and borne["moment"] in {None, _moment(at)}


def found(rows: QuerySet[Row], text: object, *, n: str = "n", at: str = "at") -> Row | None:
    """Return the row with this number; None if there is none, or if another row has the number now.

    ``n`` and ``at`` name the columns of the number and the moment.
    """
    row = rows.filter(**{n: read(text) or 0}).first()
    return row if row is not None and fits(text, getattr(row, at)) else None


def _moment(at: datetime) -> str:
    return f"{(at - SINCE) // MICROSECOND % MOMENTS:x}"  # the modulo covers entries from before SINCE
