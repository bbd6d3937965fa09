"""What people do to a channel holds the incident before anything of it is changed, as recording an effect does.

The other way round an invitation that is being recorded and the event that someone came in wait for each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from incidents.models import Incident
from integrations.slack.tests.door import Door

HOLDS = re.compile(r'FROM "?incidents_incident"?.* FOR NO KEY UPDATE|^UPDATE "incidents_incident"', re.DOTALL)
CHANGES = re.compile(r'^(INSERT INTO|UPDATE|DELETE FROM) "workflows_(resource|effect)"')


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
    said = [query["sql"] for query in asked]
    changes = [n for n, sql in enumerate(said) if CHANGES.search(sql)]
    assert changes, "the event changed nothing"
    assert [n for n, sql in enumerate(said) if HOLDS.search(sql) and n < changes[0]], said[changes[0]]
