"""Unfurl links to our pages, but only where everyone may see the linked page."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from incidents import visibility
from incidents.models import Incident, Person
from integrations.slack.adapter import current
from integrations.slack.adapter.client import SlackChat
from integrations.slack.interaction import afterwards, incident_lookup
from integrations.slack.interaction.slack_event import Deed, SlackEvent
from integrations.slack.protocol import blocks, mrkdwn, setup
from workflows.channels import rooms
from workflows.ports import VendorError

log = logging.getLogger(__name__)

PATH: Final = re.compile(r"/incidents/(?P<codename>[a-z]+(?:-[a-z]+)+)/?(?:[?#].*)?")
COMPOSER: Final = "COMPOSER"  # Slack's channel id for a message that is still being written
TOO_EARLY: Final = "cannot_unfurl_url"
ELSEWHERE: Final = frozenset(
    {"channel_not_found", "not_in_channel", "cannot_find_channel", "cannot_find_message", TOO_EARLY}
)
PAUSES_S: Final = (1.0, 3.0)
MOST_PEOPLE: Final = 2_000  # larger channels are not checked: a link without a preview still works


def shared(told: SlackEvent) -> Deed | None:
    """Leave a link's preview for after the answer, because Slack accepts none before it.

    There is none for a message that is still being written, since its readers are not known, nor for a channel we are
    not in, since no one there asked for us.
    """
    links, channel_id = _links(told), told.text("channel")
    if channel_id == COMPOSER or told.text("source") == "composer" or told.event.get("is_bot_user_member") is False:
        return None
    if not links or not channel_id.startswith(("C", "G")) or not told.text("message_ts"):
        return None
    preview = Preview(channel_id, told.text("message_ts"), told.text("user"), tuple(links))
    return partial(afterwards.leave, preview.show)


@dataclass(frozen=True, slots=True)
class Preview:
    """The preview to show below a person's message."""

    channel_id: str
    ts: str
    by: str
    links: tuple[str, ...]

    def show(self) -> None:
        """Show what the links are about, if everyone in the channel may see it; otherwise do nothing.

        Slack may process our answer to the event after this call, so a refusal for that reason is retried.
        """
        for wait_s in (*PAUSES_S, None):
            try:
                self._try()
            except VendorError as error:
                if wait_s is None or not (error.retryable or error.code == TOO_EARLY):
                    _log(error)
                    return
                time.sleep(wait_s)
            else:
                return

    def _try(self) -> None:
        slack, by = current.slack(), Person.objects.filter(chat_id=self.by).first()
        if slack is None or by is None:
            return
        found = {url: incident for url in self.links if (incident := _incident(url, by)) is not None}
        if not found:
            return
        about = slack.wire.call("conversations.info", channel=self.channel_id, include_num_members=True)["channel"]
        found = {url: one for url, one in found.items() if _may_be_shown(one, about)}
        inside = _closed_circle(slack, about) if found and about.get("is_member", True) else frozenset()
        unfurls = {url: _card(one) for url, one in found.items() if inside and _is_seen_by(one, inside)}
        if unfurls:
            slack.wire.call("chat.unfurl", channel=self.channel_id, ts=self.ts, unfurls=unfurls)


def _log(error: VendorError) -> None:
    if error.code not in ELSEWHERE:
        log.warning("could not show a link: %s", error)


def _links(told: SlackEvent) -> list[str]:
    listed = told.event.get("links")
    given = listed if isinstance(listed, list) else []
    urls = [str(one["url"]) for one in given if isinstance(one, dict) and "url" in one]
    return [url for url in urls if _codename(url)]


def _incident(url: str, by: Person) -> Incident | None:
    """Return the incident of a link, if the person who posted it may see it."""
    try:
        return visibility.find(by, _codename(url))
    except Incident.DoesNotExist:
        return None


def _codename(url: str) -> str:
    base = setup.base_url()
    match = PATH.fullmatch(url.removeprefix(base)) if url.startswith(base) else None
    return match["codename"] if match else ""


def _may_be_shown(incident: Incident, about: Mapping[str, Any]) -> bool:
    """Return whether an incident may be named in a channel at all: a hidden one only in its own private channel."""
    is_its_own = bool(about.get("is_private")) and rooms.is_current(incident, str(about["id"]))
    return is_its_own or visibility.may_see(visibility.EVERYONE, incident)


def _closed_circle(slack: SlackChat, about: Mapping[str, Any]) -> frozenset[int]:
    """Return the people in a channel; empty if it is shared, too large, or includes a guest or an unknown person."""
    if any(about.get(name) for name in ("is_ext_shared", "is_pending_ext_shared", "is_org_shared")):
        return frozenset()
    if int(about.get("num_members") or 0) > MOST_PEOPLE:
        return frozenset()
    inside = slack.members(str(about["id"])) - {slack.identity.bot_user_id}
    ours = Person.objects.filter(chat_id__in=inside, is_guest=False, is_external=False, deactivated=False)
    found = frozenset(ours.values_list("pk", flat=True))
    return found if len(found) == len(inside) else frozenset()


def _is_seen_by(incident: Incident, inside: frozenset[int]) -> bool:
    """Return whether everyone in a channel may see an incident; its own channel may include non-participants."""
    return visibility.who_may_see(incident.pk, among=inside) == inside


def _card(incident: Incident) -> Mapping[str, Any]:
    """Build the preview. It stays in someone else's message for good, so only a private incident's shows the title."""
    name = mrkdwn.cut(incident.title, 150) if incident.private else incident.codename
    about = [mrkdwn.escape(incident.policy.name), str(incident.get_status_display())]
    about += [incident.codename] if incident.private else []
    title = mrkdwn.bold_link(incident_lookup.page(incident), name)
    return {"blocks": [blocks.section(f"{title}\n{'  ·  '.join(about)}")]}
