"""Promises are kept without any message while others work: either kind of worker does it by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import psycopg
import pytest

from config.broker import EFFECTS, EVIDENCE
from config.process.looks import SHARED
from stack.outside import waiting
from stack.supervisor.running import Stack

NOTE = (
    "INSERT INTO audit_entry (at, kind, by_name, about, door, address, data)"
    " VALUES (now(), 'sign-in', '', '', 'web', '', '{}') RETURNING n"
)
SEALED = "SELECT 1 FROM audit_seal WHERE (tops ->> 'entries')::bigint >= %s"


def test_either_kind_of_worker_seals() -> None:
    for queue in (EFFECTS, EVIDENCE):
        assert {look.task for look in SHARED[queue]} >= {"audit.tasks.seal", "audit.tasks.publish"}


@pytest.mark.workers
@pytest.mark.parametrize("gone", ["worker", "evidence", "redis"])
def test_the_audit_is_sealed_while_something_is_gone(stack: Stack, gone: str) -> None:
    with without(stack, gone):
        _sealed_twice(stack)


@contextmanager
def without(stack: Stack, gone: str) -> Iterator[None]:
    """Stop one part, and restart it."""
    one = stack.servers.get(gone)
    one.stop() if one else stack.stop(gone)
    yield
    one.start() if one else stack.start(gone)


def _sealed_twice(stack: Stack) -> None:
    with psycopg.connect(stack.database_url, autocommit=True) as database:
        for _ in range(2):
            row = database.execute(NOTE).fetchone()
            assert row is not None
            waiting.until(partial(_sealed, database, row[0]), what="a seal", timeout_s=60)


def _sealed(database: psycopg.Connection, n: int) -> bool:
    return database.execute(SEALED, [n]).fetchone() is not None
