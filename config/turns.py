"""Pages go before doors: someone who reads during a storm of declarations waits no longer than on a quiet day.

Slack gives a door three seconds; a person at a page feels a tenth of one. A declaration brings some twenty deliveries
after it (who joined, what was posted), which nobody waits for.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

DOORS_SHARE = 0.15  # of this process's time, while somebody reads
PATIENCE_S = 1.0  # no door waits longer than this for its turn
LEARNING = 0.1


class Turns:
    """Whose turn it is, in one event loop."""

    def __init__(self) -> None:
        self._reading = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._line = asyncio.Lock()  # first come, first served
        self._free_at = 0.0
        self._door_takes_s = 0.002

    @contextmanager
    def page(self) -> Iterator[None]:
        """Note that a page is being answered for as long as the block lasts."""
        self._reading += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._reading -= 1
            if not self._reading:
                self._quiet.set()

    async def wait(self) -> None:
        """Wait for a door's turn: none while nobody reads, else until doors have not had more than their share."""
        gives_up_at = time.monotonic() + PATIENCE_S
        async with self._line:
            wait_s = min(self._free_at, gives_up_at) - time.monotonic()
            if wait_s > 0:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._quiet.wait(), wait_s)
            self._free_at = max(self._free_at, time.monotonic()) + self._door_takes_s / DOORS_SHARE

    def door_took(self, seconds: float) -> None:
        """Learn how much computing a door takes."""
        self._door_takes_s += (seconds - self._door_takes_s) * LEARNING
