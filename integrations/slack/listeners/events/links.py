"""Unfurl links to our pages, only where everyone may see what they lead to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from incidents import visibility
from incidents.models import Incident, Person
from integrations.slack.adapter import current
from integrations.slack.adapter.client import SlackChat
from integrations.slack.interaction import incident_lookup
from integrations.slack.interaction.slack_event import Deed, SlackEvent
from integrations.slack.protocol import blocks, mrkdwn, setup
from workflows.channels import rooms

PATH: Final = re.compile(r"/incidents/(?P<codename>[a-z]+(?:-[a-z]+)+)/?(?:[?#].*)?")
MOST_PEOPLE: Final = 2_000  # more are not looked through: a link without a preview is still a link


def shared(told: SlackEvent) -> Deed | None:
    """Show what a link is about, once it is certain that everyone in the channel may see it; else stay silent.

    Slack may tell us again, which draws the same once more: nothing is recorded, so nothing is owed here.
    """
    slack, channel_id = current.slack(), told.text("channel")
    by = Person.objects.filter(chat_id=told.text("user")).first()
    if slack is None or by is None or not channel_id.startswith(("C", "G")):
        return None  # in a message that is still being written, nobody knows who will read it
    found = {url: incident for url in _links(told) if (incident := _incident(url, by)) is not None}
    if not found:
        return None
    about = slack.wire.call("conversations.info", channel=channel_id, include_num_members=True)["channel"]
    unfurls = {url: _card(one) for url, one in found.items() if _may_be_shown(one, about)}
    if unfurls and _is_closed_circle(slack, about):
        slack.wire.call("chat.unfurl", channel=channel_id, ts=told.text("message_ts"), unfurls=unfurls)
    return None


def _links(told: SlackEvent) -> list[str]:
    listed = told.event.get("links")
    given = listed if isinstance(listed, list) else []
    return [str(one["url"]) for one in given if isinstance(one, dict) and "url" in one]


def _incident(url: str, by: Person) -> Incident | None:
    """Return the incident of a link, if the person who posted it may see it."""
    base = setup.base_url()
    match = PATH.fullmatch(url.removeprefix(base)) if url.startswith(base) else None
    if match is None:
        return None
    try:
        return visibility.find(by, match["codename"])
    except Incident.DoesNotExist:
        return None


def _may_be_shown(incident: Incident, about: Mapping[str, Any]) -> bool:
    """Return whether an incident may be named in a channel at all: a private one in its own private room alone."""
    return not incident.private or (bool(about.get("is_private")) and rooms.is_current(incident, str(about["id"])))


def _is_closed_circle(slack: SlackChat, about: Mapping[str, Any]) -> bool:
    """Return whether nobody is in a channel but people of the workspace itself: no guest, nobody from outside."""
    if any(about.get(name) for name in ("is_ext_shared", "is_pending_ext_shared", "is_org_shared")):
        return False
    if int(about.get("num_members") or 0) > MOST_PEOPLE:
        return False
    inside = slack.members(str(about["id"])) - {slack.identity.bot_user_id}
    ours = Person.objects.filter(chat_id__in=inside, is_guest=False, is_external=False, deactivated=False)
    return ours.count() == len(inside)


def _card(incident: Incident) -> Mapping[str, Any]:
    """Build the preview. It stands in someone else's message for good, so a title is in it only in private."""
    name = mrkdwn.cut(incident.title, 150) if incident.private else incident.codename
    about = [mrkdwn.escape(incident.policy.name), str(incident.get_status_display())]
    about += [incident.codename] if incident.private else []
    return {
        "blocks": [
            blocks.section(f"*{mrkdwn.link(incident_lookup.page(incident), name)}*"),
            blocks.context("  ·  ".join(about)),
        ]
    }
