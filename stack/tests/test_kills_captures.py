"""The evidence worker dies by SIGKILL around a capture; it is kept once, and claimed for as long as it takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from stack.outside import Records, until
from stack.supervisor.running import Stack
from stack.tests.kills import PATIENCE_S, hint, killed_everywhere
from stack.tests.test_kills import ask, show, until_settled

pytestmark = pytest.mark.workers
LEASE_S = 1
DECLARE = """
from django.utils import timezone
from incidents import lifecycle
print(lifecycle.declare("Slow", by=None, at=timezone.now(), services=["%s"]).codename)
"""
KEPT = """
    SELECT e.n, e.state, e.phase, e.says FROM evidence_evidence e
      JOIN incidents_incident i ON i.id = e.incident_id WHERE i.codename = %s ORDER BY e.n
"""
CLAIM = """
    SELECT e.state, e.token, e.leased_until FROM workflows_effect e
      JOIN incidents_incident i ON i.id = e.incident_id WHERE i.codename = %s AND e.kind = 'capture'
"""


@pytest.fixture(autouse=True)
def _slow(stack: Stack) -> None:
    """Make the program as slow as before the fix."""
    ask(stack, "/sandbox/program", {"fixed": False})


@pytest.fixture
def hurried(stack: Stack) -> Iterator[None]:
    """Make the evidence worker's claims shorter than a long capture."""
    stack.stop("evidence")
    stack.start("evidence", env={"FIREKIND_LEASE_S": str(LEASE_S)})
    yield
    stack.stop("evidence")
    stack.start("evidence")


def declared(stack: Stack, service: str = "checkout") -> str:
    return stack.manage("shell", "--no-imports", "-c", DECLARE % service).stdout.split()[-1]


def until_read(stack: Stack, codename: str) -> list[tuple[Any, ...]]:
    """Wait until the capture is read, and return its number, state, phase and sentence."""
    with psycopg.connect(stack.database_url, autocommit=True) as database:

        def kept() -> list[tuple[Any, ...]]:
            found = database.execute(KEPT, [codename]).fetchall()
            return [] if any(row[1] == "reading" for row in found) else found

        return until(kept, what="nothing was read", timeout_s=PATIENCE_S)


def test_a_capture_whose_worker_is_killed_at_every_point_is_kept_once(stack: Stack) -> None:
    stack.stop("evidence")
    codename = declared(stack)
    killed_everywhere(stack, codename, "capture", process="evidence")
    shown = until_settled(stack, codename)
    assert [one["state"] for one in shown["effects"] if one["key"].startswith("capture/")] == ["done"]
    (row,) = until_read(stack, codename)
    assert row[1:3] == ("ready", "during")
    assert "match_every_rule" in row[3]


@pytest.mark.usefixtures("hurried")
def test_a_capture_that_lasts_longer_than_a_lease_is_taken_by_one_worker(stack: Stack) -> None:
    codename = declared(stack, service="payments")
    held: list[datetime] = []
    with closing(Records(stack.database_url)) as records:

        def taken() -> bool:
            (claim,) = records.rows(CLAIM, codename) or [{"state": "", "leased_until": None, "token": 0}]
            if claim["state"] == "running":
                held.append(claim["leased_until"])
            return bool(claim["state"] == "done")

        until(taken, what="it was not captured", timeout_s=PATIENCE_S)
        (claim,) = records.rows(CLAIM, codename)
    assert max(held) - min(held) > timedelta(seconds=LEASE_S), "the claim was renewed until it was done"
    assert claim["token"] == 1, "the claim was held from the first second to the last"
    assert len(until_read(stack, codename)) == 1


def test_the_switch_is_told_by_the_pair(stack: Stack) -> None:
    codename = declared(stack)
    until_settled(stack, codename)
    until_read(stack, codename)
    ask(stack, "/sandbox/program", {"fixed": True})
    stack.manage("incident", "mitigate", codename, "--json")
    hint(stack)
    until_settled(stack, codename)
    before, after = until_read(stack, codename)
    assert (before[2], after[2]) == ("during", "after")
    assert "match_every_rule" in before[3]
    assert "match_every_rule" not in after[3]
    assert show(stack, codename)["status"] == "mitigated"
