"""Who came or left is known as it is, whoever waited for the incident while something else was written down."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from incidents import visibility
from incidents.models import Incident
from integrations.tests import house as building
from integrations.tests.house import House, organisation
from integrations.tests.outsiders.waiting import behind
from workflows.channels import membership, rooms
from workflows.reconcile import retyping


@pytest.fixture
def house(erasable: None, transactional_db: None) -> Iterator[House]:
    """A house in a database to which several write at the same time."""
    with building.house() as made:
        yield made


def room_of(incident: Incident) -> str:
    found: str = incident.resources.get(key=f"channel/{incident.room}").external_id
    return found


@pytest.mark.parametrize("by", ["", "dee"])
def test_nobody_comes_into_what_turned_private_by_news_that_was_read_before(house: House, by: str) -> None:
    eve, dee, now = house.person("eve"), house.person("dee"), timezone.now()
    with organisation(house):
        incident = house.declare("Someone has our keys", type="internal")
        channel_id, read = room_of(incident), Incident.objects.get(pk=incident.pk)
        house.slack.acts.invite("dee", channel_id, ["eve"])

        def came() -> None:
            with transaction.atomic():
                inviter = dee if by else None
                rooms.came(read, person=eve, channel_id=channel_id, at=now, stamp=now.timestamp(), inviter=inviter)

        behind(lambda: retyping.confirm(incident, to=house.type("security"), by=dee, at=now), came)
        assert not visibility.may_see(eve, incident)
        moved = house.settle(incident)
        membership.poll(at=timezone.now() + timedelta(minutes=5))
        assert moved.room == 2
        assert not visibility.may_see(eve, moved)
