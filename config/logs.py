"""Logging: what happened, never what people wrote. No logger gets request bodies.

The messages of unexpected errors are not logged either, by any logger: a database quotes the row that it refuses, and
Python the value. An error's class, its location, and words known to be ours are enough.
"""

import json
import logging
import threading
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import psycopg

from audit import log_ids
from config.process.log_writer import LogWriter
from incidents.outages import database_watch

log = logging.getLogger(__name__)
FORMS: Final = ("line", "json")
# What kombu logs about a broker that is gone or refuses: a message stays on it, or it is not checked this time.
UNTAKEN: Final = ("Couldn't ack", "Couldn't reject", "Error in timer")
SELDOM_S: Final = 60.0
# Errors whose messages come from code or from the system.
IN_OUR_WORDS: Final = (AttributeError, NameError, ImportError, RecursionError, MemoryError)
# Shorter texts are left in a message: they would match inside every other word.
SHORT: Final = 3


class WithoutWords(logging.Formatter):
    """A line for people, followed by an error's traceback without its message."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's own name)
        """Return the line; an error quoted in it is replaced by its class."""
        record.message = said(record)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802 (the same)
        """Return an error's traceback without its message."""
        return told(ei[1]) if ei[1] else ""


class JsonLines(WithoutWords):
    """One JSON object per line: time, level, logger, message, and the ids of request, incident and effect."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; a traceback is one string in it."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "says": said(record),
            **log_ids.now(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def said(record: logging.LogRecord) -> str:
    """Return a record's message; where it quotes the attached error, as Celery's do, with the error's class."""
    says = record.getMessage()
    for error in _with_causes(record.exc_info[1] if record.exc_info else None):
        for words in (repr(error), str(error)):
            if len(words) >= SHORT:
                says = says.replace(words, type(error).__name__)
    return says


def told(error: BaseException) -> str:
    """Return the tracebacks of an error and its causes, the newest last."""
    parts = []
    for one in reversed([*_with_causes(error)]):
        where = "".join(traceback.format_tb(one.__traceback__))
        parts.append(f"Traceback (most recent call last):\n{where}{type(one).__qualname__}{_ours(one)}")
    return "\n\n".join(parts)


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from _with_causes(one)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _ours(error: BaseException) -> str:
    """Return the part of an error that no user wrote: PostgreSQL's code and names, or the system's reason."""
    if isinstance(error, psycopg.Error):
        words = [error.sqlstate, error.diag.table_name, error.diag.column_name, error.diag.constraint_name]
    elif isinstance(error, OSError):
        words = [error.strerror if isinstance(error.strerror, str) else None]
    else:
        words = [str(error) if isinstance(error, IN_OUR_WORDS) else None]
    return "".join(f": {one}" for one in [" ".join(filter(None, words))] if one)


def hear_threads() -> None:
    """Log what ends a thread like everything else; Python itself would print it, message included."""
    if threading.excepthook is threading.__excepthook__:  # otherwise a test has replaced it already
        threading.excepthook = _of_a_thread


def _of_a_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None and ended.exc_type is not SystemExit:
        log.error("the thread %s ended", getattr(ended.thread, "name", ""), exc_info=ended.exc_value)


def without_traceback(record: logging.LogRecord) -> bool:
    """Log in one line that the database or broker was gone: the work is found again once they are back.

    The line has the error's class and SQLSTATE. A deadlock is a bug of ours, and keeps its traceback.
    """
    error = record.exc_info[1] if record.exc_info else None
    if (database_watch.says_so(error) and not database_watch.is_deadlock(error)) or str(record.msg).startswith(UNTAKEN):
        state = database_watch.state_of(error)
        record.msg, record.args = f"{said(record)}{f' ({state})' if state else ''}", None
        record.exc_info = record.exc_text = None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
    return True


class Seldom(logging.Filter):
    """Passes a line of each kind, however its values differ, once a minute."""

    def __init__(self) -> None:
        super().__init__()
        self._passed_at: dict[object, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether none of its kind was passed lately."""
        now = time.monotonic()
        if now - self._passed_at.get(record.msg, -SELDOM_S) < SELDOM_S:
            return False
        self._passed_at[record.msg] = now
        return True


def written(form: str) -> dict[str, Any]:
    """Return the logging configuration for Django, with lines in one of ``FORMS``."""
    return {**LOGGING, "handlers": {"stderr": {**STDERR, "formatter": form}}}


STDERR: Final = {"()": LogWriter, "told": told, "filters": ["outages"]}
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": WithoutWords, "fmt": "{levelname} {name}: {message}", "style": "{"},
        "json": {"()": JsonLines},
    },
    "handlers": {"stderr": {**STDERR, "formatter": "line"}},
    "filters": {
        "outages": {"()": "django.utils.log.CallbackFilter", "callback": without_traceback},
        "seldom": {"()": Seldom},
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "incidents": {"level": "INFO"},
        "workflows": {"level": "INFO"},
        "integrations": {"level": "INFO"},
        # It logs each attempt to connect, several a second while the database is down.
        "psycopg.pool": {"filters": ["seldom"]},
        # Below this level both print whole requests, including tokens and people's words.
        "slack_bolt": {"level": "WARNING"},
        "slack_sdk": {"level": "WARNING"},
        # Its own lines would quote errors, and wait for the log's reader. It has set their levels, as it was told.
        **{name: {"handlers": [], "propagate": True} for name in ("uvicorn", "uvicorn.error", "uvicorn.access")},
        # A refused request is the sender's problem; its path may contain a codename.
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
    },
}
