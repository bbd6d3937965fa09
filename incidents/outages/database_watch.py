"""Whether the database answers, found out while somebody waits for it, and told to everyone else at once.

A server that is frozen, or behind a network that swallows packets, refuses nothing: whoever waits for it waits for
ever, and no time-out of the server's own can help. So a statement that is not answered for a moment has a new
connection asked for. If that is not answered either, the statement is given up; if it is, the statement is only slow,
and goes on.
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

from incidents.outages.breaker import Breaker

log = logging.getLogger(__name__)
Result = TypeVar("Result")

AGAIN_S: Final = 0.5  # between two looks for its return
CONNECT_S: Final = 3
KNOWN_S: Final = 0.1
# What says that the server, not the statement, is at fault: connections (08), shutting down or starting (57P), nothing
# left to work with (53), its disk (58), and that it takes nothing, because it became a standby.
STATES: Final = ("08", "57P", "53", "58", "25006")
# What ends a statement or its transaction while the server is well: an administrator or a time limit (57014, 25P04),
# that it stood still for too long (25P03), and others in its way: deadlocks, what cannot be put in order (40), and a
# lock that was held for long (55P03).
ENDS: Final = ("57014", "25P03", "25P04", "40", "55P03")
DEADLOCK: Final = "40P01"
FAILURES: Final = (OperationalError, InterfaceError, InternalError)  # Django's, as which a server's fault comes
# What has no state is the connection's fault: also an internal error, which broke off within an answer, as behind a
# pooler that died.
SERVERS: Final = (*FAILURES, psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError)
# Whatever says where it is and lets us in, but for what is asked of a session: the probe has its own.
ADDRESS: Final = frozenset(one.keyword.decode() for one in pq.Conninfo.get_defaults()) - {
    *("options", "application_name", "connect_timeout"),
}


@dataclass(slots=True)
class Patience:
    """How many seconds of a statement's silence there are before it is asked whether there is a server, and how many
    for that; and how many somebody waits for a free connection, and for a lock that others hold.

    Where nobody waits for an answer a busy machine may take its time, and a lock as long as it is held.
    """

    silence_s: float = 5.0
    probe_s: float = 5.0
    pool_s: float = 10.0
    lock_s: float | None = None


# Slack waits three seconds; a busy machine takes a while to begin a connection. Whoever is not the first to wait for a
# row waits twice as long: for the one before them, and for the row.
IN_A_HURRY: Final = Patience(silence_s=0.8, probe_s=1.2, pool_s=2.0, lock_s=1.2)
REPLANNED: Final = "RevalidateCachedQuery"  # in PostgreSQL; its sentence may be in any language
STILL_S: Final = 10.0  # between two statements of a transaction: far more than any of ours takes on a busy machine
patience = Patience()
database = Breaker(probe_s=AGAIN_S)


class Bounded(psycopg.Connection[Any]):
    """A connection on which nobody waits for a server that does not answer."""

    @classmethod
    def connect(cls, conninfo: str = "", **given: Any) -> Self:
        """Connect as usual; prepare nothing where a pooler stands between, whose sessions are everybody's."""
        made = super().connect(conninfo, **given)
        try:
            if made.prepare_threshold is not None and _is_pooled(made):
                made.prepare_threshold = None
        except psycopg.Error:
            made.close()
            raise
        return made

    def execute(self, query: Query, *given: Any, **options: Any) -> psycopg.Cursor[Any]:
        """Execute as usual; an empty statement, with which the pool asks whether the server is there, only in doubt.

        A server that went away says so, which is there to be read; nothing has to be sent to learn that it did not.
        """
        if query == "" and self.prepare_threshold is not None and not _has_news(self):
            return self.cursor()
        return super().execute(query, *given, **options)

    def wait(self, gen: PQGen[Result], interval: float = 0.1, timeout: float | None = None) -> Result:
        """Wait for the server as usual, for as long as it is there. Raises `OperationalError` when not.

        The same where a newer version changed a column meanwhile, for which statements of this connection were planned:
        whoever asks again gets a new one.
        """
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        while not is_away():
            try:
                return super().wait(gen, interval, patience.silence_s)
            except errors.FeatureNotSupported as error:
                if error.diag.source_function != REPLANNED:
                    raise
                self.pgconn.finish()
                raise psycopg.OperationalError("a column changed after its statements were planned") from error
            except errors._WaitTimeout:  # noqa: SLF001 (what the wait itself raises; the generator goes on where it was)
                if not answers():
                    break
        self.pgconn.finish()
        raise psycopg.OperationalError("the database does not answer")


def _has_news(idle: psycopg.Connection[Any]) -> bool:
    """Return whether anything came on a connection that waits for nothing, such as its end."""
    ready = select.poll()
    ready.register(idle.fileno(), select.POLLIN)
    return bool(ready.poll(0))


def _is_pooled(made: psycopg.Connection[Any]) -> bool:
    """Return whether another session answers than the one that we were told of as we connected."""
    row = made.execute("SELECT pg_backend_pid()").fetchone()
    if not made.autocommit:
        made.rollback()
    return row != (made.info.backend_pid,)


class _Brief(psycopg.Connection[Any]):
    """A connection of a probe, which waits for nothing any longer than for the connection itself."""

    def wait(self, gen: PQGen[Result], interval: float = 0.1, timeout: float | None = CONNECT_S) -> Result:
        """Wait as usual. Raises `OperationalError` when the time is over."""
        try:
            return super().wait(gen, interval, timeout or CONNECT_S)
        except errors._WaitTimeout:  # noqa: SLF001 (what the wait itself raises)
            self.pgconn.finish()
            raise psycopg.OperationalError("the probe was not answered") from None


class _Probe:
    """One new connection, asked for in a thread of its own, which nobody has to wait for."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._worked = False
        try:
            threading.Thread(target=self._connect, name="database probe", daemon=True).start()
        except RuntimeError:  # no thread can be had: nothing was found out
            self._ended.set()

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def worked(self) -> bool:
        return self._ended.wait(patience.probe_s) and self._worked

    def _connect(self) -> None:
        try:
            with _Brief.connect(
                **address(), connect_timeout=CONNECT_S, application_name="firekind probe", autocommit=True
            ) as asked:
                asked.execute("SELECT 1")  # a pooler takes connections whether or not there is a server behind it
            self._worked = True
        except psycopg.Error:
            self._worked = False
        finally:
            self._ended.set()


_lock = threading.Lock()
_asked: list[_Probe] = []  # the one that is under way, for all who ask meanwhile


def answers() -> bool:
    """Ask for a new connection and return whether it came in time; if not, it is away until it answers again."""
    with _lock:
        if not _asked or _asked[0].ended:
            _asked[:] = [_Probe()]
        probe = _asked[0]
    if probe.worked():
        return True
    if database.failed():
        log.error("the database does not answer")
        try:
            threading.Thread(target=_look_for_its_return, name="database return", daemon=True).start()
        except RuntimeError:  # no thread can be had: whoever asks next finds out, as nobody else would
            database.worked()
    return False


def hurry() -> None:
    """Wait less in this process, of which people expect answers; to be said before its first statement."""
    patience.silence_s, patience.probe_s = IN_A_HURRY.silence_s, IN_A_HURRY.probe_s
    options = settings.DATABASES["default"]["OPTIONS"]
    if pool := options.get("pool"):
        pool["timeout"] = IN_A_HURRY.pool_s
    hold_nothing_for_long()
    if IN_A_HURRY.lock_s is not None:
        _ask_of_sessions(lock_timeout=IN_A_HURRY.lock_s)


def hold_nothing_for_long() -> None:
    """Have the database end this process's transactions that stand still; to be said before its first statement.

    A process that is stopped, or whose host is gone without a word, would hold its locks for hours otherwise.
    """
    _ask_of_sessions(idle_in_transaction_session_timeout=STILL_S)


def _ask_of_sessions(**seconds: float) -> None:
    if settings.FIREKIND.database_direct_url:
        return  # a pooler in between takes no such options, and its sessions are everyone's
    options = settings.DATABASES["default"]["OPTIONS"]
    asked = (f"-c {name}={round(length * 1000)}" for name, length in seconds.items())
    options["options"] = " ".join([options.get("options", ""), *asked]).strip()


def wait_no_longer() -> None:
    """Have whoever asks next in this process be told soon that there is no connection, as it is known already."""
    if pool := getattr(connections[DEFAULT_DB_ALIAS], "pool", None):
        pool.timeout = KNOWN_S


def is_away() -> bool:
    """Return whether the database did not answer when it was last asked; asks nothing."""
    return database.open_since is not None


def is_to_blame(error: BaseException | None) -> bool:
    """Return whether the database is away, takes nothing or ended what was asked; find out whether it answers.

    Where it does, the log says what was in the way, as nothing else does: nobody logs what is answered with an excuse.
    """
    if error is None or not says_so(error):
        return False
    if not is_away() and (has_ended(error) or answers()):
        why = state_of(error) or type(error.__cause__ or error).__name__
        log.warning("the database answers, and what was asked of it ended with %s", why)
    return True


def says_so(error: BaseException | None) -> bool:
    """Return whether an error is the server's and not the statement's; asks nothing."""
    if not isinstance(error, SERVERS):
        return False
    state = state_of(error)
    return not state or state.startswith((*STATES, *ENDS))


def has_ended(error: BaseException | None) -> bool:
    """Return whether a server that is well ended a statement or its transaction; asks nothing."""
    return says_so(error) and state_of(error).startswith(ENDS)


def is_deadlock(error: BaseException | None) -> bool:
    """Return whether two of us waited for each other: people may try again, and it is a slip of ours all the same."""
    return says_so(error) and state_of(error) == DEADLOCK


def state_of(error: BaseException | None) -> str:
    """Return the SQLSTATE of Django's error or psycopg's; empty where the server said none."""
    return getattr(error, "sqlstate", None) or getattr(getattr(error, "__cause__", None), "sqlstate", None) or ""


def address() -> dict[str, Any]:
    """Return how to reach Django's database without its pool."""
    return {key: value for key, value in connection.get_connection_params().items() if key in ADDRESS}


def direct_address() -> dict[str, Any]:
    """Return how to reach it past a pooler that gives each transaction another session, if the settings name a way."""
    return dict(settings.DATABASE_DIRECT) or address()


def _look_for_its_return() -> None:
    while not _Probe().worked():
        time.sleep(AGAIN_S)
    database.worked()
    log.warning("the database answers again")
