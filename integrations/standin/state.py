"""Every stand-in's state behind its one lock: clock, ids, a version, faults, and the deliveries for the app."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import RLock
from typing import ClassVar, Final, Generic, TypeVar

from integrations.standin.faults import Fault, InForce, Struck

OUTBOX: Final = 20_000
"""Deliveries kept while nobody takes them."""

Delivery = TypeVar("Delivery")


class StandInState(Generic[Delivery, Fault]):
    """The state that is the same for every vendor: `clock` gives seconds since 1970 and is the only source of time."""

    ID_DIGITS: ClassVar[int] = 8

    def __init__(self, *, clock: Callable[[], float], base_url: str, faults: InForce[Fault]) -> None:
        self.lock = RLock()
        self.now = clock
        self.base_url = base_url
        self.faults = faults
        self.on_delivery: Callable[[], None] | None = None
        self.on_change: Callable[[], None] | None = None
        self.version = 0
        self._serial = 0
        self._deliveries = 0
        self._outbox: deque[Delivery] = deque(maxlen=OUTBOX)

    def next_id(self, prefix: str) -> str:
        """Return an id that was never used before in this stand-in."""
        self._serial += 1
        return f"{prefix}0{self._serial:0{self.ID_DIGITS}X}"

    def serial(self) -> int:
        """Return how many ids were issued."""
        return self._serial

    def strike(self, *asked: str) -> Struck[Fault]:
        """Return the effect of the active faults on one call."""
        with self.lock:
            return self.faults.strike(*asked)

    def changed(self) -> None:
        """Record that something changed, for pages and snapshots."""
        self.version += 1
        if self.on_change:
            self.on_change()

    def next_delivery(self) -> int:
        """Return the number of the next delivery."""
        self._deliveries += 1
        return self._deliveries

    def queue(self, *deliveries: Delivery) -> None:
        """Queue deliveries until they are taken, and notify the courier."""
        self._outbox.extend(deliveries)
        if self.on_delivery:
            self.on_delivery()

    def take_deliveries(self) -> list[Delivery]:
        """Return the deliveries queued since the last call, oldest first."""
        with self.lock:
            taken = list(self._outbox)
            self._outbox.clear()
            return taken
