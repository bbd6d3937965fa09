"""The previous Slack workspace is connected again: people return to their channel there, or to none."""

from __future__ import annotations

import pytest

from incidents import lifecycle
from incidents.models import Participant
from integrations.slack import fake
from integrations.tests.another_workspace import SECRET, connected, elsewhere, gaps_of_slack, other, public, settle
from integrations.tests.house import House
from workflows.effects import workspaces
from workflows.models import Effect

__all__ = ["other"]  # a fixture


@pytest.mark.parametrize("type", ["major", "security"])
def test_people_come_back_to_the_channel_that_they_had_in_each_workspace(
    house: House, other: fake.FakeSlack, type: str
) -> None:
    incident = house.declare("Keys leaked", type=type)
    old, room = house.slack, house.channel(incident)
    second = house.channel(elsewhere(house, other, incident))
    for slack, name in ((old, room), (other, second), (old, room)):
        with connected(house, slack):
            incident = settle(house, incident)
            assert house.channel(incident) == name
            assert not gaps_of_slack(incident)
            lifecycle.update(incident, text="Found it", by=house.person("dee"), at=house.now())
            incident = settle(house, incident)
            assert any("Found it" in text for text in slack.texts(name))
            assert any(SECRET in text for text in slack.texts(name))
            assert not slack.channel(name).is_archived
    assert not Effect.objects.filter(incident=incident, state="failed").exists()
    incident = house.retype(settle(house, incident), "security" if type == "major" else "major")
    assert house.channel(incident) not in {second} | ({room} if type == "major" else set())
    assert not [text for text in public(old) if SECRET in text]
    with connected(house, other):
        incident = settle(house, incident)
        assert not [text for text in public(other) if SECRET in text]


def test_a_channel_that_was_to_be_archived_is_archived_where_people_come_back_to(
    house: House, other: fake.FakeSlack
) -> None:
    incident = house.declare("Keys leaked", type="major")
    room = house.channel(incident)
    incident = elsewhere(house, other, incident)
    with connected(house, other):
        lifecycle.resolve(incident, by=house.person("dee"), at=house.now())
        lifecycle.archive_channel(incident, by=house.person("dee"), at=house.now())
        incident = settle(house, incident)
    incident = settle(house, incident)
    assert incident.archive_asked
    assert house.slack.channel(room).is_archived
    assert not Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"]).exists()


@pytest.mark.parametrize("why", ["public", "archived", "someone left", "opened"])
def test_people_come_back_to_no_channel_that_others_read(house: House, other: fake.FakeSlack, why: str) -> None:
    """Nor to an archived channel: then they ask for a new one."""
    incident = house.declare("Keys leaked", type="major" if why == "public" else "security")
    old, room = house.slack, house.channel(incident)
    incident = elsewhere(house, other, incident, to="security" if why == "public" else "")
    if why == "someone left":
        Participant.objects.filter(incident=incident, person__name="Sia").update(left_at=house.now(), went=True)
    elif why == "archived":
        old.channel(room).is_archived = True
    elif why == "opened":
        old.channel(room).kind = "public"
    said = len(old.texts(room))
    incident = settle(house, incident)
    assert incident.room > 1
    assert "Create a new channel" in str(gaps_of_slack(incident))
    lifecycle.update(incident, text="Found it", by=house.person("dee"), at=house.now())
    settle(house, incident)
    assert not [text for text in old.texts(room)[said:] if "Found" in text]
    if why == "public":
        assert not [text for text in public(old) if SECRET in text]


@pytest.mark.parametrize("back", [1, 2])
def test_whoever_moves_after_people_came_back_is_told_of_the_channel_that_they_left(
    house: House, other: fake.FakeSlack, back: int
) -> None:
    """The newest room is not the previous one: it is in the other workspace."""
    incident = house.declare("Keys leaked", type="major")
    old, room = house.slack, house.channel(incident)
    incident = elsewhere(house, other, incident)
    if back == 2:
        incident = settle(house, incident)
        with connected(house, other):
            incident = settle(house, incident)
    incident = settle(house, incident)
    assert house.channel(incident) == room
    incident = house.retype(incident, "security")
    left = old.channel(room)
    assert left.is_archived
    assert not [text for text in public(old) if SECRET in text]
    assert any("This conversation has ended here" in text for text in old.texts(room))
    said = str([message.blocks for message in old.channel(house.channel(incident)).messages.values()])
    assert f"<#{left.id}>" in said
    assert "The previous channel is gone" not in said
    with connected(house, other):
        incident = settle(house, incident)
        assert not [text for text in public(other) if SECRET in text]
    assert not [text for text in public(old) if SECRET in text]


def test_who_is_in_the_channel_before_may_be_a_secret_and_holds_up_nothing_else(
    house: House, other: fake.FakeSlack
) -> None:
    """For example the app was reinstalled with fewer scopes: no one returns there, and everything else proceeds."""
    incident = elsewhere(house, other, house.declare("Keys leaked", type="security"))
    house.slack.faults.add("error", method="conversations.members", error="missing_scope")
    with connected(house, house.slack):
        incident = settle(house, incident)
        assert workspaces.is_followed(house.chat)
        assert incident.room == 2
        assert "Create a new channel" in str(gaps_of_slack(incident))
