"""A command outside its incident's channel does nothing until someone has read what would be done where."""

from __future__ import annotations

from typing import Any

import pytest

from incidents.models import Event, Incident
from integrations.slack.listeners import command_table
from integrations.slack.protocol import block_kit
from integrations.slack.tests.door import Door

ACTS = [one for one in command_table.COMMANDS if one.asks]
ABOUT = [one for one in command_table.COMMANDS if one.about]
TYPED = {
    "role": "Scribe @Ben",
    "bring": "@Ben",
    "evidence": "https://grafana.example/d/7",
    "tasks": "done 1",
    "checklist": "1",
    "edit": "1 carts fail",
    "redact": "1",
    "lead": "@Ben",
}


def words(one: command_table.Command) -> str:
    """Return words to follow a command."""
    return TYPED.get(one.name, "still here")


def shown(door: Door, user: str = "out") -> Any:
    """Return the blocks of the last message that only this person was shown."""
    return door.slack.ephemerals(user)[-1].blocks


def place(door: Door, incident: Incident) -> str:
    """Return how answers name its channel."""
    return f"<#{door.slack.channel(door.house.channel(incident)).id}>"


def choose(door: Door, incident: Incident, *, user: str = "out", channel: str = "lobby") -> None:
    """Choose an incident from the list."""
    door.press(user, "firekind:pick", channel=channel, value=incident.codename)


def confirm(door: Door, *, user: str = "out", channel: str = "lobby") -> str:
    """Confirm, and return the answer."""
    door.press(user, "firekind:picked", channel=channel)
    return str(door.slack.ephemerals(user)[-1].text)


def test_the_question_repeats_what_would_be_sent_and_options_say_which_is_which(door: Door, incident: Incident) -> None:
    said = door.command("out", "update still <b>here</b>")
    assert said == "Post the update to which incident?\n>still &lt;b&gt;here&lt;/b&gt;"
    section, other_way = shown(door)
    assert other_way["elements"][0]["text"] == "Or type `/incident update codename still &lt;b&gt;here&lt;/b&gt;`."
    assert section["text"]["text"] == said
    (option,) = section["accessory"]["options"]
    assert option["text"]["text"] == "Ambiguous: checkout is slow"
    assert option["description"]["text"] == incident.codename


def test_choosing_shows_what_goes_where_and_confirming_says_where_it_went(door: Door, incident: Incident) -> None:
    channel = place(door, incident)
    door.command("out", "update still here")
    choose(door, incident)
    assert not incident.events.filter(kind="updated").exists()
    asked, buttons = shown(door)
    assert asked["text"]["text"].startswith(f"Post the update to {channel} (Ambiguous: checkout is slow, ")
    assert asked["text"]["text"].endswith("?\n>still here")
    assert [one["text"]["text"] for one in buttons["elements"]] == ["Post the update", "Choose another"]
    assert confirm(door) == f"Update posted in {channel}."
    assert incident.events.latest("n").text == "still here"


def test_another_can_be_chosen_instead(door: Door, incident: Incident) -> None:
    other = door.declared("mail is late", by="ben")
    asked = door.command("out", "update still here")
    choose(door, incident)
    door.press("out", "firekind:pick-again", channel="lobby")
    assert door.slack.ephemerals("out")[-1].text == asked
    choose(door, other)
    confirm(door)
    assert other.events.latest("n").text == "still here"
    assert not incident.events.filter(kind="updated").exists()


@pytest.mark.parametrize("one", ABOUT, ids=lambda one: one.name)
@pytest.mark.parametrize("worded", [False, True])
def test_no_command_does_anything_before_it_is_confirmed(
    door: Door, incident: Incident, one: command_table.Command, *, worded: bool
) -> None:
    if True not in one.of:
        door.command("ann", "resolved", channel=door.house.channel(incident))
    before = Event.objects.count()
    typed = f"{one.name} {words(one)}" if worded else one.name
    asked = door.command("out", typed)
    assert (words(one).replace("@Ben", "@Ben") if worded else one.name) in asked.replace("&lt;", "<")
    assert block_kit.block_problems(shown(door), surface="message") == []
    choose(door, incident)
    assert Event.objects.count() == before
    assert block_kit.block_problems(shown(door), surface="message") == []


@pytest.mark.parametrize("one", ACTS, ids=lambda one: one.name)
def test_what_is_said_when_it_was_done_names_the_incident(
    door: Door, incident: Incident, one: command_table.Command
) -> None:
    if True not in one.of:
        door.command("ann", "resolved", channel=door.house.channel(incident))
    door.command("out", f"{one.name} {words(one)}")
    choose(door, incident)
    before = Event.objects.count()
    said = confirm(door)
    if Event.objects.count() > before:
        assert f"|{incident.codename}>" in said or place(door, incident) in said


def test_a_text_of_any_length_fits(door: Door, incident: Incident) -> None:
    door.command("out", "update " + "<&\n" * 2_000)
    assert block_kit.block_problems(shown(door), surface="message") == []
    choose(door, incident)
    assert block_kit.block_problems(shown(door), surface="message") == []


def test_where_an_incident_was_nothing_is_offered_and_nothing_told(door: Door, incident: Incident) -> None:
    """Only its name decides: a private incident's former channel is answered like one that never had an incident."""
    door.declared("mail is late", by="ben")
    old, out = door.slack.channel(door.house.channel(incident)), door.slack.person("out").id
    door.command("ann", "type security", channel=old.name)
    door.submit("ann")
    door.house.settle(incident)
    old.is_archived = False  # someone unarchived it
    incident.refresh_from_db()
    hidden = door.slack.channel(door.house.channel(incident))
    never = door.slack.add_channel("inc-never-was")
    board = door.slack.add_channel("board", is_private=True)
    for channel in (old, hidden, never, board):
        channel.members.append(out)  # let into the private one by hand, which we do not know yet
    for one in ABOUT:
        for after in ("", f" {words(one)}"):
            places = (old, hidden, never, board)
            (said,) = {door.command("out", f"{one.name}{after}", channel=channel.name) for channel in places}
            assert said == (
                "No incident that you can see belongs to this channel, so nothing was done. Name one: "
                f"`/incident {one.name} codename{after}`. `/incident list` shows those that are open."
            )
            assert not shown(door)
