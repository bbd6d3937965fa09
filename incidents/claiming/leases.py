"""Rows that several workers compete for: every race over them is handled here, and nowhere else.

Work that calls a vendor takes a row by a *lease*: the claim is committed, renewed while its worker lives, and fenced by
a token, so that a worker that was given up for dead records nothing. Work in a single transaction takes a row by
*holding* it: the claim ends with the transaction, however that ends.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Generic, Protocol, TypeVar

from django.db import Error, connection, transaction
from django.db.models import F, Manager, Model, Q, QuerySet
from django.utils import timezone

from incidents.claiming import apart
from incidents.claiming.shared_clock import clock

log = logging.getLogger(__name__)

Row = TypeVar("Row", bound=Model)
# What a claim changes, for callers that choose rows in SQL: the next token fences off the previous holder.
CLAIMED: Final = "token = token + 1, unanswered = unanswered + 1, leased_until = %(lease)s"
MINE: Final = "WHERE id = %s AND token = %s AND state = %s"
ALONE: Final = "SELECT pg_try_advisory_xact_lock(hashtext(%s), hashtext(%s))"


class Leased(Protocol):
    """A row as it was claimed: ``token`` is the claim's number, ``leased_until`` how long it holds without being
    renewed.
    """

    pk: Any
    token: Any
    leased_until: Any


@dataclass(frozen=True, slots=True)
class Leases(Generic[Row]):
    """The claims on the rows of one queue, which are in the state ``working`` while they are claimed.

    ``length`` is how long a claim outlives its worker. It is renewed ``beats`` times within that, so that a slow
    database does not lose the claim.
    """

    rows: Manager[Row]
    working: str
    length: Callable[[], timedelta]
    beats: int

    def free(self, *, at: datetime) -> QuerySet[Row]:
        """Return rows to work on that no worker holds, or whose lease has expired."""
        return self.free_by(clock.at(at))

    def free_by(self, now: datetime) -> QuerySet[Row]:
        """Return the same as ``free``, given a moment of the clock that all processes share."""
        return self.rows.filter(Q(leased_until=None) | Q(leased_until__lt=now), state=self.working)

    def until(self, at: datetime) -> datetime:
        """Return when a claim made now expires, by the clock that all processes share."""
        return clock.at(at) + self.length()

    def take(self, pk: int, *, at: datetime) -> bool:
        """Claim a free row; return whether this worker has it."""
        counts = {"token": F("token") + 1, "unanswered": F("unanswered") + 1}
        return bool(self.free(at=at).filter(pk=pk).update(leased_until=self.until(at), **counts))

    def mine(self, row: Leased) -> QuerySet[Row]:
        """Return the row if its claim still holds: no other worker took it over, and no outcome was recorded."""
        return self.rows.filter(pk=row.pk, token=row.token, state=self.working)

    def record(self, row: Leased, *, asking: str = "TRUE", **values: Any) -> bool | None:
        """Write the outcome to a row that is still ``mine``, else return None.

        Return whether ``asking`` holds, a condition in SQL on the row as written.

        Written as SQL because every finished effect goes through it, and Django takes longer to build the statement
        than PostgreSQL takes to run it.
        """
        known = self.rows.model._meta  # noqa: SLF001 (Django's documented way to its fields)
        fields = {one.name: one for one in known.concrete_fields}
        said = ", ".join(f'"{fields[name].column}" = %s' for name in values)
        params = [fields[name].get_db_prep_save(value, connection) for name, value in values.items()]
        mine = [row.pk, row.token, str(self.working)]
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {known.db_table} SET {said} {MINE} RETURNING {asking}",  # noqa: S608 (names of ours)
                [*params, *mine],
            )
            found = cursor.fetchone()
        return bool(found[0]) if found else None

    def renew(self, row: Leased, *, at: datetime) -> bool:
        """Extend a claim by one more lease; return whether it was still held."""
        return bool(self.mine(row).update(leased_until=self.until(at)))

    def still_held(self, row: Leased, *, at: datetime) -> bool:
        """Return whether a claim still holds, renewing it once half of its lease has passed."""
        fresh = row.leased_until is not None and row.leased_until - clock.at(at) > self.length() / 2
        return fresh or self.renew(row, at=at)

    @contextmanager
    def renewed(self, in_hand: Callable[[], Iterable[Leased]], *, what: str) -> Iterator[None]:
        """Renew the rows in hand from another thread while the block runs.

        A worker that dies stops renewing, and another takes its work over once the lease has expired. If the system has
        no thread to spare, the block runs all the same: most work takes less than a lease, and none would be done
        otherwise.
        """
        done = threading.Event()
        thread = threading.Thread(target=self._beat, args=(in_hand, what, done), name="heartbeat", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            log.warning("the claim on %s is not renewed: %s", what, error)
        try:
            yield
        finally:
            done.set()
            if thread.ident is not None:
                thread.join()

    def _beat(self, in_hand: Callable[[], Iterable[Leased]], what: str, done: threading.Event) -> None:
        while not done.wait(self.length().total_seconds() / self.beats):
            try:
                for row in in_hand():  # some may be lost and others claimed in the meantime
                    self.renew(row, at=timezone.now())
            except Error:  # the next beat may work; if none does, the claim is lost, which is safe
                log.warning("could not renew the claim on %s", what)
            finally:
                connection.close()


def hold_each(rows: QuerySet[Row], act: Callable[[Row], object], *, at_once: int) -> int:
    """Act on each of the first ``at_once`` rows, holding it in a transaction of its own; return how many were acted on.

    Rows that another worker holds are left to it. ``act`` must leave alone a row that no longer belongs to ``rows``. A
    row for which it raises is rolled back and does not keep the others from their turn.
    """
    waiting = list(rows.values_list("pk", flat=True)[:at_once])
    return apart.each(waiting, lambda pk: _held(rows.filter(pk=pk), act), what=rows.model.__name__)


@transaction.atomic
def _held(one: QuerySet[Row], act: Callable[[Row], object]) -> bool:
    row = one.select_for_update(of=("self",), no_key=True, skip_locked=True).first()
    if row is not None:
        act(row)
    return row is not None


@transaction.atomic
def take_turns(rows: QuerySet[Row], *, at_once: int, **marks: Any) -> list[Row]:
    """Mark the first ``at_once`` rows so that they drop out of ``rows`` for now; return those this worker marked."""
    taken = list(rows.select_for_update(of=("self",), no_key=True, skip_locked=True)[:at_once])
    rows.model._default_manager.filter(pk__in=[row.pk for row in taken]).update(**marks)  # noqa: SLF001
    return taken


def alone(queue: str, key: str) -> bool:
    """Return whether no other transaction works on this key of this queue, even for rows not yet inserted."""
    with connection.cursor() as cursor:
        cursor.execute(ALONE, [queue, key])
        return bool(cursor.fetchone()[0])
