"""The worker dies by SIGKILL at every named point of perform; everything ends done, and nothing is there twice."""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from contextlib import closing
from typing import Any

import psycopg
import pytest

from stack.outside import Records, until
from stack.supervisor.running import Stack
from stack.tests.kills import PATIENCE_S, killed_everywhere

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


def test_a_worker_killed_at_every_point_leaves_nothing_undone_and_nothing_twice(stack: Stack) -> None:
    stack.stop("worker")
    calls_before = ask(stack, "/sandbox/calls")["next"]
    codename = declared(stack, "Killed around everything")
    killed_everywhere(stack, codename, *KINDS)
    shown = until_settled(stack, codename)

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
