"""An access request from Slack gets the same answer for any codename; the incident's people answer on a card."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import AccessRequest, Incident, Knock
from integrations.slack.tests.conftest import LayOut
from integrations.slack.tests.door import Door

SAME = "If that incident exists, the people in it have your request."


@pytest.fixture(scope="module")
def lay_out() -> LayOut:
    """Declare Ann's private incident."""
    return lambda door: door.declared("keys", type="security")


@pytest.fixture
def secret(incident: Incident) -> Incident:
    """The private incident."""
    return incident


def ask(door: Door, incident: Incident, *, who: str = "eve") -> None:
    assert door.command(who, f"access {incident.codename} because it is my service") == SAME
    lifecycle.carry(at=timezone.now())
    door.house.settle(incident)


def card(door: Door, incident: Incident) -> str:
    return next(text for text in door.slack.texts(door.house.channel(incident)) if "requested access" in text)


def buttons(door: Door, incident: Incident) -> list[str]:
    messages = door.slack.messages(door.house.channel(incident))
    blocks = [block for one in messages for bar in one.attachments for block in bar["blocks"]]
    found = [part["action_id"] for block in blocks if block["type"] == "actions" for part in block["elements"]]
    return [action_id for action_id in found if action_id in {"firekind:let-in", "firekind:turn-away"}]


def test_the_same_is_said_of_a_hidden_incident_and_of_none(door: Door, secret: Incident) -> None:
    for name in (secret.codename, "quiet-heron"):
        Knock.objects.update(at=timezone.now() - timedelta(hours=1))
        assert door.command("eve", f"access {name} because it is my service") == SAME
        assert "every 15 minutes" in door.command("eve", f"access {secret.codename} because please")


def test_what_is_left_out_is_asked_for_whatever_it_is_about(door: Door, secret: Incident) -> None:
    assert "access amber-otter because" in door.command("eve", "access")
    said = {door.command("eve", f"access {name}") for name in (secret.codename, "quiet-heron")}
    assert said == {"Say why in a few words. The people deciding will read them."}


def test_what_one_sees_is_linked(door: Door, secret: Incident) -> None:
    assert f"|{secret.codename}>" in door.command("ann", f"access {secret.codename} because I forgot")
    assert not Knock.objects.exists()


def test_who_is_let_in_is_invited_and_the_card_says_who_did_it(door: Door, secret: Incident) -> None:
    ask(door, secret)
    assert buttons(door, secret) == ["firekind:let-in", "firekind:turn-away"]
    assert card(door, secret) == "Let Eve in? · They requested access: it is my service"
    door.press("sam", "firekind:let-in", channel=door.house.channel(secret))
    door.house.settle(secret)
    assert "eve" in door.slack.members(door.house.channel(secret))
    assert card(door, secret).startswith("Sam let Eve in · ")
    assert not buttons(door, secret)


def test_a_refusal_is_silent(door: Door, secret: Incident) -> None:
    ask(door, secret)
    heard = len(door.slack.ephemerals("eve"))
    door.press("sam", "firekind:turn-away", channel=door.house.channel(secret))
    door.house.settle(secret)
    assert len(door.slack.ephemerals("eve")) == heard
    assert "eve" not in door.slack.members(door.house.channel(secret))
    assert card(door, secret).startswith("Sam answered “not now” to Eve · ")
    assert not buttons(door, secret)


def test_the_second_answer_is_told_of_the_first(door: Door, secret: Incident) -> None:
    ask(door, secret)
    request = AccessRequest.objects.get()
    lifecycle.turn_away(secret, n=request.n, by=door.house.person("sia"), at=timezone.now())
    door.press("sam", "firekind:let-in", channel=door.house.channel(secret))
    assert "Sia already answered “not now”" in door.slack.ephemerals("sam")[-1].text
    assert not visibility.may_see(door.house.person("eve"), secret)


def test_breaking_the_glass_is_told_in_the_channel_and_brings_in(door: Door, secret: Incident) -> None:
    eve, why = door.house.person("eve"), "Our keys are public and I can revoke them."
    lifecycle.break_glass(secret.codename, by=eve, because=why, at=timezone.now())
    assert visibility.may_see(eve, secret)
    door.house.settle(secret)
    said = door.slack.texts(door.house.channel(secret))
    assert any("Eve broke glass" in text and why in text for text in said)
    assert "eve" in door.slack.members(door.house.channel(secret))
