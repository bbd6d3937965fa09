"""A small workspace for the tests of the stand-in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from integrations.slack import fake
from integrations.slack.protocol.rules import COMMON_ERRORS, RULES, words

TOKEN = "xoxb-sandbox"
BOT = fake.BOT_USER

EVERYTHING = words(
    """
    commands chat:write chat:write.public channels:manage channels:read channels:join channels:history
    groups:write groups:read groups:history im:read im:write mpim:read bookmarks:read bookmarks:write
    pins:read pins:write reactions:read reactions:write users:read users:read.email users.profile:read
    usergroups:read usergroups:write files:read files:write links:read links:write team:read canvases:write
    """
)
"""More than our own app asks for: what the stand-in does for any."""


class Clock:
    """A clock that moves only when told."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class Strict(fake.FakeSlack):
    """A stand-in that may only answer with errors listed in the table of rules."""

    clock: Clock

    def call(self, method: str, args: Mapping[str, Any], *, token: str = TOKEN, **more: Any) -> fake.Reply:
        reply = super().call(method, args, token=token, **more)
        error = reply.body.get("error")
        if error and error != "unknown_method":
            assert error in RULES[method].errors | COMMON_ERRORS, f"{method} is not known to answer {error}"
        return reply

    def ok(self, method: str, **args: Any) -> Mapping[str, Any]:
        """Call a method and require success."""
        reply = self.call(method, args)
        assert reply.ok, reply.body
        return reply.body

    def error(self, method: str, **args: Any) -> str:
        """Call a method and return its error."""
        return str(self.call(method, args).body.get("error", ""))


def small(**settings: Any) -> Strict:
    """Return a workspace of five people, two groups and four channels."""
    clock = Clock()
    slack = Strict(clock=clock, **({"scopes": EVERYTHING} | settings))
    slack.clock = clock
    for handle, traits in PEOPLE.items():
        slack.add_person(handle, **traits)
    slack.add_group("support", members=["ada", "ben"])
    slack.add_group("robots", members=["cron"])
    slack.add_channel("general", members=["ada", "ben", "firekind"], is_general=True, creator="ada")
    slack.add_channel("ours", members=["firekind", "ada"], creator="firekind")
    slack.add_channel("others", members=["ada", "ben"], creator="ada")
    slack.add_channel("hidden", members=["ada"], is_private=True, creator="ada")
    slack.add_channel("closed", members=["firekind", "ada"], is_archived=True, creator="firekind")
    return slack


PEOPLE: dict[str, dict[str, Any]] = {
    "ada": {"is_admin": True, "is_owner": True},
    "ben": {},
    "guest": {"is_restricted": True},
    "single": {"is_ultra_restricted": True},
    "stranger": {"is_stranger": True},
    "gone": {"deleted": True},
    "cron": {"is_bot": True},
}
