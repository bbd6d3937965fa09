"""The button that creates a new channel in place of one that is gone."""

from __future__ import annotations

from incidents.models import Source
from integrations.slack.interaction import carrying_out, incident_lookup
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from workflows.channels import rooms


def pressed(asked: SlackRequest) -> Answer:
    """Request the new channel; a second press is refused with a message."""
    incident = incident_lookup.named(asked.value, by=asked.by)
    rooms.open_another(incident, by=asked.by, at=asked.at, source=Source.SLACK)
    return Say(carrying_out.none_does() or "A new channel is being created.")
