"""A new channel is archived or deleted while a retype is still being carried out, at every point of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from incidents.models import Incident
from integrations.slack.adapter import wire
from integrations.slack.tests.door import Door
from integrations.slack.tests.straight import StraightWire
from workflows.models import Effect


@dataclass(slots=True)
class Midway:
    """Closes an incident's newest channel after a number of calls that changed the workspace.

    For even numbers the answer of that call is lost as well.
    """

    door: Door
    how: str
    left: int = 0
    dropped: bool = False
    old: str = ""
    closed: bool = False

    def after(self, calls: int, *, old: str) -> None:
        """Close a channel other than the old one after this many further calls."""
        self.left, self.old, self.closed, self.dropped = calls, old, False, calls % 2 == 0

    def called(self, method: str) -> None:
        """Count a call, and close the channel when it is the right one."""
        self.left -= 1
        new = [one for one in self.door.slack.workspace.channels.values() if one.name.startswith("inc-")]
        dee = self.door.slack.person("dee")
        if self.left > 0 or self.closed or not self.old or new[-1].name == self.old:
            return
        if self.how == "archive" and dee.id not in new[-1].members:
            return
        self.closed = dee.is_owner = True
        if self.how == "delete":
            self.door.slack.acts.delete_channel("dee", new[-1].id)
        else:
            self.door.slack.acts.archive("dee", new[-1].name)
        self.door.deliver()
        if self.dropped:
            raise wire._broken(method, ConnectionResetError("dropped"))


@pytest.fixture(params=["archive", "delete"])
def midway(door: Door, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Midway:
    midway, call = Midway(door, request.param), StraightWire.call

    def counted(self: StraightWire, method: str, **arguments: Any) -> dict[str, Any]:
        before = len(door.house.writes())
        answer = call(self, method, **arguments)
        if len(door.house.writes()) > before:
            midway.called(method)
        return answer

    monkeypatch.setattr(StraightWire, "call", counted)
    return midway


def test_the_old_channel_is_left_and_nothing_waits_for_good(door: Door, midway: Midway) -> None:
    for calls in count(1):
        incident = door.declared(f"it is slow {calls}", by="dee")
        old = door.house.channel(incident)
        midway.after(calls, old=old)
        moved = door.house.retype(incident, "security")
        if not midway.closed:
            break
        is_at_rest(moved)
        assert door.slack.channel(old).is_archived, f"after {calls} calls"
        said = [message.text for message in door.slack.messages(old)]
        assert [text for text in said if "ended here" in text], f"after {calls} calls: {said}"
        assert not [text for text in said if "slow" in text]
    assert calls > 5


def is_at_rest(incident: Incident) -> None:
    """Check that the incident has no waiting, running or failed effects."""
    left = Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"])
    assert not list(left.values_list("key", "state", "error"))
