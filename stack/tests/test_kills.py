"""The worker dies by SIGKILL at every named point of perform; everything ends done, and nothing is there twice."""

from __future__ import annotations

import json
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from stack.running import Stack
from stack.tests.kills import PATIENCE_S, killed_at_every_point
from stack.throwaway import throwaway

pytestmark = pytest.mark.workers
KINDS = ["channel", "post", "member", "pin", "topic", "bookmark"]


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with throwaway() as running:
        yield running


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


SETTLED = """
    SELECT count(p.revision) > 0 AND count(e.id) > 0 AND bool_and(e.state NOT IN ('waiting', 'running'))
      FROM incidents_incident i
      LEFT JOIN workflows_planned p ON p.incident_id = i.id AND p.revision = i.revision
      LEFT JOIN workflows_effect e ON e.incident_id = i.id
     WHERE i.codename = %s GROUP BY i.id, p.revision
"""


def until_settled(stack: Stack, codename: str, *, timeout_s: float = PATIENCE_S) -> dict[str, Any]:
    deadline = time.monotonic() + timeout_s
    with psycopg.connect(stack.database_url, autocommit=True) as connection:
        while (row := connection.execute(SETTLED, [codename]).fetchone()) is None or not row[0]:
            assert time.monotonic() < deadline, show(stack, codename)["effects"]
            time.sleep(0.1)
    return show(stack, codename)


@pytest.mark.parametrize("kind", KINDS)
def test_a_worker_killed_at_every_point_leaves_nothing_undone_and_nothing_twice(stack: Stack, kind: str) -> None:
    stack.stop("worker")
    calls_before = ask(stack, "/sandbox/calls")["next"]
    codename = declared(stack, f"Killed around {kind}")
    killed_at_every_point(stack, kind)
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
    assert sum(f"Killed around {kind}" in json.dumps(one) for one in announce["messages"]) == 1

    calls = ask(stack, f"/sandbox/calls?since={calls_before}")["calls"]
    made = Counter(call["method"] for call in calls if call["ok"])
    assert made["conversations.create"] == 1
    assert made["chat.postMessage"] == 2  # the headline and the announcement
    assert made["conversations.invite"] == 1


def test_facts_that_no_hint_told_of_are_found_by_the_sweep(stack: Stack) -> None:
    stack.stop("worker")
    codename = declared(stack, "Nobody was told")
    ask(stack, "/sandbox/calls")
    stack.start("worker")
    assert {effect["state"] for effect in until_settled(stack, codename)["effects"]} == {"done"}
