"""Carries what a stand-in has to tell to the app, and lists every attempt; how often to try is the vendor's."""

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
    """One attempt to deliver, a dataclass: ``n`` is the delivery's number."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    n: int


Sent = TypeVar("Sent", bound=Attempt)


class Carrier(ABC, Generic[Delivery, Sent]):
    """Carries deliveries lane by lane, several lanes at once, and keeps the last attempts."""

    def __init__(self, told: StandInState[Delivery, Any], *, at_once: int, kept: int) -> None:
        self._told = told
        self._lanes = Lanes(at_once=at_once)
        self.sent: deque[Sent] = deque(maxlen=kept)

    @abstractmethod
    def _lane(self, delivery: Delivery) -> str:
        """Return what a delivery shares with those that it must not overtake."""

    @abstractmethod
    async def _carry(self, delivery: Delivery) -> None:
        """Deliver, as often as the vendor would try."""

    def collect(self) -> None:
        """Start carrying what waits. Called whenever there is more."""
        for delivery in self._told.take_deliveries():
            self._lanes.put(self._lane(delivery), partial(self._carry, delivery))

    async def idle(self, timeout_s: float) -> bool:
        """Wait until nothing is under way; what rests before it is tried again does not count.

        Returns whether that came true in time.
        """
        return await self._lanes.idle(timeout_s)

    @property
    def unfinished(self) -> int:
        """How many lanes still have something to deliver, those included that rest before it is tried again."""
        return self._lanes.unfinished

    def hurry(self) -> None:
        """Try again now what rests."""
        self._lanes.hurry()

    def log(self, *, since: int = 0) -> list[dict[str, Any]]:
        """List the attempts made for deliveries after number `since`."""
        return [asdict(sent) for sent in self.sent if sent.n > since]

    @contextlib.asynccontextmanager
    async def at_work(self, keeper: SnapshotKeeper) -> AsyncIterator[None]:
        """Carry deliveries, and keep the stand-in in its file, for as long as the block lasts."""
        self._told.on_delivery = self.collect
        watching = asyncio.create_task(keeper.watch())
        try:
            yield
        finally:
            watching.cancel()
            await self._lanes.close()
            keeper.save()
