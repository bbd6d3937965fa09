"""Have PostgreSQL end statements, for whatever reason: the server raises the error, so everything after it is real."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

# An administrator or a time limit ended the statement or the transaction; others were in its way.
CUT_SHORT = {
    "57014": "cancelled",
    "25P03": "stood still",
    "40P01": "deadlock",
    "40001": "serialization",
    "55P03": "locked",
}
# The server accepts nothing more, from this session or from anyone.
AWAY = {"57P01": "shut down", "53300": "too many connections", "53100": "disk full", "25006": "read-only"}
STATES = CUT_SHORT | AWAY
# The server is well, and what the statement needs on its disk is not.
DAMAGED = {"XX001": "damaged data", "XX002": "damaged index"}
RAISED = "DO $$ BEGIN RAISE EXCEPTION 'ended by the server' USING ERRCODE = '{}'; END $$"
WITHIN = ("SAVEPOINT", "RELEASE", "ROLLBACK")  # how a transaction of the application looks inside a test's transaction


@dataclass(slots=True)
class Ended:
    """How many statements ran, and whether one of them was ended."""

    statements: int = 0
    happened: bool = False


@contextmanager
def ended(state: str, *, at: int) -> Iterator[Ended]:
    """Have the server end the statement after this many others with a SQLSTATE, once."""
    seen = Ended()

    def run(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if str(sql).startswith(WITHIN) or seen.happened:
            return execute(sql, params, many, context)
        seen.statements += 1
        if seen.statements <= at:
            return execute(sql, params, many, context)
        seen.happened = True
        with transaction.atomic():  # without it, this statement would end the test's transaction
            return execute(RAISED.format(state), None, False, context)

    with connection.execute_wrapper(run):
        yield seen


def moments() -> Iterator[int]:
    """Yield numbers of statements: each of the first ones, then fewer and fewer."""
    at = 0
    while True:
        yield at
        at += 1 + at // 3
