"""The button *Mark as done*, which checks the workspace before the step counts."""

from __future__ import annotations

from incidents import lifecycle
from incidents.models import Source
from integrations.slack.interaction import incident_lookup
from integrations.slack.interaction.answers import Answer, Later
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn
from workflows.status import manual_steps


def pressed(asked: SlackRequest) -> Answer:
    """Check the effect whose number came with the button, and return the result in words."""
    codename, _, effect = asked.value.partition("|")
    incident = incident_lookup.named(codename, by=asked.by)
    number = int(effect) if effect.isdecimal() else 0

    def check() -> str:
        try:
            return mrkdwn.escape(manual_steps.done(number, incident, by=asked.by, at=asked.at, source=Source.SLACK))
        except lifecycle.Refused as refused:
            return mrkdwn.escape(str(refused))
        except lifecycle.NotThere:
            return incident_lookup.NOT_THERE

    return Later(check)
