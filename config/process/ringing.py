"""Celery's schedule of rings, sent over connections that everyone in the process shares."""

from typing import Any

from celery.beat import Scheduler


class RingScheduler(Scheduler):
    """Sends each ring as hints are sent, and sleeps until it is due.

    Celery's own keeps one channel for good: once RabbitMQ was away nothing was rung any more, and at the start it
    waits for a broker that is away.
    """

    @property
    def producer(self) -> Any:
        """None: whoever sends takes a connection from the pool, which makes another where one is dead."""
        return None

    def adjust(self, n: float, drift: float = 0.0) -> float:
        """Return how long to sleep in seconds: the whole time until a ring is due.

        Celery's own wakes 10 ms early and then asks without sleeping until it is due.
        """
        return n + drift
