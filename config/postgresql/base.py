"""The backend that `config.database` names; Django looks for ``DatabaseWrapper`` here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import psycopg
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool, PoolTimeout

from incidents.outages import answer_time
from incidents.outages.database_watch import Bounded, TooSlow


class ImpatientPool(ConnectionPool[Bounded]):
    """A pool that keeps a caller no longer than its own time-out, and than the caller can wait (`answer_time`)."""

    def getconn(self, timeout: float | None = None) -> Bounded:
        """Lend a connection. Raises ``PoolTimeout``, or ``TooSlow`` if it was the caller who could not wait."""
        longest_s = self.timeout if timeout is None else timeout
        left_s = answer_time.left_s()
        try:
            return super().getconn(min(longest_s, left_s))
        except PoolTimeout as error:
            if left_s < longest_s:
                raise TooSlow("no connection was free in the time left") from error
            raise


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
            self._connection_pools.setdefault(self.alias, made)
        return super().pool
