"""Sends a stand-in's deliveries to the app, and lists every attempt. The vendor's courier decides on retries."""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import asdict
from functools import partial
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from integrations.sandbox.keeping import SnapshotKeeper
from integrations.sandbox.lanes import Lanes
from integrations.standin.state import Delivery, StandInState


class Attempt(Protocol):
    """One delivery attempt, a dataclass; ``n`` is the delivery's number."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    n: int


Sent = TypeVar("Sent", bound=Attempt)


class Carrier(ABC, Generic[Delivery, Sent]):
    """Sends deliveries lane by lane, several lanes at once, and keeps the last attempts."""

    def __init__(self, told: StandInState[Delivery, Any], *, at_once: int, kept: int) -> None:
        self._told = told
        self._lanes = Lanes(at_once=at_once)
        self.sent: deque[Sent] = deque(maxlen=kept)

    @abstractmethod
    def _lane(self, delivery: Delivery) -> str:
        """Return the key that a delivery shares with those it must not overtake."""

    @abstractmethod
    async def _carry(self, delivery: Delivery) -> None:
        """Deliver, retrying as the vendor would."""

    def collect(self) -> None:
        """Start sending queued deliveries; called whenever there are more."""
        for delivery in self._told.take_deliveries():
            self._lanes.put(self._lane(delivery), partial(self._carry, delivery))

    async def idle(self, timeout_s: float) -> bool:
        """Wait until no delivery is in progress, not counting those that wait for a retry.

        Returns whether that happened in time.
        """
        return await self._lanes.idle(timeout_s)

    @property
    def unfinished(self) -> int:
        """How many lanes still have something to deliver, including those that wait for a retry."""
        return self._lanes.unfinished

    def hurry(self) -> None:
        """Retry now whatever waits for a retry."""
        self._lanes.hurry()

    def log(self, *, since: int = 0) -> list[dict[str, Any]]:
        """List the attempts for deliveries after number `since`."""
        return [asdict(sent) for sent in self.sent if sent.n > since]

    @contextlib.asynccontextmanager
    async def at_work(self, keeper: SnapshotKeeper) -> AsyncIterator[None]:
        """Send deliveries and save the stand-in to its file, for the length of the block."""
        self._told.on_delivery = self.collect
        watching = asyncio.create_task(keeper.watch())
        try:
            yield
        finally:
            watching.cancel()
            await self._lanes.close()
            keeper.save()
