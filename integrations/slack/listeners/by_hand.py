"""The button *I did it*: checked in the workspace before it counts."""

from __future__ import annotations

from incidents import lifecycle
from incidents.models import Source
from integrations.slack import places, words
from integrations.slack.answers import Answer, Later
from integrations.slack.asked import Asked
from workflows import by_hand


def pressed(asked: Asked) -> Answer:
    """Check what the effect whose number came with the button was about, and say what came of it."""
    codename, _, effect = asked.value.partition("|")
    incident = places.named(codename, by=asked.by)
    number = int(effect) if effect.isdecimal() else 0

    def check() -> str:
        try:
            return words.escape(by_hand.done(number, incident, by=asked.by, at=asked.at, source=Source.SLACK))
        except lifecycle.Refused as refused:
            return words.escape(str(refused))
        except lifecycle.NotThere:
            return places.NOT_THERE

    return Later(check)
