"""The buttons on the card of a retype: the way back leads through the plan, and exists only while there is one."""

from __future__ import annotations

from dataclasses import replace

from incidents.models import Incident, Person
from incidents.policies import types
from integrations.slack.fake import Message
from integrations.slack.tests.door import Door


def now(incident: Incident) -> Incident:
    return Incident.objects.select_related("type", "policy_version").get(pk=incident.pk)


def card(door: Door, incident: Incident, *, room: int = 0) -> Message:
    """Return the newest retype card in its channel."""
    messages = door.slack.messages(door.house.channel(now(incident), room or now(incident).room))
    return [one for one in messages if "→" in str(one.blocks)][-1]


def offers(message: Message) -> list[str]:
    shown = [block for bar in message.attachments for block in bar["blocks"] if block["type"] == "actions"]
    return [element["action_id"] for block in shown for element in block["elements"]]


def test_undo_shows_the_plan_back_and_does_nothing_before_that_is_confirmed(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    retyped = door.house.retype(incident, "major", by="ann")
    posted = card(door, retyped)
    said = str([posted.blocks, posted.attachments])
    assert "Ambiguous → Major" in said
    assert "invite Sue" in said
    assert "the headline" not in said
    door.press("ben", "firekind:undo-retype", channel=channel, ts=posted.ts)
    assert now(incident).type.slug == "major"
    door.submit("ben")
    assert now(incident).type.slug == "ambiguous"
    door.house.settle(now(incident))
    door.press("ben", "firekind:undo-retype", channel=channel, ts=posted.ts)  # on the first card, for a second time
    assert door.slack.modal("ben") is None
    assert "again" in door.slack.ephemerals("ben")[-1].text


def test_everything_that_changed_is_a_press_away(door: Door, incident: Incident) -> None:
    retyped = door.house.retype(incident, "major", by="ann")
    assert offers(card(door, retyped)) == ["firekind:undo-retype"], "what is short is not folded"
    pressed = door.slack.acts.press("ann", "firekind:undo-retype", channel=door.house.channel(retyped))
    assert pressed is not None
    pressed.payload["actions"][0]["action_id"] = "firekind:changes"
    door.send(pressed)
    assert "Sue" in door.reads(door.modal("ann"))
    assert door.fields("ann") == []


def test_turning_private_is_not_undone_and_names_nobody_in_public(door: Door, incident: Incident) -> None:
    public = door.house.retype(incident, "major", by="ann")
    old = card(door, public)
    assert offers(old) == ["firekind:undo-retype"]
    private = door.house.retype(public, "security", by="ann")
    assert "firekind:undo-retype" not in offers(card(door, private))
    old = door.slack.channel(door.house.channel(private, 1)).messages[old.ts]
    assert old.attachments == []
    assert "Major" not in str([old.text, old.blocks])


def test_what_turned_private_meanwhile_is_no_undo(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    posted = card(door, door.house.retype(incident, "major", by="ann"))
    ambiguous = door.house.type("ambiguous")
    types.edit(ambiguous, policy=replace(ambiguous.policy, private=True), by=None, at=door.house.now())
    door.press("ben", "firekind:undo-retype", channel=channel, ts=posted.ts)
    assert door.slack.modal("ben") is None
    assert "Ambiguous is private now" in door.slack.ephemerals("ben")[-1].text
    door.command("ben", "type ambiguous", channel=channel)
    assert "private channel" in door.reads(door.modal("ben")), "the plan says whom that shuts out"


def test_while_a_guest_is_in_the_channel_its_card_names_nobody_the_type_brings(door: Door, incident: Incident) -> None:
    retyped = door.house.retype(incident, "major", by="ann")
    channel = door.house.channel(retyped)
    assert "Sue" in str(card(door, retyped).attachments)
    door.slack.add_person("gus", name="Gus", email="gus@example.com", is_restricted=True)
    door.house.chat.people()
    door.slack.acts.invite("ann", channel, ["gus"])
    door.deliver()
    gus = Person.objects.get(chat_id=door.slack.person("gus").id)
    Person.objects.filter(pk=gus.pk).update(is_guest=True)
    door.house.settle(retyped)
    shown = card(door, retyped)
    assert "Sue" not in str([shown.blocks, shown.attachments])
    assert offers(shown)[0] == "firekind:changes"
    for who, names in (("gus", False), ("ann", True)):
        door.press(who, "firekind:changes", channel=channel, ts=shown.ts)
        assert ("Sue" in door.reads(door.modal(who))) == names


def test_people_who_are_no_longer_needed_are_told_in_the_channel(door: Door, incident: Incident) -> None:
    retyped = door.house.retype(incident, "internal", by="ann")
    assert "free to leave: " in str(card(door, retyped).attachments)
    again = door.house.retype(retyped, "ambiguous", by="ann")
    assert "free to leave" not in str(card(door, again).attachments)


def test_to_a_guest_nobody_is_said_to_come_where_people_may_only_leave(door: Door, incident: Incident) -> None:
    retyped = door.house.retype(incident, "internal", by="ann")
    channel = door.house.channel(retyped)
    door.slack.add_person("gus", name="Gus", email="gus@example.com", is_restricted=True)
    door.house.chat.people()
    door.slack.acts.invite("ann", channel, ["gus"])
    door.deliver()
    Person.objects.filter(chat_id=door.slack.person("gus").id).update(is_guest=True)
    door.house.settle(retyped)
    shown = str(card(door, retyped).attachments)
    assert "free to leave" not in shown
    assert "bring in or page" not in shown
