"""A word used throughout an incident, in a whole stack: does it appear in logs, messages or process arguments?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from stack.outside import Records, SandboxAccount, SandboxWorkspace, Visitor, until
from stack.story.desk import StoryDesk
from stack.supervisor.running import Stack
from stack.tests.conftest import Shared
from stack.tests.overheard import Overheard, files, held

pytestmark = pytest.mark.workers
WORD, THEIRS = "xylographic", "wei"
MEMBER, OUTSIDER = "ada", "kofi"
WORK = ("worker", "evidence")
PROFILE = f"main;leaked_{WORD}_handler;rotate 70\nmain;rest 30\n".encode()
SETTLED_S = 180  # for a busy machine on which a worker restarts


@dataclass(slots=True)
class Played:
    """One incident from declared to private, and what was overheard meanwhile."""

    stack: Stack
    workspace: SandboxWorkspace
    account: SandboxAccount
    records: Records
    desk: StoryDesk
    heard: Overheard
    codename: str = ""
    waiting: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    since: float = 0

    @property
    def room(self) -> str:
        """The incident's current channel."""
        return f"inc-{self.records.incident(self.codename)['codenames'][-1]}"

    def settle(self) -> None:
        """Wait until nothing more is owed."""
        until(lambda: self.records.settled(self.codename), what="something is still pending", timeout_s=SETTLED_S)

    def types(self, who: str, text: str) -> None:
        """Type a command in the current channel, and confirm the modal if one opens."""
        answer = self.workspace.command(who, self.room, f"/incident {text}")
        if answer.get("view"):
            self.workspace.submit(who)


@pytest.fixture(scope="module")
def played(stack: Stack, shared: Shared) -> Iterator[Played]:
    heard = Overheard()
    workspace, account = SandboxWorkspace(stack.sandbox_url), SandboxAccount(stack.sandbox_url)
    shared.hearing.append(heard.line)
    stack.stop(*WORK)  # so that they are overheard from their first word on
    stack.start(*WORK)
    with (
        closing(Records(stack.database_url)) as records,
        closing(StoryDesk(stack, workspace)) as desk,
        heard.listening(stack.env["REDIS_URL"]),
    ):
        one = Played(stack, workspace, account, records, desk, heard)
        _in_public(one)
        _moved(one)
        yield one
    shared.hearing.remove(heard.line)


def _in_public(one: Played) -> None:
    """Declare, write, page and measure, each with the word in it, while everyone may look."""
    one.workspace.command(MEMBER, "general", f"/incident declare The {WORD} printer leaks")
    one.codename = one.records.codenames()[-1]
    one.settle()
    one.types(MEMBER, f"update The {WORD} update")
    one.types(MEMBER, f"note The {WORD} note")
    one.types(MEMBER, f"finding It is the {WORD} cache")
    one.types(MEMBER, f"page Engineering because the {WORD} needs help")
    one.desk.api(MEMBER).send(one.codename, PROFILE, title=f"The {WORD} profile", file_name=f"{WORD}.folded")
    until(
        lambda: any(row["state"] != "reading" for row in _evidence(one)), what="it is not read yet", timeout_s=SETTLED_S
    )
    one.settle()
    one.workspace.act("join", user=THEIRS, channel=one.room)
    one.workspace.act("message", user=THEIRS, channel=one.room, text=f"I wrote {WORD} myself")
    one.workspace.act("home", user=OUTSIDER)
    one.workspace.wait_idle()
    assert WORD in json.dumps(_home(one)), "the tab shows it while it is public"


def _moved(one: Played) -> None:
    """Retype while no worker takes what waits, look at what waits, and let it continue."""
    one.stack.stop("worker")
    one.calls = one.account.called()
    state = one.workspace.state()
    said = [message for channel in state["channels"] for message in channel["messages"]] + state["ephemerals"]
    one.since = max(float(message["ts"]) for message in said)
    one.types(MEMBER, f"type security because the {WORD} is somebody's secret")
    one.waiting = held(one.stack.env["REDIS_URL"])
    one.stack.start("worker")
    one.settle()
    one.types(MEMBER, f"update The {WORD} once more")
    one.workspace.command(OUTSIDER, "general", "/incident list")
    one.settle()
    one.account.wait_idle()
    until(lambda: WORD not in json.dumps(_home(one)), what="the tab still shows it")


def _evidence(one: Played) -> list[Any]:
    return [row for row in one.records.evidence(one.codename) if WORD in row["title"]]


def _home(one: Played) -> Any:
    state = one.workspace.state()
    user = next(person["id"] for person in state["people"] if person["handle"] == OUTSIDER)
    return next((view for view in state["views"] if view["id"] == state["homes"].get(user)), None)


def test_no_process_logs_it(played: Played) -> None:
    assert {*WORK} <= {line.partition(":")[0] for line in played.heard.lines}
    assert [line for line in played.heard.lines if WORD in line] == []


def test_tasks_are_asked_for_by_ids_and_the_broker_holds_nothing_of_it(played: Played) -> None:
    assert WORD.encode() not in bytes(played.heard.commands)
    assert played.heard.bodies, "messages passed"
    for body in played.heard.bodies:
        arguments, named, _ = json.loads(body)
        assert all(isinstance(one, int) for one in arguments), body
        assert named == {}, body
    assert "firekind" in played.waiting, "messages waited while there was no worker"
    holding = {**played.waiting, **held(played.stack.env["REDIS_URL"])}
    assert [key for key, value in holding.items() if WORD in key + value] == []


def test_no_process_is_started_with_it_and_no_file_is_named_by_it(played: Played) -> None:
    assert any("evidence.reader.fork_server" in one for one in played.heard.arguments), "files were read meanwhile"
    assert [one for one in played.heard.arguments if WORD in one] == []
    names = {*played.heard.names, *files(Path(played.stack.env["FIREKIND_DATA_DIR"]))}
    assert [one for one in names if WORD in one] == []


def test_slack_has_it_where_others_wrote_it_alone(played: Played) -> None:
    state = played.workspace.state()
    (room,) = [one for one in state["channels"] if one["name"] == played.room]
    assert room["is_private"]
    channels = [one for one in state["channels"] if one["id"] != room["id"]]
    (wei,) = [one["id"] for one in state["people"] if one["handle"] == THEIRS]
    messages = [message for one in channels for message in one.pop("messages")]
    assert [one["user"] for one in messages if WORD in json.dumps(one)] == [wei]
    shown = [one for one in state["views"] + state["ephemerals"] if one["user"] not in room["members"]]
    since = [one for one in shown if float(one.get("ts") or "inf") > played.since]
    outside = {"channels": channels, "shown": since, "people": state["people"], "canvases": state["canvases"]}
    assert [name for name, held in outside.items() if WORD in json.dumps(held)] == []
    assert [one for one in state["files"] if WORD in json.dumps(one) and room["id"] not in one["channels"]] == []


def test_the_pager_has_it_in_its_log_alone(played: Played) -> None:
    state = played.account.state()
    logs = {id: incident.pop("log") for id, incident in state["incidents"].items()}
    assert WORD not in json.dumps(state)
    having = [line["type"] for log in logs.values() for line in log if WORD in json.dumps(line)]
    assert having == ["trigger_log_entry"]
    calls = played.account.calls(since=played.calls)
    assert calls
    assert WORD not in json.dumps(calls)


def test_no_page_of_an_outsider_has_it(played: Played) -> None:
    visitor: Visitor = played.desk.visitor(OUTSIDER)
    below = f"/incidents/{played.codename}/"
    for path in ("/", "/people", "/oncall/", "/tokens/", below, f"{below}evidence/1/", f"{below}evidence/1/original"):
        page = visitor.get(path)
        assert WORD.encode() not in page.body, path
        assert WORD not in page.text, path
        assert (page.status == 404) == path.startswith(below), path
