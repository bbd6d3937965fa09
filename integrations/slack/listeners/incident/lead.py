"""Set the lead."""

from __future__ import annotations

from incidents import lifecycle
from incidents.models import Incident, Person, Source
from integrations.slack.interaction import incident_lookup, mentions
from integrations.slack.interaction.answers import Answer, Nothing, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn, setup

NOBODY = {"none", "nobody", "-"}


def command(asked: SlackRequest, incident: Incident) -> Answer:
    """Make the person mentioned, or the person asking, the lead; ``nobody`` clears the lead."""
    lead = _meant(asked)
    lifecycle.set_lead(incident, lead=lead, by=asked.by, at=asked.at, source=Source.SLACK)
    name = incident_lookup.linked(incident)
    if lead is None:
        return Say(f"{name} has no lead now.")
    if lead.pk == asked.by.pk:
        return Say(f"You now lead {name}.")
    return Say(f"{mrkdwn.mention(lead.chat_id, lead.name)} leads {name} now.")


def taken(asked: SlackRequest) -> Answer:
    """Make the person who pressed *Take the lead* the lead, if there is none; the button never replaces one."""
    incident = incident_lookup.named(asked.value, by=asked.by)
    name = incident_lookup.linked(incident)
    lead = incident.lead
    if lead is not None:
        who = "You lead" if lead.pk == asked.by.pk else f"{mrkdwn.mention(lead.chat_id, lead.name)} leads"
        return Say(f"{who} {name}. To change that, type `{setup.command()} lead` in its channel.")
    if not incident.is_active:
        raise lifecycle.Refused(f"{incident.codename} is {incident.status}; reopen it before you take the lead.")
    seen = incident.last_n
    lifecycle.set_lead(incident, lead=asked.by, by=asked.by, at=asked.at, source=Source.SLACK, since=seen)
    return Nothing()


def _meant(asked: SlackRequest) -> Person | None:
    said = asked.words.lower().rstrip(".!")
    if said in {"", "me"}:
        return asked.by
    if said in NOBODY:
        return None
    mentions.known(asked.words)
    ids = mrkdwn.people(asked.words)
    if len(ids) != 1:
        raise lifecycle.Refused("Name one person: type @ and choose them from Slack's list.")
    lead = mentions.met(ids[0])
    if lead.is_bot or lead.deactivated:
        raise lifecycle.Refused(f"{lead.name} cannot lead: {lead.kept_out.lower()} never do.")
    return lead
