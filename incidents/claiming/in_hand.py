"""The leased work a thread has in hand, checked before each request.

A worker may be stopped for longer than its lease lasts (its host is suspended, moved, or out of memory) between any two
steps. By the time it continues, another worker may have done the work, or the work may no longer be wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from incidents.outages import spare_connections


class OutOfHand(Exception):
    """Another worker has this work now, or it was given back: send no more requests for it, and record nothing."""


@dataclass(slots=True)
class InHand:
    """Work of this thread: whether it is still ours, and still wanted.

    Whether it is wanted stops mattering once a request wrote something. ``wrote_before`` tells whether a request before
    the latest one did, or may have.
    """

    is_ours: Callable[[], bool]
    is_wanted: Callable[[], bool]
    wrote: bool = False
    wrote_before: bool = False

    def look(self) -> None:
        """Raise ``OutOfHand`` if the next request must not be sent."""
        if not self.is_ours() or not (self.wrote_before or self.is_wanted()):
            raise OutOfHand


_current: Final[ContextVar[InHand | None]] = ContextVar("in_hand", default=None)


@contextmanager
def working(*, is_ours: Callable[[], bool], is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Have every request that this thread sends inside the block check its work first."""
    before = _current.set(InHand(is_ours, is_wanted))
    try:
        yield
    finally:
        _current.reset(before)


def before_request(*, writes: bool) -> None:
    """Check the work just before asking a vendor, and give this thread's database connection back.

    Raises ``OutOfHand``.
    """
    now = _current.get()
    if now is not None:
        now.wrote_before = now.wrote
        now.look()
        now.wrote = now.wrote or writes
    spare_connections.give_back()


def nothing_done() -> None:
    """Record that the latest request did nothing: it was refused, or never sent."""
    now = _current.get()
    if now is not None:
        now.wrote = now.wrote_before


def before_sending() -> None:
    """Check again now that there is a connection: resolving the name and the handshake may have taken seconds.

    Raises ``OutOfHand``.
    """
    now = _current.get()
    if now is not None:
        now.look()
        spare_connections.give_back()
