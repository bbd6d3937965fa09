"""Someone makes a private incident's channel public: it posts nothing more there, and withdraws what it posted."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import Incident
from integrations.tests.house import House
from workflows.channels import membership, rooms
from workflows.reconcile import retyping

SECRET = "keys"


def public_words(house: House) -> str:
    """Return everything of ours that everyone in the workspace can read."""
    channels = [one for one in house.slack.workspace.channels.values() if one.kind == "public"]
    ours = (m for one in channels for m in one.messages.values() if m.user == house.slack.bot.id and not m.is_system)
    return " ".join([*(f"{m.text}{m.blocks}{m.attachments}" for m in ours), *(one.topic.value for one in channels)])


def made_public(house: House, incident: Incident) -> str:
    channel_id: str = incident.resources.get(key=f"channel/{incident.room}").external_id
    house.slack.acts.convert("dee", channel_id, is_private=False)
    rooms.converted(channel_id, public=True)
    return channel_id


@pytest.fixture
def secret(house: House) -> Incident:
    incident = house.declare(f"The {SECRET} leaked", type="security")
    lifecycle.update(incident, by=house.person("dee"), at=house.now(), text=f"The {SECRET} are in the log")
    return house.settle(incident)


@pytest.mark.parametrize("then", ["update", "retype", "resolve", "nothing"])
def test_nothing_of_ours_can_be_read_in_a_channel_that_somebody_made_public(
    house: House, secret: Incident, then: str
) -> None:
    before = set(house.slack.members(house.channel(secret)))
    old = made_public(house, secret)
    said = len(house.writes())
    if then == "update":
        lifecycle.update(secret, by=house.person("dee"), at=house.now(), text=f"Rotating the {SECRET}")
    elif then == "retype":
        retyping.confirm(secret, to=house.type("isolated"), by=house.person("dee"), at=house.now())
    elif then == "resolve":
        lifecycle.resolve(secret, by=house.person("dee"), at=house.now(), text=f"Rotated the {SECRET}")
    incident = house.settle(secret)
    assert SECRET not in public_words(house)
    written = house.slack.calls.writes()[said:]
    assert not [call for call in written if call.args.get("channel") == old and SECRET in str(call.args)]
    if incident.is_active:
        room = house.channel(incident)
        assert house.slack.channel(room).is_private
        assert before <= set(house.slack.members(room))
        assert SECRET in " ".join(house.slack.texts(room))
    calls = len(list(house.slack.calls))
    house.settle(incident)
    assert len(list(house.slack.calls)) == calls


def test_a_public_incident_goes_on_in_a_channel_that_somebody_made_private_and_public_again(house: House) -> None:
    incident = house.declare(SECRET)
    channel_id = incident.resources.get(key="channel/1").external_id
    for public in (False, True):
        house.slack.acts.convert("dee", channel_id, is_private=not public)
        rooms.converted(channel_id, public=public)
        before = len(house.writes())
        incident = house.settle(incident)
        assert (incident.room, len(house.writes())) == (1, before)


@pytest.mark.parametrize("told", ["joined, then opened", "by the poll alone"])
def test_who_joins_a_channel_that_was_made_public_comes_into_nothing(house: House, secret: Incident, told: str) -> None:
    channel_id = secret.resources.get(key="channel/1").external_id
    house.slack.acts.convert("dee", channel_id, is_private=False)
    house.slack.acts.join("out", channel_id)
    if told == "joined, then opened":
        rooms.came(secret, person=house.person("out"), channel_id=channel_id, at=house.now())
        rooms.converted(channel_id, public=True)
    membership.poll(at=timezone.now() + timedelta(minutes=5))
    incident = house.settle(secret)
    assert not visibility.may_see(house.person("out"), incident)
    assert "out" not in house.slack.members(house.channel(incident))
    assert SECRET not in public_words(house)


def test_a_channel_made_public_is_left_though_that_was_not_told_and_nobody_came(house: House) -> None:
    incidents = [house.declare(f"keys {n}", type="security") for n in range(3)]
    for one in incidents:
        house.slack.acts.convert("dee", house.channel(one), is_private=False)
    house.slack.take_deliveries()
    for minutes in range(1, 3):
        membership.poll(at=timezone.now() + timedelta(minutes=minutes))
    for one in incidents:
        old = house.channel(one)
        lifecycle.update(one, text="we rotate them", by=None, at=timezone.now())
        incident = house.settle(one)
        assert incident.room == 2
        assert "keys" not in str(house.slack.messages(old))
        assert "we rotate them" not in str(house.slack.messages(old))


def test_however_many_private_channels_there_are_each_is_looked_at_in_turn(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "LOOKS", 2)
    incidents = [house.declare(f"keys {n}", type="security") for n in range(5)]
    house.slack.calls.clear()
    start = timezone.now()
    for times in range(1, 5):
        before = house.slack.calls.count("conversations.info")
        membership.poll(at=start + timedelta(seconds=membership.EVERY_S * times))
        assert house.slack.calls.count("conversations.info") - before <= 2
    looked = {call.args["channel"] for call in house.slack.calls if call.method == "conversations.info"}
    assert looked == {house.slack.channel(house.channel(one)).id for one in incidents}
