"""Send hints to the workers, without ever waiting for a broker that is away."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final, Protocol

from kombu.exceptions import OperationalError

from incidents.outages.breaker import Breaker

log = logging.getLogger(__name__)

PROBE_S: Final = 2.0


class HintTask(Protocol):
    """A Celery task about one row, as far as it is needed here."""

    @property
    def name(self) -> str:
        """The name by which workers know it."""
        ...

    @property
    def apply_async(self) -> Callable[..., object]:
        """Queue it."""
        ...


TakenHere = Callable[[HintTask, int], bool]

broker = Breaker(probe_s=PROBE_S)
_takers: list[TakenHere] = []


def take_here(taken: TakenHere) -> None:
    """Offer each hint of this process to it first: a worker that hears nothing from the broker does the work itself."""
    _takers.append(taken)


def send(task: HintTask, pk: int, *, fresh_s: float) -> None:
    """Ask a worker to do a task about a row soon; after ``fresh_s`` the hint is void. Losing one loses nothing.

    The first hint that a broker does not take costs its time-out. From then on hints are dropped, but for one every
    few seconds that is sent from a thread of its own, until the broker takes one again.
    """
    if any(taken(task, pk) for taken in _takers):
        return
    if broker.open_since is None:
        _send(task, pk, fresh_s)
    elif broker.probes():
        threading.Thread(target=_send, args=(task, pk, fresh_s), name="hint", daemon=True).start()


def _send(task: HintTask, pk: int, fresh_s: float) -> None:
    try:
        task.apply_async((pk,), expires=fresh_s, retry=False)
    except (OperationalError, OSError) as error:
        if broker.failed():
            log.warning("the broker does not take hints (%s); the workers look by themselves", type(error).__name__)
        return
    if broker.open_since is not None:
        log.warning("the broker takes hints again")
        broker.worked()
