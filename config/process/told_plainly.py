"""What a command says when its database or its own words stop it: one sentence with what to do, and no traceback."""

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

WAIT_S: Final = 5.0  # for a connection: somebody sits before the terminal
OF_THE_ROLE: Final = "42501"
NOT_THERE: Final = ("42P01", "42703")  # a table or a column
UNREAD: Final = 128 + signal.SIGPIPE


@contextmanager
def told_plainly() -> Iterator[None]:
    """End the process with 1 and a sentence where the database is to blame; any other error goes on its way.

    So it ends where what it says cannot be written; where nobody reads on, as behind ``head``, with 141.
    """
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # it says each try; the sentence has the reason
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
    """Write all that was said before the block is over, and end the process plainly where that cannot be done."""
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
    """Let what is still to be written go nowhere: Python writes it as it ends, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def readable(words: Sequence[str]) -> list[str]:
    """Return the words of a command line; end the process where one is no text, before anything is done."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            shown = word.encode("utf-8", "replace").decode()
            print(f"firekind: {shown} is not UTF-8. Type it again, or set the terminal to UTF-8.", file=sys.stderr)
            raise SystemExit(2) from None
    return list(words)


def say_what_can_be_said() -> None:
    """Have a terminal without all letters show a ? in place of one, and not end what was just done in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def sentence(error: DatabaseError) -> str | None:
    """Return what is wrong with the database and what to do; None where the statement is to blame."""
    if isinstance(error, MigrationSchemaMissing) and isinstance(error.__context__, DatabaseError):
        error = error.__context__  # which has the state
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
    return unusable(database.refusal(settings.FIREKIND.database_url) or first)


def unusable(why: str, *, name: str = "DATABASE_URL") -> str:
    """Say that the database of a setting cannot be used, and what to do."""
    return f"The database of {name} cannot be used: {why}. Start it, or correct {name}."
