"""The catch-up for latecomers: on request, and privately to each person who joins the channel."""

from __future__ import annotations

import logging

from incidents import visibility
from incidents.models import Incident, Person
from incidents.reading import catch_up_reading
from integrations.slack.interaction import incident_lookup, replying
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.models import CaughtUp
from integrations.slack.protocol import blocks, catch_up_blocks, mrkdwn
from workflows.channels import rooms
from workflows.ports import VendorError

log = logging.getLogger(__name__)


def command(asked: SlackRequest, incident: Incident) -> Answer:
    """Summarise what is known of an incident, readable in twenty seconds."""
    text, shown = said(incident)
    return Say(text, shown)


def greets(incident: Incident, person: Person) -> bool:
    """Record that a person gets the catch-up, once per incident; return whether this is the first time.

    The person who declared it and the lead need none.
    """
    if person.is_bot or person.pk in {incident.declared_by_id, incident.lead_id}:
        return False
    return CaughtUp.objects.get_or_create(chat_id=person.chat_id, incident=incident)[1]


def greet(incident: Incident, person: Person, channel_id: str) -> None:
    """Send a person who joined the catch-up, visible only to them. It is not retried if Slack refuses it."""
    seen = visibility.visible_to(person).select_related("type", "policy_version", "lead")
    now = seen.filter(pk=incident.pk).first()
    if now is None or not rooms.is_current(now, channel_id):
        return
    text, shown = said(now)
    try:
        replying.call("chat.postEphemeral", channel=channel_id, user=person.chat_id, text=text, blocks=list(shown))
    except VendorError as error:
        log.warning("could not tell a newcomer: %s", error.code)


def said(incident: Incident) -> tuple[str, tuple[blocks.Block, ...]]:
    """Write the catch-up of an incident: as one line, and as blocks."""
    known, page = catch_up_reading.of(incident), incident_lookup.page(incident)
    first = mrkdwn.escape(f"Where {incident.codename} stands: {' '.join(incident.title.split())}")
    return first, catch_up_blocks.shown(incident.title, known.lines, page=page)
