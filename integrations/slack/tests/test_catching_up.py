"""The catch-up for latecomers: on request, and once, privately, when they join the channel."""

from __future__ import annotations

import pytest

from incidents.models import Incident
from integrations.slack.tests.door import Door


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    return door.house.channel(incident)


def quietly(door: Door, channel: str) -> list[tuple[str, str]]:
    """Return each person's ephemeral messages, with who saw them."""
    where = door.slack.channel(channel).id
    told = [one for one in door.slack.workspace.ephemerals.values() if one.channel == where and one.blocks]
    return [(one.user, door.reads({"blocks": one.blocks})) for one in told]


def test_who_comes_in_late_is_told_once_where_only_they_read_it(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "update we look; impact: carts fail; next: @ben roll back", channel=channel)
    for _ in range(2):
        door.slack.acts.join("eve", channel)
        door.deliver()
        door.slack.acts.leave("eve", channel)
        door.deliver()
    ((who, said),) = quietly(door, channel)
    assert who == door.slack.person("eve").id
    for words in ("we look", "carts fail", "Ben: roll back", "Ambiguous"):
        assert words in said


def test_who_leads_and_how_old_the_latest_update_is_stand_before_all_that_is_known(
    door: Door, incident: Incident, channel: str
) -> None:
    def asked() -> str:
        door.command("ann", "catchup", channel=channel)
        return door.reads({"blocks": list(door.slack.workspace.ephemerals.values())[-1].blocks})

    assert "*Lead*  no one yet" in asked()
    assert "*Latest update*  none yet" in asked()
    door.command("ann", "update we look; impact: carts fail; next: roll back", channel=channel)
    door.command("ann", "lead @ben", channel=channel)
    said = asked()
    places = [said.index(f"*{one}*") for one in ("Impact", "Lead", "Latest update", "Next step")]
    assert places == sorted(places)
    assert "*Latest update*  we look  ·  _Ann, <!date" in said
    assert "*Lead*  Ben" in said


def test_those_whom_a_retype_brings_in_are_told_and_nobody_is_at_a_declaration(
    door: Door, incident: Incident, channel: str
) -> None:
    assert quietly(door, channel) == []
    door.command("ann", "type major because carts fail", channel=channel)
    door.submit("ann")
    door.house.settle(incident)
    door.deliver()
    told = dict(quietly(door, channel))
    assert door.slack.person("sue").id in told
    assert all("Major, was Ambiguous: carts fail  ·  _Ann, <!date" in said for said in told.values())
    assert not {door.slack.person(one).id for one in ("ann", "lea")} & told.keys()


def test_who_lost_access_before_it_was_told_is_told_nothing(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "update we look", channel=channel)
    door.slack.acts.join("eve", channel)
    moved = door.house.retype(incident, "security", by="ann")
    assert moved.private
    door.deliver()
    assert quietly(door, channel) == []


def test_it_is_said_to_whoever_asks_and_to_outsiders_as_if_there_were_none(door: Door) -> None:
    incident = door.declared("keys", type="security", by="sam")
    channel = door.house.channel(incident)
    door.command("sam", "update we look; impact: keys are public", channel=channel)
    door.command("sam", "catchup", channel=channel)
    assert "keys are public" in str(list(door.slack.workspace.ephemerals.values())[-1])
    hidden, absent = (door.command("out", f"catchup {name}") for name in (incident.codename, "quiet-heron"))
    assert hidden == absent
    assert "keys" not in hidden


def test_a_vendor_that_refuses_is_no_trouble(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "update we look", channel=channel)
    door.slack.faults.add("ratelimited", method="chat.postEphemeral", times=1)
    door.slack.acts.join("eve", channel)
    assert set(door.deliver()) == {200}
    assert quietly(door, channel) == []
