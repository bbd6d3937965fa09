"""A private incident and a missing one look the same, at every door, to a person who is not in it."""

from __future__ import annotations

import json

import pytest

from incidents.models import Event, Incident
from integrations.slack import listeners
from integrations.slack.interaction.incident_lookup import NOT_THERE
from integrations.slack.interaction.request import NO_WINDOW
from integrations.slack.listeners import command_table
from integrations.slack.tests.conftest import LayOut
from integrations.slack.tests.door import Door
from workflows.models import Effect


@pytest.fixture(scope="module")
def lay_out() -> LayOut:
    """Declare a private incident; Out was just let into its channel by hand, which we do not know yet."""
    return declared_with_a_stranger


def declared_with_a_stranger(door: Door) -> Incident:
    incident = door.declared("someone has our keys", type="security")
    channel = door.slack.channel(door.house.channel(incident))
    channel.members.append(door.slack.person("out").id)
    return incident


@pytest.fixture
def secret(incident: Incident) -> Incident:
    """The private incident."""
    return incident


ABOUT = [one.name for one in command_table.COMMANDS if one.about]
ENDED = {"archive", "reopen"}


@pytest.mark.parametrize("name", ABOUT)
def test_no_command_tells_or_does_anything(door: Door, secret: Incident, name: str) -> None:
    before = Event.objects.count()
    channel, other = door.house.channel(secret), door.slack.add_channel("board", is_private=True)
    other.members.append(door.slack.person("out").id)
    for typed in (f"{name} words", name):
        assert door.command("out", typed, channel=channel) == door.command("out", typed, channel=other.name)
        assert door.slack.modal("out") is None
    nothing = f"There is no {'ended' if name in ENDED else 'open'} incident to use this on."
    assert door.command("out", f"{name} {secret.codename}") == nothing
    assert Event.objects.count() == before


@pytest.mark.parametrize("name", ["list", "help"])
def test_no_list_names_it(door: Door, secret: Incident, name: str) -> None:
    assert "keys" not in door.command("out", name, channel=door.house.channel(secret))


def test_a_button_carried_over_does_nothing(door: Door, secret: Incident) -> None:
    """Anyone can copy a button's id, so each press is checked again."""
    effect = Effect.objects.filter(incident=secret).first()
    assert effect is not None
    for action_id in listeners.BUTTONS:
        if action_id.endswith(("declare", "-type", "-bring", "pick", "picked", "pick-again")):
            continue
        pressed = door.slack.acts.press("ann", "firekind:update", channel=door.house.channel(secret))
        assert pressed is not None
        pressed.payload["user"]["id"] = door.slack.person("out").id
        pressed.payload["actions"][0] |= {"action_id": action_id, "value": f"{secret.codename}|{effect.pk}"}
        if action_id != "firekind:retry":
            pressed.payload["actions"][0]["value"] = secret.codename
        door.send(pressed)
        assert door.slack.ephemerals("ann")[-1].text in (NOT_THERE, NO_WINDOW)
        assert door.slack.modal("out") is None
        assert door.slack.modal("ann") is None


@pytest.mark.parametrize("opens", ["update", "type", "type major"])
def test_a_form_of_somebody_else_does_nothing(door: Door, secret: Incident, opens: str) -> None:
    before = Event.objects.count()
    door.command("ann", opens, channel=door.house.channel(secret))
    sent = door.slack.acts.submit("ann", {"text": "x"} if opens == "update" else {"firekind:retype-type": "major"})
    sent.payload["user"]["id"] = door.slack.person("out").id
    answer = door.post(sent)
    assert "No such incident." in json.dumps(json.loads(answer.content))
    assert Event.objects.count() == before


def test_a_message_cannot_be_added_to_it(door: Door, secret: Incident) -> None:
    channel = door.house.channel(secret)
    ts = door.slack.acts.say("sam", channel, "the key is …")
    door.shortcut("out", "firekind:capture-this", channel=channel, ts=ts)
    assert door.slack.ephemerals("out")[-1].text == "There is no incident yet to add this to."
    door.slack.acts.react("out", channel, ts, "pushpin")
    door.deliver()
    assert not Event.objects.filter(kind="captured").exists()


def test_the_picker_does_not_offer_it(door: Door, secret: Incident) -> None:
    door.declared("mail is late", by="ben")
    door.command("out", "update still looking")
    shown = json.dumps(door.slack.ephemerals("out")[-1].blocks)
    assert "mail is late" in shown
    assert "keys" not in shown
    assert secret.codename not in shown


def test_a_codename_that_exists_and_one_that_does_not_are_answered_alike(door: Door, secret: Incident) -> None:
    door.declared("mail is late", by="ben")
    known = door.command("out", f"status {secret.codename}")
    assert known.replace(secret.codename, "quiet-heron") == door.command("out", "status quiet-heron")


def test_an_incident_that_turned_private_is_gone_at_once(door: Door) -> None:
    incident = door.declared()
    channel = door.house.channel(incident)
    assert "*checkout is slow*" in door.command("ben", "status", channel=channel)
    door.command("ann", "type security", channel=channel)
    door.command("ben", "update", channel=channel)
    door.submit("ann")
    assert door.submit("ben", text="what I know")["errors"] == {"text": NOT_THERE}
    assert "No incident that you can see" in door.command("ben", "status", channel=channel)
