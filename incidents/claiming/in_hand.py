"""What a thread has in hand by a lease, looked at before each request.

A worker may be stopped for longer than its lease lasts (its host is suspended, moved, or out of memory), between any
two of its steps. When it goes on, another has done its work, or nobody wants it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from incidents.outages import spare_connections


class OutOfHand(Exception):
    """This work is another worker's by now, or was given back: nothing more is asked for it, and nothing recorded."""


@dataclass(slots=True)
class InHand:
    """Work of this thread: whether it is still ours, and still wanted.

    That it is wanted no longer matters once a request wrote something.
    ``wrote_before`` is whether one before the latest did, or may have done.
    """

    is_ours: Callable[[], bool]
    is_wanted: Callable[[], bool]
    wrote: bool = False
    wrote_before: bool = False

    def look(self) -> None:
        """Raise ``OutOfHand`` where the next request is not to be sent."""
        if not self.is_ours() or not (self.wrote_before or self.is_wanted()):
            raise OutOfHand


_current: Final[ContextVar[InHand | None]] = ContextVar("in_hand", default=None)


@contextmanager
def working(*, is_ours: Callable[[], bool], is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Have every request of this thread look at its work first, for as long as the block lasts."""
    before = _current.set(InHand(is_ours, is_wanted))
    try:
        yield
    finally:
        _current.reset(before)


def before_request(*, writes: bool) -> None:
    """Get ready to ask someone outside, as late as can be, and give this thread's connection back.

    Raises ``OutOfHand``.
    """
    now = _current.get()
    if now is not None:
        now.wrote_before = now.wrote
        now.look()
        now.wrote = now.wrote or writes
    spare_connections.give_back()


def nothing_done() -> None:
    """Note that the latest request did nothing: it was refused, or never sent."""
    now = _current.get()
    if now is not None:
        now.wrote = now.wrote_before


def before_sending() -> None:
    """Look once more, now that there is a connection: a resolver and a handshake may have taken seconds.

    Raises ``OutOfHand``.
    """
    now = _current.get()
    if now is not None:
        now.look()
        spare_connections.give_back()
