"""Who joined or left is recorded correctly, even if the news had to wait while something else was written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from incidents import timeline, visibility
from incidents.models import Incident, Participant
from integrations.tests import house as building
from integrations.tests.house import House, organisation
from integrations.tests.outsiders.waiting import behind
from workflows.channels import membership, rooms
from workflows.reconcile import retyping


@pytest.fixture
def house(erasable: None, transactional_db: None) -> Iterator[House]:
    """A house in a database with several concurrent writers."""
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


@pytest.mark.parametrize("heard_first", ["the older", "the newer"])
@pytest.mark.parametrize("newest", ["came", "left"])
@pytest.mark.parametrize("type", ["ambiguous", "security"])
def test_of_coming_and_leaving_heard_at_once_the_newer_counts(
    house: House, type: str, newest: str, heard_first: str
) -> None:
    incident = house.declare(type=type)
    channel_id, eve, dee, now = room_of(incident), house.person("eve"), house.person("dee"), timezone.now()
    stamp = now.timestamp() - 60

    def hear(what: str, *, stamp: float) -> None:
        with transaction.atomic():
            read = Incident.objects.get(pk=incident.pk)
            given: dict[str, Any] = {"person": eve, "channel_id": channel_id, "at": now, "stamp": stamp}
            if what == "came":
                rooms.came(read, inviter=dee, **given)
            else:
                rooms.left(read, **given)

    older = "left" if newest == "came" else "came"
    if newest == "came":
        hear("came", stamp=stamp)
    news = [partial(hear, older, stamp=stamp + 1), partial(hear, newest, stamp=stamp + 2)]
    behind(lambda: timeline.hold(incident.pk), *(news if heard_first == "the older" else reversed(news)))
    assert Participant.objects.filter(incident=incident, person=eve, left_at=None).exists() == (newest == "came")
    assert incident.resources.get(key=f"member/1/{eve.chat_id}").state == ("there" if newest == "came" else "gone")
