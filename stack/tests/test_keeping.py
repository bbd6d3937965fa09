"""What keeps promises while others work, the beat does itself: it goes on though no worker takes anything."""

from __future__ import annotations

from functools import partial

import psycopg
import pytest

from config.messages import KEPT_BY_BEAT, RINGS
from stack.outside import waiting
from stack.supervisor.running import Stack

NOTE = (
    "INSERT INTO audit_entry (at, kind, by_name, about, door, address, data)"
    " VALUES (now(), 'sign-in', '', '', 'web', '', '{}') RETURNING n"
)
SEALED = "SELECT 1 FROM audit_seal WHERE (tops ->> 'entries')::bigint >= %s"


def test_sealing_and_the_poll_of_members_are_asked_of_no_worker() -> None:
    assert KEPT_BY_BEAT.keys() >= {"audit.tasks.seal", "audit.tasks.publish", "workflows.tasks.watch_members"}
    rung = {name for ring in RINGS.values() for name in (ring.task, *ring.arguments)}
    assert not KEPT_BY_BEAT.keys() & rung


@pytest.mark.workers
def test_the_audit_is_sealed_while_the_workers_are_gone(stack: Stack) -> None:
    stack.stop("worker", "evidence")
    with psycopg.connect(stack.database_url, autocommit=True) as database:
        for _ in range(2):
            row = database.execute(NOTE).fetchone()
            assert row is not None
            waiting.until(partial(_sealed, database, row[0]), what="a seal", timeout_s=60)


def _sealed(database: psycopg.Connection, n: int) -> bool:
    return database.execute(SEALED, [n]).fetchone() is not None
