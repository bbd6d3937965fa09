"""Django's backend by our settings, with a pool so small that tests can use all of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from config.postgresql.base import DatabaseWrapper


@contextmanager
def small_pool(most: int, *, alias: str) -> Iterator[DatabaseWrapper]:
    """Open a pool of at most so many connections, for which callers wait 0.2 s; close it afterwards."""
    given = connection.settings_dict
    options = {**given["OPTIONS"], "pool": {"min_size": 1, "max_size": most, "timeout": 0.2}}
    made = DatabaseWrapper({**given, "OPTIONS": options}, alias=alias)
    made.pool.open(wait=True)
    yield made
    made.close_pool()
