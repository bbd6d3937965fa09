"""A database connection that is kept for one purpose, whatever else its process does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.db import DEFAULT_DB_ALIAS, Error, connections

from incidents.outages import database_watch

ONE: Final = {"min_size": 0, "max_size": 1}


@contextmanager
def kept_for(purpose: str) -> Iterator[None]:
    """Have this thread use a connection that other threads can't take, from a pool of one named after its purpose.

    The process's own pool may have none to give for as long as every thread waits for the same row. Without a pool each
    thread has a connection of its own anyway.
    """
    ours = connections[DEFAULT_DB_ALIAS]
    options = ours.settings_dict["OPTIONS"]
    if "pool" not in options:
        yield
        return
    apart = {**ours.settings_dict, "OPTIONS": {**options, "pool": {**options["pool"], **ONE}}}
    own = connections[purpose] = connections[DEFAULT_DB_ALIAS] = type(ours)(apart, purpose)
    try:
        yield
    except Error:
        database_watch.renew_pool()
        raise
    finally:
        own.close()
        connections[DEFAULT_DB_ALIAS] = ours
        del connections[purpose]
