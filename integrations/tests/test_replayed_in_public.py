"""A public replay keeps nothing of its original once that is private, whenever that happens."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.drills import replays
from incidents.models import IncidentType
from integrations.tests.house import House

SECRET = "hunter2-zebracorn"
MINUTES = 12  # after which the replay is over


def posted(house: House) -> list[str]:
    """Return what in public channels contains the word."""
    channels = [one for one in house.slack.workspace.channels.values() if not one.is_private]
    return [str(one) for channel in channels for one in channel.messages.values() if SECRET in str(one)]


@pytest.mark.parametrize("steps", [0, 1, 5, MINUTES])
@pytest.mark.parametrize("is_over", [False, True])
def test_nothing_is_left_of_what_turned_private(house: House, steps: int, is_over: bool) -> None:
    dee, at = house.person("dee"), timezone.now()
    past = house.declare(f"{SECRET} is slow")
    lifecycle.note(past, text=f"{SECRET} was seen", by=dee, at=at)
    lifecycle.resolve(past, text=f"{SECRET} is over", by=dee, at=at)
    house.settle(past)
    drill = replays.start(past, by=dee, at=at, speed=600)
    for minutes in range(steps):
        replays.advance(at=at + timedelta(minutes=minutes))
        house.settle(drill)
    assert bool(posted(house))
    if is_over:
        lifecycle.resolve(drill, by=dee, at=timezone.now())
        house.settle(drill)
    lifecycle.reopen(past, by=dee, at=timezone.now())
    lifecycle.retype(past, to=IncidentType.objects.get(slug="security"), by=dee, at=timezone.now())
    for minutes in range(MINUTES, MINUTES + 3):
        replays.advance(at=at + timedelta(minutes=minutes))
        house.settle(past)
        house.settle(drill)
    assert posted(house) == []
