"""The backend that `config.database` names; Django looks for ``DatabaseWrapper`` here."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Final

import psycopg
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool, PoolTimeout

from config.postgresql import shares
from incidents.outages import answer_time
from incidents.outages.database_watch import Bounded
from incidents.outages.unserved import NoneFree, TooSlow

NO_TIME: Final = "no connection was free in the time left"


class ImpatientPool(ConnectionPool[Bounded]):
    """A pool that keeps a caller no longer than its own time-out, and than the caller can wait (`answer_time`).

    With ``divides``, a kind of work gets no more of it than `shares` leaves to that kind.
    """

    divides = False

    def getconn(self, timeout: float | None = None) -> Bounded:
        """Lend a connection. Raises ``PoolTimeout``, or ``TooSlow`` if it was the caller who could not wait.

        Raises ``NoneFree`` if all that the caller's kind of work may have are in use.
        """
        longest_s = self.timeout if timeout is None else timeout
        left_s = answer_time.left_s()
        ends_at = time.monotonic() + min(longest_s, left_s)
        share = self._share(within_s=min(longest_s, left_s), is_callers=left_s < longest_s)
        try:
            made = super().getconn(max(0.0, ends_at - time.monotonic()))
        except BaseException as error:
            share()
            if isinstance(error, PoolTimeout) and left_s < longest_s:
                raise TooSlow(NO_TIME) from error
            raise
        _lent[made] = share
        return made

    def putconn(self, conn: Bounded) -> None:
        """Take a connection back."""
        try:
            super().putconn(conn)
        finally:
            _lent.pop(conn, _nothing)()

    def _share(self, *, within_s: float, is_callers: bool) -> Callable[[], None]:
        """Take a share, and return how to give it back."""
        among, kind = shares.divided(), shares.kind_here()
        if not self.divides or among is None:
            return _nothing
        if not among.take(kind, within_s=within_s):
            raise TooSlow(NO_TIME) if is_callers else NoneFree("all that this kind of work may have are in use")
        return partial(among.give_back, kind)


def _nothing() -> None:
    """Give back nothing."""


_lent: Final[dict[Bounded, Callable[[], None]]] = {}


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, with that pool."""

    _connection_pools: ClassVar[dict[str, Any]]  # Django's, by alias; its stubs leave these two out
    _configure_connection: Callable[[psycopg.Connection[Any]], None]

    @property
    def pool(self) -> Any:
        """The pool of all connections to this database, made here if there is none; None without one."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if options and self.alias not in {NO_DB_ALIAS, *self._connection_pools}:
            made = ImpatientPool(
                kwargs={**self.get_connection_params(), "autocommit": True},  # Django sets it later
                open=False,
                configure=self._configure_connection,
                check=ConnectionPool.check_connection if self.settings_dict["CONN_HEALTH_CHECKS"] else None,
                **options,
            )
            made.divides = self.alias == DEFAULT_DB_ALIAS
            self._connection_pools.setdefault(self.alias, made)
        return super().pool
