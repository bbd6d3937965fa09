"""A person who left the company and returns sees none of their earlier incidents, because they are in no channel."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import Incident
from integrations.slack.tests.door import Door
from workflows.channels import membership
from workflows.usergroups import workspace_cache

LONG_AGO = 9  # days after which an ended incident's channel is only checked in rotation


@pytest.mark.parametrize("told", ["by the event", "by a reading"])
@pytest.mark.parametrize("looked", [True, False])
@pytest.mark.parametrize("ended_days", [None, 1, LONG_AGO])
@pytest.mark.parametrize(("who", "type"), [("sia", "security"), ("gus", "ambiguous")])
def test_who_is_back_is_in_nothing(
    who: str, type: str, ended_days: int | None, looked: bool, told: str, door: Door
) -> None:
    incident = taken_part_in(door, who, type=type, ended_days=ended_days)
    moment = timezone.now() + timedelta(minutes=5)
    for act in (door.slack.acts.deactivate, door.slack.acts.reactivate):
        act(who)
        hear(door, told)
        assert not visibility.may_see(door.house.person(who), incident), act.__name__
        if looked:
            membership.poll(at=moment)
    membership.poll(at=moment + timedelta(minutes=5))
    assert not visibility.may_see(door.house.person(who), incident)


def test_who_is_in_its_channel_again_is_let_in_by_that(door: Door) -> None:
    incident = taken_part_in(door, "sia", type="security", ended_days=None)
    door.slack.acts.deactivate("sia")
    door.slack.acts.reactivate("sia")
    door.slack.acts.invite("sam", door.house.channel(incident), ["sia"])
    hear(door, "by the event")
    membership.poll(at=timezone.now() + timedelta(minutes=5))
    assert visibility.may_see(door.house.person("sia"), incident)


def taken_part_in(door: Door, who: str, *, type: str, ended_days: int | None) -> Incident:
    """Return an incident that a person takes part in, open or ended this many days ago."""
    if who == "gus":
        door.slack.add_person("gus", name="Gus", email="gus@example.com", is_restricted=True)
        door.house.chat.people()
        workspace_cache.refresh(everybody=True)
    incident = door.declared("keys leaked", type=type, by="sam")
    if who == "gus":
        door.slack.acts.invite("sam", door.house.channel(incident), ["gus"])
        door.deliver()
    assert visibility.may_see(door.house.person(who), incident)
    if ended_days is not None:
        lifecycle.resolve(incident, by=door.house.person("sam"), at=door.house.now())
        incident = door.house.settle(incident)
        Incident.objects.filter(pk=incident.pk).update(ended_at=timezone.now() - timedelta(days=ended_days))
    return incident


def hear(door: Door, told: str) -> None:
    """Let us learn what happened: from the event or, if that is lost, by reading everyone."""
    news = door.slack.take_deliveries()
    if told == "by the event":
        assert {door.post(one).status_code for one in news} <= {200}
    else:
        workspace_cache.refresh(everybody=True)
