"""Act on many rows, each by itself: one that cannot be acted on keeps no other from its turn."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from incidents.outages import database_watch

log = logging.getLogger(__name__)
Thing = TypeVar("Thing")


def each(things: Iterable[Thing], act: Callable[[Thing], object], *, what: str) -> int:
    """Act on one after the other; return of how many it gave anything true.

    What raises is logged, and left for the next time, when it may be mended. Where the database is away nothing more is
    asked of it; where it is well and ended what was asked, the others are.
    """
    done = 0
    for one in things:
        try:
            done += bool(act(one))
        except Exception as error:  # a fault of ours at one row, of any kind, is what the others are kept from
            if database_watch.says_so(error) and not database_watch.has_ended(error):
                raise
            log.exception("%s: the others go on without one", what)
    return done
