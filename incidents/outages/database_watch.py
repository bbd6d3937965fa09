"""Whether the database responds, found out by the first caller that waits for it and shared with all others.

A server that is frozen, or behind a network that drops packets, refuses nothing: callers would wait forever, and none
of the server's own time-outs can help. So if a statement is not answered in time, a new connection is attempted. If
that is not answered either, the statement is abandoned; if it is, the statement is only slow, and continues. A caller
that cannot wait for that long (`answer_time`) abandons it as well.

A server that refuses new connections (too many, or another password) answers as well: the ones we have still work, and
giving them up would make an outage of it. Only if none of them works either is it away.
"""

from __future__ import annotations

import logging
import select
import threading
import time
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, InternalError, OperationalError, connection, connections
from psycopg import errors, pq
from psycopg.abc import PQGen, Query
from psycopg.conninfo import make_conninfo

from incidents.outages import answer_time
from incidents.outages.breaker import Breaker
from incidents.outages.unserved import TooSlow, was_too_slow

log = logging.getLogger(__name__)
Result = TypeVar("Result")

AGAIN_S: Final = 0.5  # between two checks whether it is back
CONNECT_S: Final = 3
KNOWN_S: Final = 0.1
HEARD_S: Final = 10.0  # how long ago our connections may have answered last, if the server refuses new ones
# SQLSTATEs that blame the server, not the statement: connections (08), shutting down or starting (57P), out of
# resources (53), its disk (58), and read-only because it became a standby (25006).
STATES: Final = ("08", "57P", "53", "58", "25006")
# SQLSTATEs with which a healthy server ends a statement or its transaction: an administrator or a time limit (57014,
# 25P04), idle for too long (25P03), conflicts with others such as deadlocks and failed serialisation (40), and a lock
# that was held for long (55P03).
ENDS: Final = ("57014", "25P03", "25P04", "40", "55P03")
DEADLOCK: Final = "40P01"
UNCHANGED: Final = ("25006", "53100")  # it is read-only, or its disk is full: what it has can be read
FAILURES: Final = (OperationalError, InterfaceError, InternalError)  # the Django errors that a server's fault raises
# Without a SQLSTATE the connection is at fault, even for an internal error: the answer broke off, as behind a pooler
# that died.
SERVERS: Final = (*FAILURES, psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError)
# All options that locate the server and let us in, except session options: the probe has its own.
ADDRESS: Final = frozenset(one.keyword.decode() for one in pq.Conninfo.get_defaults()) - {
    *("options", "application_name", "connect_timeout"),
}


@dataclass(slots=True)
class Patience:
    """How long to wait, in seconds: for a statement's answer before checking the server, and for that check; also for a
    free connection, and for a lock that others hold.

    If no one waits for an answer, a busy machine may take its time, and a lock as long as it is held (``lock_s`` None).
    """

    silence_s: float = 5.0
    probe_s: float = 5.0
    pool_s: float = 10.0
    lock_s: float | None = None


# Slack waits three seconds, and a busy machine needs a while to open a connection. A caller that is not the first in
# line for a row waits twice as long: for the one ahead of it, and for the row.
IN_A_HURRY: Final = Patience(silence_s=0.8, probe_s=1.2, pool_s=1.5, lock_s=1.2)
REPLANNED: Final = "RevalidateCachedQuery"  # PostgreSQL's function name, because its message may be in any language
STILL_S: Final = 10.0  # between two statements of a transaction: far more than any of ours needs on a busy machine
GONE_S: Final = 1.0  # between two checks by the server, during a statement, whether we are still connected
patience = Patience()
database = Breaker(probe_s=AGAIN_S)


class Bounded(psycopg.Connection[Any]):
    """A connection whose callers do not wait for a server that does not respond."""

    @classmethod
    def connect(cls, conninfo: str = "", **given: Any) -> Self:
        """Connect as usual; disable prepared statements behind a pooler, whose sessions are shared."""
        made = super().connect(conninfo, **given)
        try:
            if made.prepare_threshold is not None and _is_pooled(made):
                made.prepare_threshold = None
        except psycopg.Error:
            made.close()
            raise
        return made

    def execute(self, query: Query, *given: Any, **options: Any) -> psycopg.Cursor[Any]:
        """Execute as usual. The empty statement, by which the pool checks the server, is sent only in doubt.

        A server that went away has sent a notice that can be read; if there is none, nothing needs to be sent.
        """
        if query == "" and self.prepare_threshold is not None and not _has_news(self):
            return self.cursor()
        return super().execute(query, *given, **options)

    def wait(self, gen: PQGen[Result], interval: float = 0.1, timeout: float | None = None) -> Result:
        """Wait for the server as usual, as long as it is there. Raises `OperationalError` when it is not.

        Raises `TooSlow` once the caller has no time left: what was not committed by then is not done.

        Also raises `OperationalError` if a newer version changed a column that this connection's statements were
        planned for: callers that try again get a new connection.
        """
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        while not is_away():
            if not (left_s := answer_time.left_s()):
                self.pgconn.finish()
                raise TooSlow("the database took longer than the time left")
            try:
                return _heard(super().wait(gen, interval, min(patience.silence_s, left_s)))
            except errors.FeatureNotSupported as error:
                if error.diag.source_function != REPLANNED:
                    raise
                self.pgconn.finish()
                raise psycopg.OperationalError("a column changed after its statements were planned") from error
            except errors._WaitTimeout:  # noqa: SLF001 (what the wait itself raises; the generator goes on where it was)
                if left_s > patience.silence_s and not answers() and answer_time.left_s():
                    break
        self.pgconn.finish()
        raise psycopg.OperationalError("the database does not answer")


def _heard(answer: Result) -> Result:
    """Note that a connection was answered just now."""
    _heard_at[:] = [time.monotonic()]
    return answer


def _has_news(idle: psycopg.Connection[Any]) -> bool:
    """Return whether anything arrived on an idle connection, such as the notice of its end."""
    ready = select.poll()
    ready.register(idle.fileno(), select.POLLIN)
    return bool(ready.poll(0))


def _is_pooled(made: psycopg.Connection[Any]) -> bool:
    """Return whether another session answers than the one PostgreSQL named when we connected."""
    row = made.execute("SELECT pg_backend_pid()").fetchone()
    if not made.autocommit:
        made.rollback()
    return row != (made.info.backend_pid,)


class Brief(psycopg.Connection[Any]):
    """A probe's connection, which waits for an answer no longer than for the connection itself."""

    def wait(self, gen: PQGen[Result], interval: float = 0.1, timeout: float | None = CONNECT_S) -> Result:
        """Wait as usual. Raises `OperationalError` when the time is over."""
        try:
            return super().wait(gen, interval, timeout or CONNECT_S)
        except errors._WaitTimeout:  # noqa: SLF001 (what the wait itself raises)
            self.pgconn.finish()
            raise psycopg.OperationalError("the probe was not answered") from None


class _Probe:
    """One new connection, opened in a thread of its own, which no one has to wait for."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._worked = self.is_refused = False
        try:
            threading.Thread(target=self._connect, name="database probe", daemon=True).start()
        except RuntimeError:  # no thread is available, so nothing was found out
            self._ended.set()

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def worked(self, *, within_s: float) -> bool:
        return self._ended.wait(within_s) and self._worked

    def answered(self, *, within_s: float) -> bool:
        """Return whether it worked, or the server was there and refused it."""
        return self.worked(within_s=within_s) or self.is_refused

    def _connect(self) -> None:
        given = address() | {"connect_timeout": CONNECT_S, "application_name": "firekind probe"}
        try:
            try:
                asked = Brief.connect(**given, autocommit=True)
            except psycopg.OperationalError as error:
                self.is_refused = not isinstance(error, errors.ConnectionTimeout) and _refuses(given)
                raise
            with asked:
                asked.execute("SELECT 1")  # a pooler accepts connections even without a server behind it
            self._worked = True
        except psycopg.Error:
            if not self.is_refused:
                _is_gone()  # the caller may have had no time to wait for the result
        finally:
            self._ended.set()


def _refuses(given: dict[str, Any]) -> bool:
    """Return whether a server that did not let us in is up: libpq knows by its SQLSTATE, and tells no one else.

    A pooler is up without its server, and of several servers a standby may be.
    """
    if settings.FIREKIND.database_direct_url or "target_session_attrs" in given:
        return False
    return pq.PGconn.ping(make_conninfo(**given).encode()) == pq.Ping.OK


_lock = threading.Lock()
_heard_at = [-HEARD_S]  # when a connection of ours was answered last
_asked: list[_Probe] = []  # the running probe, shared by everyone who asks in the meantime


def answers() -> bool:
    """Try a new connection and return whether it was answered in time; if not, the database is away until it responds.

    With too little time left to find out, return False without declaring the database away.
    """
    with _lock:
        if not _asked or _asked[0].ended:
            _asked[:] = [_Probe()]
        probe = _asked[0]
    within_s = min(patience.probe_s, answer_time.left_s())
    if probe.answered(within_s=within_s):
        return True
    if within_s == patience.probe_s:
        _is_gone()
    return False


def refuses() -> bool:
    """Return whether the server was there when it was last checked, and refused a new connection; makes no query."""
    return bool(_asked) and _asked[0].is_refused


def _is_of_use() -> bool:
    """Return whether a server that answers lets us in, or answered an older connection lately; if not, it is away."""
    if not refuses() or time.monotonic() - _heard_at[-1] <= HEARD_S:
        return True
    _is_gone()
    return False


def _is_gone() -> None:
    """Let no one wait for the database until it responds again, and start to check whether it does."""
    if database.failed():
        log.error("the database does not answer")
        wait_no_longer()
        try:
            threading.Thread(target=_look_for_its_return, name="database return", daemon=True).start()
        except RuntimeError:  # no thread is available: the next caller must find out, because no one else would
            _is_back()


def hurry() -> None:
    """Wait less in this process, because people wait for its answers; to be called before its first statement."""
    patience.silence_s, patience.probe_s = IN_A_HURRY.silence_s, IN_A_HURRY.probe_s
    options = settings.DATABASES["default"]["OPTIONS"]
    if pool := options.get("pool"):
        pool["timeout"] = IN_A_HURRY.pool_s
    hold_nothing_for_long()
    if IN_A_HURRY.lock_s is not None:
        _ask_of_sessions(lock_timeout=IN_A_HURRY.lock_s)


def hold_nothing_for_long() -> None:
    """Have the database end this process's idle transactions and abandoned statements; call before its first statement.

    A process that is stopped, or whose host disappeared, would otherwise hold its locks for hours. A statement that was
    abandoned, or whose process was killed, would hold them until it ends by itself.
    """
    _ask_of_sessions(idle_in_transaction_session_timeout=STILL_S, client_connection_check_interval=GONE_S)


def _ask_of_sessions(**seconds: float) -> None:
    if settings.FIREKIND.database_direct_url:
        return  # a pooler in between takes no such options, and its sessions are shared
    options = settings.DATABASES["default"]["OPTIONS"]
    asked = (f"-c {name}={round(length * 1000)}" for name, length in seconds.items())
    options["options"] = " ".join([options.get("options", ""), *asked]).strip()


def wait_no_longer() -> None:
    """Let this process's next callers fail quickly when they ask for a connection: it is known there is none."""
    _wait_in_the_pool(KNOWN_S)


def _wait_as_usual() -> None:
    options = settings.DATABASES[DEFAULT_DB_ALIAS]["OPTIONS"]
    _wait_in_the_pool(options["pool"]["timeout"] if "pool" in options else KNOWN_S)


def _wait_in_the_pool(length_s: float) -> None:
    if pool := getattr(connections[DEFAULT_DB_ALIAS], "pool", None):
        pool.timeout = length_s


def renew_pool() -> bool:
    """Give up a pool whose own threads could not be started, and return whether it was one: another may have more luck.

    It counts as open, but nothing in it makes connections, so that every caller would wait in vain.
    """
    ours: Any = connections[DEFAULT_DB_ALIAS]
    if (pool := getattr(ours, "pool", None)) is None:
        return False
    with pool._lock:  # noqa: SLF001 (it is held while they are started)
        is_idle = not pool.closed and len(pool._workers) < pool.num_workers  # noqa: SLF001 (nothing public says so)
    if not is_idle or ours._connection_pools.pop(ours.alias, None) is None:  # noqa: SLF001 (Django's own, by alias)
        return False
    log.warning("the connection pool could not start its threads, and is given up for another one")
    return True


def is_away() -> bool:
    """Return whether the database did not respond when last checked; makes no query."""
    return database.open_since is not None


def is_to_blame(error: BaseException | None) -> bool:
    """Return whether the database is away, read-only, too slow or cancelled the request; checks whether it responds.

    If it does, this logs what went wrong, because no one else would: requests answered with an apology are not logged.
    """
    if error is None or not says_so(error):
        return False
    renew_pool()
    if not is_away() and (has_ended(error) or was_too_slow(error) or (answers() and _is_of_use())):
        why = state_of(error) or type(error.__cause__ or error).__name__
        log.warning("the database answers, and what was asked of it ended with %s", why)
    return True


def says_so(error: BaseException | None) -> bool:
    """Return whether an error is the server's fault and not the statement's; makes no query."""
    if not isinstance(error, SERVERS):
        return False
    state = state_of(error)
    return not state or state.startswith((*STATES, *ENDS))


def has_ended(error: BaseException | None) -> bool:
    """Return whether a healthy server ended a statement or its transaction; makes no query."""
    return says_so(error) and state_of(error).startswith(ENDS)


def takes_no_changes(error: BaseException | None) -> bool:
    """Return whether the server refused a change because it is read-only or full; makes no query."""
    return says_so(error) and state_of(error) in UNCHANGED


def is_deadlock(error: BaseException | None) -> bool:
    """Return whether two of our transactions deadlocked: people may try again, but it is still a bug of ours."""
    return says_so(error) and state_of(error) == DEADLOCK


def state_of(error: BaseException | None) -> str:
    """Return the SQLSTATE of an error from Django or psycopg; empty if the server sent none."""
    return getattr(error, "sqlstate", None) or getattr(getattr(error, "__cause__", None), "sqlstate", None) or ""


def address() -> dict[str, Any]:
    """Return how to connect to Django's database without its pool."""
    return {key: value for key, value in connection.get_connection_params().items() if key in ADDRESS}


def direct_address() -> dict[str, Any]:
    """Return how to bypass a pooler that gives each transaction another session, if the settings name a way."""
    return dict(settings.DATABASE_DIRECT) or address()


def _look_for_its_return() -> None:
    while not _Probe().worked(within_s=patience.probe_s):
        time.sleep(AGAIN_S)
    _is_back()
    log.warning("the database answers again")


def _is_back() -> None:
    _wait_as_usual()
    database.worked()
