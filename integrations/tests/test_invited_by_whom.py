"""A private incident admits the people its plan named and those its participants invite, in any order of events.

A person in a channel that is still, or again, open to everyone cannot invite anyone into the incident.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import permutations
from typing import Final

import pytest
from django.utils import timezone

from incidents import visibility
from incidents.models import Incident
from integrations.tests.house import House, organisation
from workflows.channels import membership, rooms
from workflows.reconcile import retyping

JOINED, INVITED, BROUGHT = "out came alone", "out invited eve", "dee invited eli"
OPENED, CLOSED, POLLED = "it was opened", "it is closed", "it is polled"
OUTSIDERS: Final = ("out", "eve", "eli")


def soon() -> datetime:
    return timezone.now() + timedelta(minutes=5)


def room_of(incident: Incident) -> str:
    found: str = incident.resources.get(key=f"channel/{incident.room}").external_id
    return found


def inside(house: House, incident: Incident) -> set[str]:
    return {one for one in OUTSIDERS if visibility.may_see(house.person(one), incident)}


def came(house: House, incident: Incident, channel_id: str, who: str, *, by: str = "") -> None:
    inviter = house.person(by) if by else None
    known = Incident.objects.get(pk=incident.pk)
    rooms.came(known, person=house.person(who), channel_id=channel_id, at=house.now(), inviter=inviter)


def telling(house: House, incident: Incident, channel_id: str) -> Mapping[str, Callable[[], object]]:
    """Return the possible events about a channel, and our own look."""
    tell = partial(came, house, incident, channel_id)
    return {
        JOINED: lambda: tell("out"),
        INVITED: lambda: tell("eve", by="out"),
        BROUGHT: lambda: tell("eli", by="dee"),
        OPENED: lambda: rooms.converted(channel_id, public=True),
        CLOSED: lambda: house.settle(incident),
        POLLED: lambda: membership.poll(at=soon()),
    }


def is_found_out(house: House, incident: Incident, *, in_room: int) -> None:
    """Check that in the end the conversation continues without them."""
    membership.poll(at=soon())
    moved = house.settle(incident)
    assert moved.room == in_room
    assert not inside(house, moved)
    assert not {*OUTSIDERS} & {*house.slack.members(house.channel(moved))}


@pytest.mark.parametrize("order", list(permutations((JOINED, INVITED, OPENED))), ids=", ".join)
def test_who_came_into_a_channel_made_public_invites_nobody_into_the_incident(
    house: House, order: Sequence[str]
) -> None:
    secret = house.declare("keys", type="security")
    channel_id = room_of(secret)
    house.slack.acts.convert("dee", channel_id, is_private=False)
    house.slack.acts.join("out", channel_id)
    house.slack.acts.invite("out", channel_id, ["eve"])
    told = telling(house, secret, channel_id)
    for one in order:
        told[one]()
        assert not inside(house, secret)
    is_found_out(house, secret, in_room=2)


@pytest.mark.parametrize("order", list(permutations((JOINED, INVITED, BROUGHT, CLOSED))), ids=", ".join)
@pytest.mark.parametrize("polled", [False, True])
def test_while_a_room_is_being_closed_nobody_comes_in_whom_the_plan_did_not_name(
    house: House, order: Sequence[str], polled: bool
) -> None:
    with organisation(house):
        incident = house.declare("Someone has our keys", type="internal")
        channel_id = room_of(incident)
        house.slack.acts.invite("dee", channel_id, ["eli"])
        retyping.confirm(incident, to=house.type("security"), by=house.person("dee"), at=timezone.now())
        house.slack.acts.join("out", channel_id)
        house.slack.acts.invite("out", channel_id, ["eve"])
        told = telling(house, incident, channel_id)
        for one in order:
            told[one]()
            if polled:
                told[POLLED]()
            assert not inside(house, incident)
        is_found_out(house, incident, in_room=2)


@pytest.mark.parametrize("polls", [False, True])
@pytest.mark.parametrize("order", list(permutations(("eli", "eve", "out"))), ids=", ".join)
def test_who_is_invited_one_by_another_comes_in_whoever_is_told_of_first(
    house: House, order: Sequence[str], polls: bool
) -> None:
    secret = house.declare("keys", type="security")
    channel_id = room_of(secret)
    by = {"eli": "dee", "eve": "eli", "out": "eve"}
    for who, inviter in by.items():
        house.slack.acts.invite(inviter, channel_id, [who])
    for who in order:
        came(house, secret, channel_id, who, by=by[who])
        if polls:
            membership.poll(at=timezone.now())
    membership.poll(at=timezone.now())
    assert inside(house, secret) == {*OUTSIDERS}
