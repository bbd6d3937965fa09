"""Send hints to the workers, without ever waiting for a broker that is away."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final, Protocol

from django.conf import settings
from kombu import Connection
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
    """Offer what looks find, and hints that the broker does not take, to this process first: it may do them."""
    _takers.append(taken)


def found(task: HintTask, pk: int, *, fresh_s: float) -> None:
    """Have done what a look found: here, if this process does such work, since no hint has brought it about."""
    if not _taken(task, pk):
        send(task, pk, fresh_s=fresh_s)


def send(task: HintTask, pk: int, *, fresh_s: float) -> None:
    """Ask a worker to do a task about a row soon; after ``fresh_s`` the hint is void. Losing one loses nothing.

    The first hint that a broker does not take costs its time-out. From then on hints are dropped, or done here where
    this process does such work, but for one every few seconds that is sent from a thread of its own, until the broker
    takes one again.
    """
    if broker.open_since is None:
        if not _send(task, pk, fresh_s):
            _taken(task, pk)
        return
    _taken(task, pk)
    if broker.probes():
        threading.Thread(target=_send, args=(task, pk, fresh_s), name="hint", daemon=True).start()


def heard(error: BaseException | None) -> None:
    """Report what became of the last thing that was asked of the broker: nothing, or why it failed."""
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
    """Return what says that the broker is away or refuses us, in the words of its client's library as well."""
    broker = Connection(settings.FIREKIND.broker_url)
    return (OperationalError, OSError, *broker.connection_errors, *broker.channel_errors)
