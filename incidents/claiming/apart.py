"""Act on many rows independently: a row that fails does not keep the others from their turn."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from incidents.outages import database_watch

log = logging.getLogger(__name__)
Thing = TypeVar("Thing")


def each(things: Iterable[Thing], act: Callable[[Thing], object], *, what: str) -> int:
    """Act on each thing in order; return how many calls returned something true.

    Whatever raises is logged and left for the next run, when it may work again. If the database is away, this stops and
    raises. If the database is well and only ended that one query, the remaining things still get their turn.
    """
    done = 0
    for one in things:
        try:
            done += bool(act(one))
        except Exception as error:  # any fault of ours at one row must not hold up the others
            if database_watch.says_so(error) and not database_watch.has_ended(error):
                raise
            log.exception("%s: the others go on without one", what)
    return done
