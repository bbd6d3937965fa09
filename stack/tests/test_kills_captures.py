"""The evidence worker dies by SIGKILL around a capture; it is kept once, and never while another still takes it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from config import env
from stack.running import Stack
from stack.tests.kills import PATIENCE_S
from stack.tests.test_kills import ask, show, until_settled
from stack.throwaway import throwaway
from workflows.effects import failpoints

pytestmark = pytest.mark.workers
LEASE_S, SECONDS = 2, 4
READ_S = 90  # a reader that died with its worker is replaced after a lease of its own
DECLARE = """
from django.utils import timezone
from incidents import lifecycle
print(lifecycle.declare("Slow", by=None, at=timezone.now(), services=["checkout"]).codename)
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    listed = (env.ROOT / "fixtures/sandbox_sources.yaml").read_text().replace("seconds: 5", f"seconds: {SECONDS}")
    sources = tmp_path_factory.mktemp("sources") / "sources.yaml"
    sources.write_text(listed)
    with throwaway(env={"FIREKIND_LEASE_S": str(LEASE_S), "PROFILE_SOURCES_FILE": str(sources)}) as running:
        yield running


def declared(stack: Stack) -> str:
    return stack.manage("shell", "--no-imports", "-c", DECLARE).stdout.split()[-1]


def kept(stack: Stack, codename: str) -> list[tuple[Any, ...]]:
    asked = """SELECT e.n, e.state, e.phase, e.says FROM evidence_evidence e
                 JOIN incidents_incident i ON i.id = e.incident_id WHERE i.codename = %s ORDER BY e.n"""
    with psycopg.connect(stack.database_url) as connection:
        return connection.execute(asked, [codename]).fetchall()


def until_read(stack: Stack, codename: str, *, timeout_s: float = READ_S) -> list[tuple[Any, ...]]:
    deadline = time.monotonic() + timeout_s
    while not (found := kept(stack, codename)) or any(row[1] == "reading" for row in found):
        assert time.monotonic() < deadline, (found, stack.processes["evidence"].output)
        time.sleep(0.1)
    return found


def test_a_capture_whose_worker_is_killed_at_every_point_is_kept_once(stack: Stack) -> None:
    stack.stop("evidence")
    codename = declared(stack)
    for point in failpoints.POINTS:
        stack.start("evidence", env={"FIREKIND_CRASH_AT": f"{point}:capture"})
        assert stack.wait_exit("evidence", timeout_s=PATIENCE_S) == -9
    stack.start("evidence")
    shown = until_settled(stack, codename)
    assert [one["state"] for one in shown["effects"] if one["key"].startswith("capture/")] == ["done"]
    (row,) = until_read(stack, codename)
    assert row[1:3] == ("ready", "during")
    assert "match_every_rule" in row[3]


def test_a_capture_that_lasts_longer_than_a_lease_is_taken_by_one_worker(stack: Stack) -> None:
    codename = declared(stack)
    shown = until_settled(stack, codename)
    (capture,) = [one for one in shown["effects"] if one["key"].startswith("capture/")]
    assert capture["state"] == "done"
    assert len(until_read(stack, codename)) == 1
    with psycopg.connect(stack.database_url) as connection:
        (token,) = connection.execute(
            "SELECT token FROM workflows_effect e JOIN incidents_incident i ON i.id = e.incident_id"
            " WHERE i.codename = %s AND e.kind = 'capture'",
            [codename],
        ).fetchone() or (0,)
    assert token == 1, "the claim was held from the first second to the last"


def test_the_switch_is_told_by_the_pair(stack: Stack) -> None:
    codename = declared(stack)
    until_settled(stack, codename)
    until_read(stack, codename)
    ask(stack, "/sandbox/program", {"fixed": True})
    stack.manage("incident", "mitigate", codename, "--json")
    until_settled(stack, codename)
    before, after = until_read(stack, codename)
    assert (before[2], after[2]) == ("during", "after")
    assert "match_every_rule" in before[3]
    assert "match_every_rule" not in after[3]
    assert show(stack, codename)["status"] == "mitigated"
