"""Who leads."""

from __future__ import annotations

from incidents import lifecycle
from incidents.models import Incident, Person, Source
from incidents.people import person_matching
from integrations.slack.interaction import incident_lookup
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn

NOBODY = {"none", "nobody", "-"}


def command(asked: SlackRequest, incident: Incident) -> Answer:
    """Make the person mentioned, or the person asking, the lead; ``nobody`` clears the lead."""
    lead = _meant(asked)
    lifecycle.set_lead(incident, lead=lead, by=asked.by, at=asked.at, source=Source.SLACK)
    name = incident_lookup.linked(incident)
    if lead is None:
        return Say(f"{name} has no lead now.")
    if lead.pk == asked.by.pk:
        return Say(f"You lead {name} now.")
    return Say(f"{mrkdwn.mention(lead.chat_id, lead.name)} leads {name} now.")


def _meant(asked: SlackRequest) -> Person | None:
    if not asked.words or asked.words.lower() == "me":
        return asked.by
    if asked.words.lower() in NOBODY:
        return None
    ids = mrkdwn.people(asked.words)
    if len(ids) != 1:
        raise lifecycle.Refused("Name one person: type @ and choose them from Slack's list.")
    lead = person_matching.by_chat_id(ids[0])
    if lead.is_bot or lead.deactivated:
        raise lifecycle.Refused(f"{lead.name} cannot lead. Choose a person.")
    return lead
