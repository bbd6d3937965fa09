from __future__ import annotations

from collections.abc import Iterator

import pytest

from integrations.slack.adapter import current
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.door import Door, DoorWire
from integrations.tests import house as building


@pytest.fixture
def door(db: None) -> Iterator[Door]:
    """A house with its door open, and a workspace full of people before it."""
    with building.house() as house:
        people = house.slack.workspace.people.values()
        house.slack.add_channel("lobby", members=[one.id for one in people if not one.is_bot])
        wire = DoorWire(house.slack, token=building.TOKEN)
        with current.using(SlackChat(wire, identity=Identity(wire))):
            yield Door(house)
