"""Redact an entry of the timeline by its number."""

from __future__ import annotations

from incidents import lifecycle
from incidents.models import Incident, Source
from integrations.slack.interaction import incident_lookup
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import setup


def command(asked: SlackRequest, incident: Incident) -> Answer:
    """Take the words of an entry out for good: only the lead may, and hears what stays."""
    number = asked.words.strip().lstrip("#").removeprefix("e")
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        return Say(f"Say which entry: `{setup.command()} redact 12`. Its number is at the end of its link on the page.")
    lifecycle.redact(incident, n=int(number), by=asked.by, at=asked.at, source=Source.SLACK)
    name = incident_lookup.linked(incident)
    return Say(f"Entry {number} of {name} is redacted. If it was a Slack message, delete it in Slack as well.")
