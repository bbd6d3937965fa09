"""Replays: start one of an ended incident, and step through what happened next."""

from __future__ import annotations

from django.utils import timezone

from incidents import lifecycle
from incidents.drills import replays
from incidents.models import Source
from integrations.slack.interaction import incident_lookup
from integrations.slack.interaction.answers import Answer, Nothing, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.listeners.incident import room_words
from integrations.slack.protocol import setup


def command(asked: SlackRequest) -> Answer:
    """Replay the incident that is named, at the speed given after it."""
    incident, rest = incident_lookup.first_word(asked.words, by=asked.by)
    if incident is None:
        if not asked.words:
            return Say(f"Say which incident: `{setup.command()} replay amber-otter 10`.")
        raise incident_lookup.no_such()
    speed = rest.strip().lower().removesuffix("x")
    if speed and not (speed.isascii() and speed.isdecimal() and len(speed) < 5):
        raise lifecycle.BadInput("speed", f"Use a speed from {replays.SPEEDS[0]} to {replays.SPEEDS[1]}.")
    how_fast = int(speed) if speed else replays.SPEED
    drill = replays.start(incident, by=asked.by, at=asked.at, source=Source.SLACK, speed=how_fast)
    replaying = f"Replaying {incident.codename} as {incident_lookup.linked(drill)}."
    return Say(f"{replaying} {room_words.opens(drill, by=asked.by)}")


def show_next(asked: SlackRequest) -> Answer:
    """Show what happened next in the replay whose button was pressed."""
    replays.show_next(incident_lookup.named(asked.value, by=asked.by), by=asked.by, at=timezone.now())
    return Nothing()
