"""A worker carries out what another incident needs while one of Slack's methods is silent for thirty others."""

from __future__ import annotations

from contextlib import closing

from stack.outside import Records, SandboxWorkspace, until
from stack.supervisor.running import Stack

PATIENCE_S = 180
SILENT = "conversations.invite"
HANGING = 30
MOST = 10  # calls of the silent method that are given up by then: a worker has no more of them in flight at once
OWED = """
    SELECT e.key FROM workflows_effect e JOIN incidents_incident i ON i.id = e.incident_id
     WHERE i.codename = %s AND e.method <> %s AND e.state <> 'done'
"""
PLANNED = """
    SELECT e.key FROM workflows_effect e JOIN incidents_incident i ON i.id = e.incident_id
     WHERE i.codename = %s AND e.method = %s
"""
GIVEN_UP = "SELECT id FROM workflows_effect WHERE method = %s AND state IN ('waiting', 'running') AND attempt > 0"


def test_one_more_incident_is_carried_out_before_most_of_the_silent_calls_are_given_up(stack: Stack) -> None:
    workspace = SandboxWorkspace(stack.sandbox_url)
    fault = workspace.fault("latency", method=SILENT, ms=30_000)
    try:
        with closing(Records(stack.database_url)) as records:
            for n in range(HANGING):
                workspace.command("ada", "general", f"/incident declare major Number {n}")
            before = set(records.codenames())
            workspace.command("ada", "general", "/incident declare major One more")
            (more,) = set(records.codenames()) - before

            def is_done() -> bool:
                return bool(records.rows(PLANNED, more, SILENT)) and not records.rows(OWED, more, SILENT)

            until(is_done, what="it waits for a method that it does not need", timeout_s=PATIENCE_S)
            assert len(records.rows(GIVEN_UP, SILENT)) <= MOST
    finally:
        workspace.lift(fault)
