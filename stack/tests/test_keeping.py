"""What keeps promises while others work has a queue of its own: it goes on though no worker takes anything."""

from __future__ import annotations

from functools import partial

import psycopg
import pytest

from config.messages import CONFIGURATION, KEEPING
from stack.outside import waiting
from stack.supervisor.running import Stack

NOTE = (
    "INSERT INTO audit_entry (at, kind, by_name, about, door, address, data)"
    " VALUES (now(), 'sign-in', '', '', 'web', '', '{}') RETURNING n"
)
SEALED = "SELECT 1 FROM audit_seal WHERE (tops ->> 'entries')::bigint >= %s"


def test_sealing_and_the_poll_of_members_wait_for_no_other_work() -> None:
    routes = {name: route["queue"] for name, route in CONFIGURATION["task_routes"].items()}  # type: ignore[attr-defined]  # a table of tables
    kept = {name for name, queue in routes.items() if queue == KEEPING}
    assert kept == {"audit.tasks.*", "workflows.tasks.watch_members"}


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
