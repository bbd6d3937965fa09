"""What a latecomer has to know: asked for, and told quietly to each person who comes into the channel."""

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
    """Say what is known of an incident, in twenty seconds."""
    text, shown = said(incident)
    return Say(text, shown)


def greets(incident: Incident, person: Person) -> bool:
    """Note that someone is told, once for each incident; return whether they were not told before.

    Those who declared it or lead it know.
    """
    if person.is_bot or person.pk in {incident.declared_by_id, incident.lead_id}:
        return False
    return CaughtUp.objects.get_or_create(chat_id=person.chat_id, incident=incident)[1]


def greet(incident: Incident, person: Person, channel_id: str) -> None:
    """Tell someone who came in what is known, where only they read it. What Slack refuses is not tried again."""
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
    """Write what is known of an incident: in a line, and as blocks."""
    known, page = catch_up_reading.of(incident), incident_lookup.page(incident)
    first = mrkdwn.escape(f"Where {incident.codename} stands: {' '.join(incident.title.split())}")
    return first, catch_up_blocks.shown(incident.title, known.lines, page=page)
