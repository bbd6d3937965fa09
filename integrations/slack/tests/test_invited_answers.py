"""The person who declares is told they are invited only if they will be, or that no app can invite them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from integrations.slack.tests.door import Door
from integrations.tests.test_invites_promised import TRAITS
from workflows.usergroups import workspace_cache

WHO = ["a member", "a guest", "a guest of one channel", "a stranger"]


def command(door: Door, words: str) -> str:
    return door.command("odo", words)


def form(door: Door, words: str) -> str:
    command, _, title = words.partition(" ")
    door.command("odo", command)
    door.submit("odo", title=title)
    return door.reads(door.modal("odo"))


WAYS: dict[str, Callable[[Door], str]] = {
    "a command": lambda door: command(door, "declare checkout is slow"),
    "a private one": lambda door: command(door, "declare security: keys leaked"),
    "a form": lambda door: form(door, "declare checkout is slow"),
    "a drill": lambda door: command(door, "drill checkout is slow"),
    "a replay": lambda door: command(door, f"replay {door.incident().codename} 600"),
}


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("way", WAYS)
def test_whoever_is_told_that_they_are_invited_is_and_nobody_else(door: Door, who: str, way: str) -> None:
    odo = door.slack.add_person("odo", name="Odo", email="odo@example.com")
    door.slack.acts.join("odo", "lobby")
    if way == "a replay":
        past = door.declared("checkout is slow", by="odo")
        door.command("odo", "resolved rolled back", channel=door.house.channel(past))
    for name, value in (TRAITS.get(who) or {}).items():
        setattr(odo, name, value)
    workspace_cache.refresh(everybody=True)

    said = WAYS[way](door)
    opened = door.house.settle(door.incident())
    is_in = "odo" in door.slack.members(door.house.channel(opened))
    assert is_in == (who == "a member")
    assert ("you are invited to it" in said) == is_in
    assert ("can't invite you" in said) != is_in
