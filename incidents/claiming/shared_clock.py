"""The database's clock, by which processes agree when a claim ends and when a try is due.

The clock of a machine may be a minute off, and be set right while a vendor is being asked: a claim that was written
by the one and read by the other would seem to have ended, and be done twice.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection

STEP_S: Final = 1.0  # more than this is no drift
NONE: Final = timedelta(0)


class SharedClock:
    """How far this process's clock is off the database's: measured again whenever it was set meanwhile."""

    def __init__(self) -> None:
        self._offset = NONE
        self._since = _set_at()

    def at(self, here: datetime) -> datetime:
        """Return a time of this process's clock as the database's tells it; asks once the clock was set."""
        if abs(_set_at() - self._since) > STEP_S:
            self.measure()
        return here + self._offset

    def measure(self) -> None:
        """Ask the database for its time. Raises `OperationalError` while it is away."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            offset: timedelta = cursor.fetchone()[0] - datetime.fromtimestamp(time.time(), UTC)
        self._since = _set_at()
        self._offset = offset if abs(offset.total_seconds()) > STEP_S else NONE


def _set_at() -> float:
    """Return what only changes when the clock is set: it goes on as a timer does."""
    return time.time() - time.monotonic()


clock = SharedClock()
