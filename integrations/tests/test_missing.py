"""People fix by hand what is missing, and their word for it is checked where they fixed it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.house import House
from workflows.models import Resource
from workflows.status import missing, progress
from workflows.status.progress import GapLine


def gap(house: House, incident: Incident) -> GapLine:
    (one,) = progress.of(incident).gaps
    return one


def press(house: House, incident: Incident, one: GapLine) -> str:
    return missing.mended(one.key, incident, by=house.person("dee"), at=house.now())


@pytest.fixture
def archived(house: House) -> Incident:
    """An open incident whose channel was archived."""
    incident = house.declare()
    lifecycle.resolve(incident, by=house.person("dee"), at=house.now(), text="It was DNS")
    lifecycle.archive_channel(house.settle(incident), by=house.person("dee"), at=house.now())
    lifecycle.reopen(house.settle(incident), by=house.person("dee"), at=house.now())
    return house.settle(incident)


def test_a_channel_is_missing_until_slack_shows_that_it_was_brought_back(house: House, archived: Incident) -> None:
    one = gap(house, archived)
    assert one.is_mendable
    with pytest.raises(lifecycle.Refused, match=r"Still missing. #.* is archived"):
        press(house, archived, one)
    assert gap(house, archived) == one

    house.slack.subscriptions = frozenset()  # Slack's event is lost
    house.slack.acts.unarchive("dee", house.channel(archived))
    house.settle(archived)
    assert gap(house, archived) == one
    assert press(house, archived, one).startswith("Thanks, it is no longer missing.")
    after = house.settle(archived)
    assert progress.of(after).gaps == []
    assert "Open" in house.slack.topic(house.channel(after))
    with pytest.raises(lifecycle.Refused, match="no longer missing"):
        press(house, after, one)


def test_a_group_is_looked_for_at_once(house: House) -> None:
    incident = house.declare()
    Resource.objects.create(incident=incident, key="gap/group/night-shift", kind="gap", label="x", since_at=house.now())
    house.slack.calls.clear()
    assert press(house, incident, gap(house, incident)).startswith("Thanks")
    assert "usergroups.list" in [call.method for call in house.slack.calls]


def test_the_button_says_what_was_found(house: House, archived: Incident, client: Client) -> None:
    dee = house.person("dee")
    dee.user = User.objects.create_user("dee")
    dee.save()
    client.force_login(dee.user)
    page = f"{archived.get_absolute_url()}progress"
    assert "Mark as done" in client.get(page).content.decode()
    where = f"{archived.get_absolute_url()}missing"
    said = client.post(where, {"gap": "gap/archived"}, follow=True).content.decode()
    assert "Still missing." in said
    house.slack.acts.unarchive("dee", house.channel(archived))
    answer = client.post(where, {"gap": "gap/archived"}, headers={"HX-Request": "true"})
    assert "Thanks" in answer["HX-Trigger"]


def test_what_nobody_can_mend_outside_has_no_button() -> None:
    assert not GapLine("Nobody is scribe", "gap/one-of/scribe").is_mendable
    assert not GapLine("No such source", "gap/source/checkout").is_mendable
