"""What a latecomer has to know: asked for, and told quietly to each person who comes into the channel."""

from __future__ import annotations

import logging

from incidents import catch_up, visibility
from incidents.catch_up import CatchUpLine
from incidents.models import Incident, Person
from integrations.slack.interaction import incident_lookup, replying
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.models import CaughtUp
from integrations.slack.protocol import blocks, mrkdwn
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
    lines = "\n".join(map(_line, catch_up.of(incident).lines))
    title = f"*{mrkdwn.escape(incident.title)}*"
    whole = mrkdwn.link(incident_lookup.page(incident), "Open the timeline")
    return f"Where {incident.codename} stands", (
        blocks.section(f"{title}\n{lines}"),
        blocks.context(f"Only you can see this  ·  {whole}"),
    )


def _line(line: CatchUpLine) -> str:
    since = [mrkdwn.escape(line.by)] if line.by else []
    if line.at is not None and not line.ahead:
        since.append(mrkdwn.age(int(line.at.timestamp()), f"{line.at:%Y-%m-%d %H:%M} UTC"))
    due = f" {mrkdwn.when(line.at)}" if line.at is not None and line.ahead else ""
    aside = f"  _{', '.join(since)}_" if since else ""
    return f"*{line.label}*  {mrkdwn.escape(line.text)}{due}{aside}"
