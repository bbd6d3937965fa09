"""The retry button under a failure."""

from __future__ import annotations

from incidents.models import Source
from integrations.slack.interaction import carrying_out, incident_lookup
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from workflows.status import progress


def pressed(asked: SlackRequest) -> Answer:
    """Retry the effect whose number came with the button."""
    codename, _, effect = asked.value.partition("|")
    incident = incident_lookup.named(codename, by=asked.by)
    number = int(effect) if effect.isdecimal() else 0
    if progress.retry(number, incident, by=asked.by, at=asked.at, source=Source.SLACK):
        return Say(carrying_out.none_does() or "Retrying now.")
    return Say("Nothing to retry here: it is done or in progress.")
