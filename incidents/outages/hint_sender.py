"""Send hints to the workers, without ever waiting for a broker that is away."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from django.conf import settings
from kombu import Connection
from kombu.exceptions import OperationalError

from incidents.outages.breaker import Breaker

log = logging.getLogger(__name__)

PROBE_S: Final = 2.0


class HintTask(Protocol):
    """A Celery task about one row, as far as it is used here."""

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
    """Offer this process first what looks find, and hints that the broker does not take: it may do that work itself."""
    _takers.append(taken)


def found(task: HintTask, pk: int, *, fresh_s: float) -> None:
    """Have work that a look found done: here, if this process does such work, because no hint has brought it about."""
    if not _taken(task, pk):
        send(task, pk, fresh_s=fresh_s)


def send(task: HintTask, pk: int, *, fresh_s: float) -> None:
    """Ask a worker to run a task about a row soon; the hint expires after ``fresh_s``. Losing one loses nothing.

    The first hint that the broker does not take costs its time-out. After that, hints are dropped, or done here if this
    process does such work. One hint every few seconds is still sent, from a thread of its own, until the broker takes
    one again.
    """
    if broker.open_since is None:
        if not _send(task, pk, fresh_s):
            _taken(task, pk)
        return
    _taken(task, pk)
    if broker.probes():
        with suppress(RuntimeError):  # no thread can be had: the next hint may find out
            threading.Thread(target=_send, args=(task, pk, fresh_s), name="hint", daemon=True).start()


def heard(error: BaseException | None) -> None:
    """Report the outcome of the last request to the broker: None, or why it failed."""
    if error is None:
        if broker.open_since is not None:
            log.warning("the broker takes hints again")
            broker.worked()
    elif broker.failed():
        log.warning("the broker does not take hints (%s); the workers look by themselves", type(error).__name__)


def _taken(task: HintTask, pk: int) -> bool:
    return any(taken(task, pk) for taken in _takers)


def _send(task: HintTask, pk: int, fresh_s: float) -> bool:
    try:
        task.apply_async((pk,), expires=fresh_s, retry=False)
    except refusals() as error:
        heard(error)
        return False
    heard(None)
    return True


def refusals() -> tuple[type[BaseException], ...]:
    """Return the errors that mean that the broker is away or refuses us, including those of its client library."""
    broker = Connection(settings.FIREKIND.broker_url)
    return (OperationalError, OSError, *broker.connection_errors, *broker.channel_errors)
