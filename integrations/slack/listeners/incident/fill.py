"""Choose a person for a role that could not be filled."""

from __future__ import annotations

from typing import Final

from incidents import lifecycle
from incidents.models import Incident, Source
from integrations.slack.interaction import incident_lookup
from integrations.slack.interaction.answers import Answer, Nothing, Open, Wrong
from integrations.slack.interaction.request import SlackRequest, keep
from integrations.slack.protocol import blocks

CALLBACK: Final = "firekind:fill"


def pressed(asked: SlackRequest) -> Answer:
    """Open the modal from the message about what is missing."""
    codename, _, role = asked.value.partition("|")
    incident = incident_lookup.named(codename, by=asked.by)
    return Open(modal(incident, role))


def submitted(asked: SlackRequest) -> Answer:
    """Give the role to the person chosen, who is brought in."""
    form = asked.filled
    incident = incident_lookup.named(form.kept.text("i"), by=asked.by)
    person = form.person("person")
    if person is None:
        return Wrong({"person": "Choose a person."})
    role = form.kept.text("r")
    lifecycle.fill(incident, role=role, person=person, by=asked.by, at=asked.at, source=Source.SLACK)
    return Nothing()


def modal(incident: Incident, role: str) -> blocks.Block:
    """Build the modal: a field for one person."""
    about = incident_lookup.titled(incident)
    parts = [
        blocks.section(about),
        blocks.field(
            role, blocks.person_select(action_id="person"), block_id="person", hint="They are brought in and notified."
        ),
    ]
    kept = keep(i=incident.codename, r=role)
    return blocks.modal("Choose someone", parts, callback_id=CALLBACK, submit="Choose", close="Cancel", kept=kept)
