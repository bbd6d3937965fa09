"""Acknowledge a page, for a person it paged."""

from __future__ import annotations

from integrations.slack.interaction import incident_lookup
from integrations.slack.interaction.answers import Answer, Nothing, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn
from workflows.paging import acknowledging


def pressed(asked: SlackRequest) -> Answer:
    """Acknowledge the page whose number came with the button, in the name of the person who pressed it.

    A Home tab is redrawn to show that this is in progress.
    """
    codename, _, number = asked.value.partition("|")
    incident = incident_lookup.named(codename, by=asked.by)
    page = int(number) if number.isdecimal() else 0
    reply = acknowledging.ask(incident, page=page, by=asked.by, at=asked.at)
    return Nothing() if reply.begun and asked.on_home else Say(mrkdwn.escape(reply.says))
