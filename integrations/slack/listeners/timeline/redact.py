"""Redact or edit an entry of the timeline by its number."""

from __future__ import annotations

import re
from typing import Final

from incidents import lifecycle
from incidents.models import Incident, Source
from integrations.slack.interaction import incident_lookup, messages
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import setup

ENTRY: Final = re.compile(r"#?e?(?P<n>[0-9]{1,9})(?:\s+(?P<text>.+))?", re.ASCII | re.DOTALL)
WHICH: Final = "Its number is at the end of its link on the page."


def command(asked: SlackRequest, incident: Incident) -> Answer:
    """Take the words of an entry out for good: only the lead may, and hears what stays."""
    said = ENTRY.fullmatch(asked.words.strip())
    if said is None or said["text"]:
        return Say(f"Say which entry: `{setup.command()} redact 12`. {WHICH}")
    lifecycle.redact(incident, n=int(said["n"]), by=asked.by, at=asked.at, source=Source.SLACK)
    name = incident_lookup.linked(incident)
    return Say(f"Entry {said['n']} of {name} is redacted. If it was a Slack message, delete it in Slack as well.")


def edit(asked: SlackRequest, incident: Incident) -> Answer:
    """Change the words of an entry: its author may, or the lead; what it said before stays in its history."""
    said = ENTRY.fullmatch(asked.words.strip())
    if said is None or not said["text"]:
        return Say(f"Say which entry, and what it should say: `{setup.command()} edit 12 carts fail`. {WHICH}")
    text = messages.typed(said["text"])
    lifecycle.edit(incident, n=int(said["n"]), text=text, by=asked.by, at=asked.at, source=Source.SLACK)
    return Say(f"Entry {said['n']} of {incident_lookup.linked(incident)} is changed. Its history shows what it said.")
