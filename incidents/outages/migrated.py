"""Whether the database has this version's tables: a process may start before the database is migrated."""

from __future__ import annotations

import logging
import threading
import time
from functools import lru_cache
from typing import Final

from django.db import DEFAULT_DB_ALIAS, Error, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from incidents.outages import database_watch

log = logging.getLogger(__name__)

NOT_THERE: Final = ("42P01", "42703")  # a table or a column
AGAIN_S: Final = 2.0  # between two checks
MEND: Final = "The database lacks migrations of this version: run `python -m stack prepare`."
_lock = threading.Lock()
_migrated: list[bool] = []  # set once all are applied: for this process's code, that cannot change
_missed_at: list[float] = []


def is_migrated() -> bool:
    """Return whether all migrations of this version are applied. Raises `Error` if the database cannot be read."""
    with _lock:
        if not _migrated and not (_missed_at and time.monotonic() - _missed_at[-1] < AGAIN_S):
            _look()
        return bool(_migrated)


def is_missed_by(error: BaseException | None) -> bool:
    """Return whether a statement failed because a migration is missing, and not because of a bug of ours."""
    if database_watch.state_of(error) not in NOT_THERE:
        return False
    try:
        return not is_migrated()
    except Error:
        return False


def _look() -> None:
    asking = connections.create_connection(DEFAULT_DB_ALIAS)  # the caller's own may be in a failed transaction
    try:
        is_missing = not ours() <= MigrationRecorder(asking).applied_migrations().keys()
    finally:
        asking.close()
    if is_missing:
        if not _missed_at:
            log.error(MEND)
        _missed_at[:] = [time.monotonic()]
    else:
        _migrated.append(True)


@lru_cache(maxsize=1)
def ours() -> frozenset[tuple[str, str]]:
    """Return app and name of each migration of this version. Cached: reading them all takes most of a second."""
    return frozenset(MigrationLoader(None).disk_migrations)
