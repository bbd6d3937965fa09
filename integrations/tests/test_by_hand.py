"""Steps of a move that fail for good: people do them by hand, and their word is checked before it counts."""

from __future__ import annotations

import pytest

from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.tests.house import House
from workflows.status import manual_steps, progress
from workflows.status.manual_steps import ByHand
from workflows.usergroups import workspace_cache


def waiting(house: House, incident: Incident) -> list[ByHand]:
    return progress.of(incident).by_hand


def press(house: House, incident: Incident, one: ByHand) -> str:
    return manual_steps.done(one.effect, incident, by=house.person("dee"), at=house.now())


def refuse(house: House, method: str, code: str) -> None:
    house.slack.faults.add("error", method=method, error=code)


def direct(house: House, handle: str) -> str:
    """Return all direct messages of the app to a person."""
    person = house.slack.person(handle).id
    channels = [one for one in house.slack.workspace.channels.values() if one.kind == "im" and person in one.members]
    return " ".join(str([message.blocks, message.attachments]) for one in channels for message in one.messages.values())


@pytest.fixture
def incident(house: House) -> Incident:
    return house.declare("Someone has our keys")


def test_nothing_waits_while_a_move_goes_well(house: House, incident: Incident) -> None:
    moved = house.retype(incident, "security")
    assert waiting(house, moved) == []


def test_a_channel_that_may_not_be_archived_is_archived_by_hand(house: House, incident: Incident) -> None:
    old = house.channel(incident)
    refuse(house, "conversations.archive", "restricted_action")
    moved = house.retype(incident, "security")
    (one,) = waiting(house, moved)
    assert one.how == f"Archive #{old} in Slack, from the channel settings."
    with pytest.raises(lifecycle.Refused, match="is not archived yet"):
        press(house, moved, one)
    assert waiting(house, moved) == [one]
    house.slack.acts.archive("dee", old)
    assert press(house, moved, one).startswith("Thanks")
    assert waiting(house, moved) == []
    before = len(house.writes())
    house.settle(moved)
    assert waiting(house, moved) == []
    assert "conversations.archive" not in house.writes()[before:]
    assert moved.events.filter(kind="did", text__startswith="did it by hand: archive").exists()


def test_the_private_channel_itself_says_what_waits(house: House, incident: Incident) -> None:
    refuse(house, "conversations.archive", "restricted_action")
    moved = house.retype(incident, "security")
    said = house.slack.texts(house.channel(moved))
    assert any("Manual action required" in one and "Archive #" in one for one in said)


def test_a_private_channel_that_cannot_be_made_is_told_to_the_lead_alone(house: House, incident: Incident) -> None:
    old = house.channel(incident)
    said_before = len(house.slack.texts(old))
    refuse(house, "conversations.create", "restricted_action")
    moved = house.retype(incident, "security")
    (one,) = waiting(house, moved)
    assert "Create a private channel named" in one.how
    told = direct(house, "dee")
    assert one.how in told.replace("&amp;", "&")
    assert "keys" not in told
    assert len(house.slack.texts(old)) == said_before
    assert "keys" not in " ".join([*house.slack.texts(old), *house.slack.texts("incidents")])
    with pytest.raises(lifecycle.Refused, match="The app is not in a channel named"):
        press(house, moved, one)


@pytest.mark.parametrize("lead", [True, False])
@pytest.mark.parametrize("code", ["restricted_action", "cannot_create_channel", "no_permission", "missing_scope"])
def test_a_channel_that_slack_lets_no_app_make_is_told_to_somebody_and_made_by_hand(
    house: House, code: str, lead: bool
) -> None:
    refuse(house, "conversations.create", code)
    incident = lifecycle.declare("Checkout is slow", by=house.person("dee"), at=house.now(), type=house.type("major"))
    if lead:
        lifecycle.set_lead(incident, lead=house.person("lea"), by=house.person("dee"), at=house.now())
    incident = house.settle(incident)
    (one,) = waiting(house, incident)
    assert one.how.startswith("Create a public channel named")
    told = {who: direct(house, who).count("Create a public channel named") for who in ("lea", "dee")}
    assert told == {"lea": lead, "dee": not lead}
    assert "Could not open #inc-" in direct(house, "lea" if lead else "dee")
    with pytest.raises(lifecycle.Refused, match="The app is not in a channel named"):
        press(house, incident, one)
    name = next(word for word in one.how.split() if word.startswith("inc-"))
    house.slack.acts.create_channel("dee", name, is_private=True)
    house.slack.acts.invite("dee", name, ["firekind"])
    with pytest.raises(lifecycle.Refused, match="It has to be an active public channel"):
        press(house, incident, one)
    house.slack.acts.rename("dee", name, "mistaken")
    house.slack.acts.create_channel("dee", name)
    house.slack.acts.invite("dee", name, ["firekind"])
    assert press(house, incident, one).startswith("Thanks")
    incident = house.settle(incident)
    assert not waiting(house, incident)
    assert {"dee", "lea"} <= house.slack.members(name)
    assert any(incident.codename in text for text in house.slack.texts("incidents"))
    assert "Create a public channel" not in " ".join(house.slack.texts(name)), "it stands by then"


LEADS: dict[str, dict[str, object]] = {
    "has left": {"deleted": True},
    "is from another company": {"is_stranger": True},
    "is a guest": {"is_restricted": True},
    "is on the web alone": {},
}


@pytest.mark.parametrize("lead", LEADS)
def test_where_whoever_leads_cannot_do_it_somebody_is_told_who_can(house: House, incident: Incident, lead: str) -> None:
    house.slack.add_person("zed")
    workspace_cache.refresh(everybody=True)
    zed = house.person("zed")
    lifecycle.set_lead(incident, lead=zed, by=house.person("dee"), at=house.now())
    incident = house.settle(incident)
    for trait, value in LEADS[lead].items():
        setattr(house.slack.person("zed"), trait, value)
    workspace_cache.refresh(everybody=True)
    if not LEADS[lead]:
        Person.objects.filter(pk=zed.pk).update(chat_id=None)
    refuse(house, "conversations.create", "restricted_action")
    house.retype(house.settle(incident), "security")
    assert direct(house, "dee").count("Create a private channel named") == 1
    assert direct(house, "zed") == ""


def test_the_channel_made_by_hand_takes_everything_that_waited(house: House, incident: Incident) -> None:
    old = house.channel(incident)
    refuse(house, "conversations.create", "restricted_action")
    moved = house.retype(incident, "security")
    (one,) = waiting(house, moved)
    name = one.how.split("named ")[1].split()[0]
    house.slack.acts.create_channel("dee", name, is_private=True)
    house.slack.acts.invite("dee", name, ["firekind"])
    press(house, moved, one)
    moved = house.settle(moved)
    assert house.channel(moved) == name
    assert "keys" in " ".join(house.slack.texts(name))
    assert house.slack.channel(old).is_archived
    assert waiting(house, moved) == []


def test_a_public_channel_made_by_hand_is_not_taken(house: House, incident: Incident) -> None:
    refuse(house, "conversations.create", "restricted_action")
    moved = house.retype(incident, "security")
    (one,) = waiting(house, moved)
    name = one.how.split("named ")[1].split()[0]
    house.slack.acts.create_channel("dee", name, is_private=False)
    house.slack.acts.invite("dee", name, ["firekind"])
    with pytest.raises(lifecycle.Refused, match="is public"):
        press(house, moved, one)


def test_a_message_that_could_not_be_emptied_is_deleted_by_hand(house: House, incident: Incident) -> None:
    refuse(house, "chat.update", "cant_update_message")
    moved = house.retype(incident, "security")
    waits = waiting(house, moved)
    assert {one.what.split()[0] for one in waits} == {"withdraw"}
    announced = next(one for one in waits if "#incidents" in one.how)
    with pytest.raises(lifecycle.Refused, match="still there"):
        press(house, moved, announced)
    own = moved.resources.get(key="announcement").external
    house.slack.person("dee").is_admin = True
    house.slack.acts.delete("dee", "incidents", own["ts"])
    press(house, moved, announced)
    assert announced not in waiting(house, house.settle(moved))


def test_what_cannot_be_looked_at_now_is_to_be_pressed_again(house: House, incident: Incident) -> None:
    refuse(house, "conversations.archive", "restricted_action")
    moved = house.retype(incident, "security")
    (one,) = waiting(house, moved)
    house.slack.faults.add("ratelimited", method="conversations.info")
    with pytest.raises(lifecycle.Refused, match=r"rate limiting\. Try again in a moment\.$"):
        press(house, moved, one)


def test_a_topic_that_may_not_be_cleared_is_cleared_by_hand(house: House, incident: Incident) -> None:
    old = house.channel(incident)
    refuse(house, "conversations.setTopic", "user_is_restricted")
    moved = house.retype(incident, "security")
    one = next(one for one in waiting(house, moved) if "topic" in one.what)
    assert one.how == f"Clear the topic of #{old} in Slack."
    assert not house.slack.channel(old).is_archived  # an archived channel could never be cleared
    house.slack.faults.clear()
    house.slack.acts.set_topic("dee", old, "")
    press(house, moved, one)
    house.settle(moved)
    assert house.slack.channel(old).is_archived


def test_what_is_done_already_is_not_taken_twice(house: House, incident: Incident) -> None:
    old = house.channel(incident)
    refuse(house, "conversations.archive", "restricted_action")
    moved = house.retype(incident, "security")
    (one,) = waiting(house, moved)
    house.slack.acts.archive("dee", old)
    press(house, moved, one)
    with pytest.raises(lifecycle.Refused, match="left to do by hand"):
        press(house, moved, one)


def test_a_public_incident_has_nothing_that_waits_for_a_hand(house: House) -> None:
    refuse(house, "conversations.setTopic", "user_is_restricted")
    incident = house.declare()
    assert waiting(house, incident) == []
    assert progress.of(incident).counts["failed"] == 1
