"""Whether something was done lately, by a mark that may be of a clock that was ahead.

Such a mark lies in the future. Taken for recent until then, it would hold up whatever is done again every so often.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q


def is_recent(mark: datetime | None, *, at: datetime, within: timedelta) -> bool:
    """Return whether a mark was made within so long before a moment, or may be of a clock that is not off by more."""
    return mark is not None and abs(at - mark) < within


def recently(field: str, *, at: datetime, within: timedelta) -> Q:
    """Return what is so of rows whose mark ``is_recent``: there is one, and it lies so close to the moment."""
    return Q(**{f"{field}__isnull": False, f"{field}__gt": at - within, f"{field}__lt": at + within})
