"""The worker dies by SIGKILL at every step of a move to private: nothing new is ever public, and it completes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from integrations.slack.adapter.cards import notification
from stack.supervisor.running import Stack
from stack.tests.kills import killed_everywhere
from stack.tests.test_kills import ask, declared, settled_after_kills, show, until_settled
from workflows.planning.wording import cards

pytestmark = pytest.mark.workers
# In two incidents, because an effect that is claimed again and again without a result is given up.
KINDS = [("channel", "post", "member", "pin"), ("topic", "bookmark", "counted", "archived")]
NEUTRAL = {notification(card) for card in (cards.withdrawn(), cards.farewell(), cards.withdrawn_announcement())}


def channels(stack: Stack) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(stack, "/sandbox/state")["channels"]
    return found


def public(stack: Stack) -> dict[str, str]:
    """Return everything that the app says in public right now, by channel and message."""
    return {
        f"{one['name']} {message['ts']}": message.get("text", "")
        for one in channels(stack)
        if not one["is_private"]
        for message in one["messages"]
        if message.get("metadata")
    }


def nothing_new(before: dict[str, str], now: dict[str, str]) -> bool:
    """Return whether everything public now was already public before, or says nothing."""
    return all(text in NEUTRAL or before.get(key) == text for key, text in now.items())


@pytest.mark.parametrize("kinds", KINDS)
def test_a_worker_killed_on_the_way_to_private_says_nothing_new_in_public(stack: Stack, kinds: tuple[str, ...]) -> None:
    codename = declared(stack, f"Keys leaked around {' '.join(kinds)}")
    until_settled(stack, codename)
    stack.stop("worker")
    before = public(stack)
    stack.manage("incident", "retype", codename, "security")
    spoken: list[bool] = []
    killed_everywhere(stack, codename, *kinds, after_each=lambda: spoken.append(nothing_new(before, public(stack))))
    assert spoken
    assert all(spoken)
    shown = settled_after_kills(stack, codename)

    assert not [effect for effect in shown["effects"] if effect["state"] != "done"]
    assert "Keys leaked" not in " ".join(public(stack).values())
    mine = [one for one in channels(stack) if one["name"].startswith(f"inc-{codename}")]
    assert [one["is_archived"] for one in mine] == [True]
    (room,) = [one for one in channels(stack) if one["name"] == show(stack, codename)["channel"]["name"]]
    assert room["is_private"]
    ours = [one for one in room["messages"] if one.get("metadata")]
    assert len(ours) == len({json.dumps([one.get("blocks"), one.get("attachments")]) for one in ours})
