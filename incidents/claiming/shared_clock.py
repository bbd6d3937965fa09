"""The database's clock, by which processes agree when a claim ends and when a try is due.

A machine's clock may be a minute off and be corrected while a vendor is being called. A claim written by one clock and
read by another would then seem to have expired, and the work would be done twice.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection

STEP_S: Final = 1.0  # a larger step is not drift: the clock was set
NONE: Final = timedelta(0)


class SharedClock:
    """The offset between this process's clock and the database's, measured again whenever the local clock was set."""

    def __init__(self) -> None:
        self._offset = NONE
        self._since = _set_at()

    def at(self, here: datetime) -> datetime:
        """Convert a time of this process's clock to the database's; asks the database if the clock was set."""
        if abs(_set_at() - self._since) > STEP_S:
            self.measure()
        return here + self._offset

    def measure(self) -> None:
        """Ask the database for its time. Raises `OperationalError` while it is unavailable."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            offset: timedelta = cursor.fetchone()[0] - datetime.fromtimestamp(time.time(), UTC)
        self._since = _set_at()
        self._offset = offset if abs(offset.total_seconds()) > STEP_S else NONE


def _set_at() -> float:
    """Return wall time minus monotonic time, which changes only when the clock is set."""
    return time.time() - time.monotonic()


clock = SharedClock()
