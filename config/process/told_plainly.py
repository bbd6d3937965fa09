"""What a command prints if its database or its input stops it: a sentence with what to do, and no traceback."""

from __future__ import annotations

import errno
import io
import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from django.conf import settings
from django.db import DatabaseError, NotSupportedError
from django.db.migrations.exceptions import MigrationSchemaMissing

from config import database
from incidents.outages import database_watch

WAIT_S: Final = 5.0  # for a connection: someone is waiting at the terminal
OF_THE_ROLE: Final = "42501"
NOT_THERE: Final = ("42P01", "42703")  # a table or a column
SERVERS_OWN: Final = "FATAL:"  # begins the reason of a server that refuses a connection, in most languages
UNREAD: Final = 128 + signal.SIGPIPE


@contextmanager
def told_plainly() -> Iterator[None]:
    """End the process with exit code 1 and a sentence if the database is to blame; other errors propagate.

    It ends the same way if its output cannot be written; with 141 if no one reads on, as behind ``head``.
    """
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # it logs every try; the sentence gives the reason
    if (pool := settings.DATABASES["default"].get("OPTIONS", {}).get("pool")) is not None:
        pool["timeout"] = WAIT_S
    try:
        with written_out():
            yield
    except DatabaseError as error:
        says = sentence(error)
        if says is None:
            raise
        print(f"firekind: {says}", file=sys.stderr)
        raise SystemExit(1) from None


@contextmanager
def written_out() -> Iterator[None]:
    """Flush the output before the block ends, and end the process with a plain message if that fails."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _say_no_more()
        raise SystemExit(UNREAD) from None
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        _say_no_more()
        print("firekind: The output could not be written: there is no space left where it goes.", file=sys.stderr)
        raise SystemExit(1) from None


def _say_no_more() -> None:
    """Discard pending output: Python would write it on exit, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def readable(words: Sequence[str]) -> list[str]:
    """Return the words of a command line; end the process if one is not UTF-8, before anything is done."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            shown = word.encode("utf-8", "replace").decode()
            print(f"firekind: {shown} is not UTF-8. Type it again, or set the terminal to UTF-8.", file=sys.stderr)
            raise SystemExit(2) from None
    return list(words)


def say_what_can_be_said() -> None:
    """Have a terminal without all characters print ? instead of one, rather than end finished work in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def sentence(error: DatabaseError) -> str | None:
    """Return what is wrong with the database and what to do; None if the statement is to blame."""
    if isinstance(error, MigrationSchemaMissing) and isinstance(error.__context__, DatabaseError):
        error = error.__context__  # has the SQLSTATE
    state, first = database_watch.state_of(error), str(error).strip().splitlines()[0].rstrip(".")
    if isinstance(error, NotSupportedError):
        return f"{first}. Upgrade it, or set DATABASE_URL to another server."
    if state == OF_THE_ROLE:
        return (
            f"The database role may not do that: {first}. Use the address of the tables' owner in DATABASE_URL for "
            "this, and have the owner run audit/grants.sql after each migration."
        )
    if state in NOT_THERE:
        return "The database lacks migrations of this version: run `python -m stack prepare`."
    if not database_watch.says_so(error):
        return None
    refused = database.refusal(settings.FIREKIND.database_url)
    return unusable(refused or first, runs=not refused)


def unusable(why: str, *, name: str = "DATABASE_URL", runs: bool = False) -> str:
    """Say that the database of a setting cannot be used, and what to do; ``runs`` if the server itself said why."""
    start = "The server is running: fix that" if runs or SERVERS_OWN in why else "Start it"
    return f"The database of {name} cannot be used: {why}. {start}, or correct {name}."
