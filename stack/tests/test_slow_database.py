"""A database that is slow to answer each statement: Slack is answered in time, and nothing is done later unseen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from stack.outside import Records, SandboxWorkspace, Visitor
from stack.supervisor.running import Stack
from stack.tests.slow_way import SlowWay
from stack.tests.test_kills import declared, until_settled

pytestmark = pytest.mark.workers
SOCKET = ".s.PGSQL.5432"
HELD_S = 0.35  # probes are still answered in time, but a command takes far longer than Slack waits


@pytest.fixture
def way(stack: Stack, tmp_path: Path) -> Iterator[SlowWay]:
    """Route the shared stack's web process to its database through a connection that can be slowed."""
    (folder,) = parse_qs(urlsplit(stack.env["DATABASE_URL"]).query)["host"]
    with closing(SlowWay(tmp_path / SOCKET, Path(folder) / SOCKET)) as way:
        stack.stop("web")
        stack.start("web", env={"DATABASE_URL": stack.env["DATABASE_URL"].replace(folder, str(tmp_path))})
        yield way
        stack.stop("web")
    stack.start("web")


def test_slack_is_answered_in_time_and_nothing_of_it_is_done(stack: Stack, way: SlowWay) -> None:
    """The stand-in Slack waits three seconds, as Slack does, and raises an error after that."""
    codename = declared(stack, "Declared before")
    until_settled(stack, codename)
    workspace = SandboxWorkspace(stack.sandbox_url)
    names = {one["handle"]: one["name"] for one in workspace.state()["people"]}
    workspace.command("ada", f"inc-{codename}", "/incident note")
    with closing(Visitor(stack.base_url)) as visitor:
        visitor.sign_in_as(names["ada"])
        way.held_s = HELD_S
        typed = [workspace.command("ada", f"inc-{codename}", f"/incident update slow {n}") for n in range(3)]
        workspace.submit("ada", {"text": "slow form"})
        page = visitor.get(f"/incidents/{codename}/")
        way.held_s = 0.0

    assert all("too slow" in one["response"]["text"] for one in typed)
    assert (page.status, "Declared before" in page.text) == (200, True)
    workspace.act("close", user="ada")
    workspace.submit("ada")
    assert "Update posted" in workspace.command("ada", f"inc-{codename}", "/incident update slow 1")["response"]["text"]
    until_settled(stack, codename)
    with closing(Records(stack.database_url)) as records:
        told = records.rows("SELECT text FROM incidents_event WHERE text LIKE %s ORDER BY n", "slow %")
    assert [one["text"] for one in told] == ["slow form", "slow 1"]
