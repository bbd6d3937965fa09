"""Words of ours that a restore lost: no entry here says them, so nothing else withdraws them from a private incident.

A room is read anyway to count what others posted there. Only an incident from before a restore can have any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.conf import settings

from incidents.models import Incident
from workflows.chat_port import Chat
from workflows.effects import message_marks, restoring
from workflows.models import Resource
from workflows.performing import withdrawn
from workflows.planning.wording import cards
from workflows.ports import VendorError


def withdraw(chat: Chat, incident: Incident, channel_id: str, ours: Iterable[str]) -> None:
    """Withdraw what is unknown here of our messages in a public room, and the announcement. Raises ``VendorError``."""
    if restoring.put_back_at(incident.declared_at) is None:
        return
    posts = Resource.objects.filter(incident=incident, kind="post")
    known = {*posts.values_list("external__ts", flat=True)}
    farewell = str(cards.farewell().text)
    for ts in ours:
        shown = chat.shown(channel_id, ts) if ts not in known else None
        if shown is not None and not withdrawn.is_gone(shown) and not shown.startswith(farewell):
            chat.edit_post(channel_id, ts, cards.withdrawn())
    if not posts.filter(key=withdrawn.ANNOUNCEMENT).exists():
        _withdraw_announcement(chat, incident)


def _withdraw_announcement(chat: Chat, incident: Incident) -> None:
    """Withdraw an announcement that is unknown here, in any channel that incidents may have been announced in."""
    alike = message_marks.of_one(incident, withdrawn.ANNOUNCEMENT)
    for channel in _announced_in(chat):
        try:
            found = chat.find_post(channel, marks=(), since=incident.declared_at, alike=alike)
        except VendorError as error:
            if error.retryable:
                raise
            continue  # we cannot read that channel, and nothing says that there is an announcement
        if found is not None:
            chat.edit_post(found.channel_id, found.ts, cards.withdrawn_announcement())
            return


def _announced_in(chat: Chat) -> Iterator[str]:
    """Yield the channel where incidents are announced now, then all others that we are in and that are no room.

    The settings may have named one of those in the time that was lost.
    """
    slack = settings.FIREKIND.slack
    if slack is not None and slack.announce_channel:
        yield slack.announce_channel
    inside = [one.id for one in chat.entered()]
    rooms = {*Resource.rooms(inside).values_list("external_id", flat=True)}
    yield from (one for one in inside if one not in rooms)
