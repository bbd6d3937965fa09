"""The worker dies by SIGKILL at every failpoint of perform; everything ends done, and nothing exists twice."""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from contextlib import closing
from typing import Any

import psycopg
import pytest

from stack.outside import Records, SandboxTracker, until
from stack.supervisor.running import Stack
from stack.tests.kills import PATIENCE_S, hint, hurried, killed, killed_everywhere, started
from workflows.effects import failpoints

pytestmark = pytest.mark.workers
KINDS = ["channel", "post", "member", "pin", "topic", "bookmark"]


def ask(stack: Stack, path: str, body: dict[str, Any] | None = None) -> Any:
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(  # noqa: S310  # the sandbox's own address
        f"{stack.sandbox_url}{path}", data=data, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=20) as response:  # noqa: S310  # the same
        return json.load(response)


def show(stack: Stack, codename: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(stack.manage("incident", "show", codename, "--json").stdout)
    return shown


def codenames(stack: Stack) -> set[str]:
    with psycopg.connect(stack.database_url) as connection:
        return {row[0] for row in connection.execute("SELECT codename FROM incidents_incident")}


def declared(stack: Stack, title: str) -> str:
    before = codenames(stack)
    answer = ask(stack, "/sandbox/command", {"user": "ada", "channel": "general", "text": f"/incident declare {title}"})
    assert answer["ok"], answer
    (new,) = codenames(stack) - before
    return new


def until_settled(stack: Stack, codename: str) -> dict[str, Any]:
    with closing(Records(stack.database_url)) as records:
        until(lambda: records.settled(codename), what=f"nothing to be owed to {codename}", timeout_s=PATIENCE_S)
    return show(stack, codename)


def settled_after_kills(stack: Stack, codename: str) -> dict[str, Any]:
    """Do the same where requests died with their workers."""
    with closing(Records(stack.database_url)) as records:
        until(lambda: hurried(stack, records, codename), what=f"nothing is owed to {codename}", timeout_s=PATIENCE_S)
    return show(stack, codename)


def test_a_worker_killed_at_every_point_leaves_nothing_undone_and_nothing_twice(stack: Stack) -> None:
    stack.stop("worker")
    calls_before = ask(stack, "/sandbox/calls")["next"]
    codename = declared(stack, "Killed around everything")
    killed_everywhere(stack, codename, *KINDS)
    shown = settled_after_kills(stack, codename)

    assert {effect["state"] for effect in shown["effects"]} == {"done"}
    (channel,) = [one for one in ask(stack, "/sandbox/state")["channels"] if one["name"].startswith(f"inc-{codename}")]
    assert len(channel["members"]) == len(set(channel["members"]))
    in_channel = [one for one in shown["people"] if one["state"] == "in the channel"]
    assert len(channel["members"]) == len(in_channel) + 1  # and the bot
    assert len(channel["pins"]) == 1
    assert len(channel["bookmarks"]) == 1
    ours = [one for one in channel["messages"] if one.get("metadata")]
    assert len(ours) == 1
    (announce,) = [one for one in ask(stack, "/sandbox/state")["channels"] if one["name"] == "incidents"]
    assert sum("Killed around everything" in json.dumps(one) for one in announce["messages"]) == 1

    calls = ask(stack, f"/sandbox/calls?since={calls_before}")["calls"]
    mine = [call for call in calls if channel["id"] in json.dumps(call) or codename in json.dumps(call)]
    made = Counter(call["method"] for call in mine if call["ok"])
    assert made["conversations.create"] == 1
    assert made["chat.postMessage"] == 2  # the headline and the announcement
    assert made["conversations.invite"] == 1


def test_facts_that_no_hint_told_of_are_found_by_the_sweep(stack: Stack) -> None:
    stack.stop("worker")
    codename = declared(stack, "Nobody was told")
    stack.start("worker")
    assert {effect["state"] for effect in until_settled(stack, codename)["effects"]} == {"done"}


def test_a_ticket_is_opened_once_and_in_step_when_the_worker_is_killed_before_it_is_recorded(stack: Stack) -> None:
    tracker, dies_at = SandboxTracker(stack.sandbox_url), f"{failpoints.AFTER_CALL}:ticket"
    codename = declared(stack, "Killed around a ticket")
    until_settled(stack, codename)
    before = len(tracker.tickets())
    stack.stop("worker")
    typed(stack, f"followup {codename} Rotate the keys")
    assert killed(stack, codename, dies_at) == {dies_at}
    (ticket,) = tracker.tickets()[before:]
    assert followup(stack, codename)["ticket"] == "", "it is there, and nothing here knows of it"
    named = {"project": ticket["project"], "n": ticket["n"]}
    tracker.act("rename", **named, title="Rotate every key")  # meanwhile, by someone there
    started(stack)
    settled_after_kills(stack, codename)
    hint(stack)
    assert [one["title"] for one in tracker.tickets()[before:]] == ["Rotate every key"]
    until(lambda: followup(stack, codename)["text"] == "Rotate every key", what="the follow-up was not renamed")

    stack.stop("worker")
    typed(stack, f"tasks {codename} done 1")
    assert killed(stack, codename, dies_at) == {dies_at}
    tracker.act("assign", **named, owner="mateo")
    started(stack)
    settled_after_kills(stack, codename)
    hint(stack)
    until(lambda: followup(stack, codename)["email"] == "mateo@example.com", what="nobody heard who has it")
    assert [(one["state"], one["owner"]) for one in tracker.tickets()[before:]] == [("done", "mateo")]
    assert followup(stack, codename)["state"] == "done"


def typed(stack: Stack, text: str) -> None:
    """Have Ada type a command."""
    ask(stack, "/sandbox/command", {"user": "ada", "channel": "general", "text": f"/incident {text}"})


def followup(stack: Stack, codename: str) -> dict[str, Any]:
    """Read the one follow-up of an incident."""
    with closing(Records(stack.database_url)) as records:
        (row,) = records.followups(codename)
    return row
