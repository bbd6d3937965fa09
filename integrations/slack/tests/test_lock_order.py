"""What people do to a channel locks the incident before anything of it changes, as recording an effect does.

In the opposite order, an invitation that is being recorded and the event of the same person joining would deadlock.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from incidents.models import Incident
from integrations.slack.tests.door import Door
from integrations.tests.lock_order import assert_the_incident_is_held_first


def come(door: Door, channel: str) -> None:
    door.slack.acts.invite("ann", channel, ["out"])


def leave(door: Door, channel: str) -> None:
    door.slack.acts.leave("ben", channel)


def archive(door: Door, channel: str) -> None:
    door.slack.acts.archive("ann", channel)


def unarchive(door: Door, channel: str) -> None:
    door.slack.acts.archive("ann", channel)
    door.deliver()
    door.slack.acts.unarchive("ann", channel)


def delete(door: Door, channel: str) -> None:
    door.slack.person("ann").is_owner = True
    door.slack.acts.delete_channel("ann", door.slack.channel(channel).id)


@pytest.mark.parametrize("deed", [come, leave, archive, unarchive, delete])
@pytest.mark.parametrize("type", ["ambiguous", "major"])
def test_the_incident_is_held_first(door: Door, type: str, deed: Callable[[Door, str], None]) -> None:
    incident: Incident = door.declared(type=type)
    deed(door, door.house.channel(incident))
    with CaptureQueriesContext(connection) as asked:
        door.deliver()
    assert_the_incident_is_held_first(asked)
