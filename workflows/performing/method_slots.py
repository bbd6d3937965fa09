"""How many calls of one method may wait for an answer, so that a silent one takes few of a vendor's threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from incidents.outages import spare_connections

SILENT_S: Final = 2.0  # a call without an answer for this long is not waited for by others of its method


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """A call without an answer, and when it began, by a monotonic clock."""

    at: float


class MethodSlots:
    """Lets ``at_once`` calls of each method begin.

    While answers arrive, further calls wait for their turn. While a method is silent, they are refused at once: their
    threads are needed for methods that answer.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._begun: dict[Hashable, list[_Call]] = {}  # when each call began, by method
        self._changed = threading.Condition()

    @contextmanager
    def one(self, method: Hashable) -> Iterator[bool]:
        """Wait for a slot, hold it during the block, and yield whether there was one. Waiting needs no connection."""
        call = self._taken(method)
        try:
            yield call is not None
        finally:
            if call is not None:
                with self._changed:
                    self._begun[method].remove(call)
                    self._changed.notify_all()

    def _taken(self, method: Hashable) -> _Call | None:
        with self._changed:
            while len(begun := self._begun.setdefault(method, [])) >= self._at_once:
                wait_s = begun[0].at + SILENT_S - time.monotonic()
                if wait_s <= 0:
                    return None
                spare_connections.give_back()
                self._changed.wait(wait_s)
            begun.append(call := _Call(time.monotonic()))
            return call
