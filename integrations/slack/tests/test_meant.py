"""A button does what a mistyped command was meant to do, once its author has read what that is."""

from __future__ import annotations

import pytest

from incidents.models import Incident
from integrations.slack.protocol import block_kit
from integrations.slack.tests.door import Door

MEANT = "firekind:meant"


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    """Return its channel."""
    return door.house.channel(incident)


def labels(door: Door) -> list[str]:
    """Return the button labels of the last answer."""
    shown = door.slack.ephemerals("ann")[-1].blocks
    assert block_kit.block_problems(shown, surface="message") == []
    return [one["text"]["text"] for block in shown if block["type"] == "actions" for one in block["elements"]]


def test_it_does_what_was_asked_once(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "updaet all is well", channel=channel)
    assert labels(door) == ["Yes, do that"]
    assert not incident.events.filter(kind="updated").exists()
    pressed = door.slack.acts.press("ann", MEANT, channel=channel)
    again = door.slack.acts.press("ann", MEANT, channel=channel)
    for one in (pressed, again):
        assert one is not None
        door.send(one)
    assert incident.events.get(kind="updated").text == "all is well"
    assert "already done" in door.slack.ephemerals("ann")[-1].text


def test_it_is_for_its_author_alone(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "updaet all is well", channel=channel)
    pressed = door.slack.acts.press("ann", MEANT, channel=channel)
    assert pressed is not None
    pressed.payload["user"]["id"] = door.slack.person("ben").id
    door.send(pressed)
    assert not incident.events.filter(kind="updated").exists()


def test_elsewhere_it_asks_which_incident(door: Door, incident: Incident) -> None:
    door.command("ann", "updaet all is well")
    door.press("ann", MEANT, channel="lobby")
    assert door.slack.ephemerals("ann")[-1].text == "Post the update to which incident?\n>all is well"
    door.press("ann", "firekind:pick", channel="lobby", value=incident.codename)
    door.press("ann", "firekind:picked", channel="lobby")
    assert incident.events.get(kind="updated").text == "all is well"


@pytest.mark.parametrize(("typed", "title"), [("resolv it was dns", "Resolve"), ("severity major", "Retype")])
def test_what_ends_or_retypes_opens_its_form_with_the_words(
    door: Door, incident: Incident, channel: str, typed: str, title: str
) -> None:
    door.command("ann", typed, channel=channel)
    door.press("ann", MEANT, channel=channel)
    assert door.modal("ann")["title"]["text"] == title
    incident.refresh_from_db()
    assert (incident.status, incident.type.slug) == ("open", "ambiguous")
    door.submit("ann")
    incident.refresh_from_db()
    assert (incident.status, incident.type.slug) in {("resolved", "ambiguous"), ("open", "major")}
    assert title == "Retype" or incident.events.latest("n").text == "it was dns"


@pytest.mark.parametrize("typed", ["checkout is slow", "declair checkout is slow", "timebomb: certificate expires"])
def test_what_may_be_an_incident_opens_the_form_and_declares_nothing(door: Door, typed: str) -> None:
    door.command("ann", typed)
    door.press("ann", MEANT, channel="lobby")
    assert not Incident.objects.exists()
    door.submit("ann")
    title = typed.removeprefix("declair ").removeprefix("timebomb: ")
    assert door.incident().title == title
    assert door.incident().type.slug == ("time-bomb" if "timebomb" in typed else "ambiguous")


def test_what_is_too_long_for_a_title_is_not_lost(door: Door) -> None:
    said = "checkout is slow " * 20
    door.command("ann", said)
    door.press("ann", MEANT, channel="lobby")
    door.submit("ann")
    assert door.incident().summary == said.strip()


def test_what_cannot_be_undone_is_typed_out(door: Door, incident: Incident, channel: str) -> None:
    for typed in ("redakt 1", "archiv", "brake-glass x because y"):
        assert "Did you mean" in door.command("ann", typed, channel=channel)
        assert labels(door) == []


def test_where_an_incident_may_be_hidden_it_asks_nothing(door: Door, incident: Incident) -> None:
    door.slack.add_channel("inc-of-nobody", members=[door.slack.person("ann").id])
    door.command("ann", "updaet all is well", channel="inc-of-nobody")
    door.press("ann", MEANT, channel="inc-of-nobody")
    assert door.slack.ephemerals("ann")[-1].text.startswith("No incident that you can see belongs to this channel")
