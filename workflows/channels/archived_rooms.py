"""Archived rooms that somebody was asked to unarchive: looked at, in case the event that says so was lost.

What waits for it is what responders are told there, and that our words are withdrawn from where everyone reads them.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction
from django.utils import timezone

from incidents import lifecycle
from incidents.claiming import rotation
from incidents.claiming.shared_clock import clock
from incidents.models import Incident, Source
from workflows import ports
from workflows.channels import membership, room_news, rooms
from workflows.chat_port import Chat
from workflows.effects import rate_limits
from workflows.models import Limit
from workflows.ports import VendorError

log = logging.getLogger(__name__)

METHOD: Final = "conversations.info"
AT_ONCE: Final = 10  # in turn: Slack accepts about fifty of these calls a minute, which others need as well
LATELY: Final = timedelta(days=7)  # what ended longer ago is only looked at where somebody says that it was done
ASKED_FOR: Final = """
    WITH among AS MATERIALIZED ({among})
    SELECT c.external_id FROM among i
      JOIN workflows_resource gap ON gap.incident_id = i.id AND gap.kind = 'gap'
           AND (gap.key = 'gap/archived' OR gap.key LIKE 'gap/kept/%%')
      JOIN workflows_resource c ON c.incident_id = i.id AND c.state = 'there' AND c.key = 'channel/' ||
           CASE gap.key WHEN 'gap/archived' THEN i.room::text ELSE split_part(gap.key, '/', 3) END
      JOIN workflows_resource a ON a.incident_id = i.id AND a.state = 'there' AND a.key = 'archived/' || c.room
     ORDER BY c.id
"""
OF_ONE: Final = ASKED_FOR.format(among="SELECT id, room FROM incidents_incident WHERE id = %(incident)s")
OF_ALL: Final = ASKED_FOR.format(
    among="""
    SELECT id, room FROM incidents_incident WHERE active
    UNION SELECT id, room FROM incidents_incident WHERE private AND ended_at > %(lately)s
"""
)


def look_again(*, at: datetime) -> int:
    """Look at some of those that are waited for; return how many of them are in use again."""
    chat = ports.chat()
    if chat is None or Limit.objects.filter(method=METHOD, blocked_until__gt=clock.at(at)).exists():
        return 0
    found = 0
    for channel_id in rotation.in_turn(asked_for(), at_once=AT_ONCE, every_s=membership.EVERY_S, at=at):
        try:
            found += look(chat, channel_id, at=at)
        except VendorError as error:
            log.warning("could not look at an archived channel: %s", error)
            if error.retry_after is not None:
                rate_limits.block("chat", METHOD, METHOD, until=clock.at(at) + timedelta(seconds=error.retry_after))
            if error.retryable or error.retry_after is not None:
                break
    return found


def asked_for(incident: Incident | None = None) -> list[str]:
    """Return the ids of channels that somebody was asked to unarchive, of one incident or of all."""
    with connection.cursor() as cursor:
        if incident is not None:
            cursor.execute(OF_ONE, {"incident": incident.pk})
        else:
            cursor.execute(OF_ALL, {"lately": timezone.now() - LATELY})
        return [channel_id for (channel_id,) in cursor.fetchall()]


def look(chat: Chat, channel_id: str, *, at: datetime) -> bool:
    """Look at one, and note where it is in use again; return whether it is. Raises ``VendorError``."""
    found = chat.look(channel_id)
    if found is None or found.archived:
        return False
    with transaction.atomic():
        channel = rooms.channel_row(channel_id)
        if channel is None or not rooms.archived_by_hand(channel_id, archived=False, at=at):
            return False  # an event told of it first
        kind, says = room_news.said(channel, "unarchived", by_someone=False)
        lifecycle.remark(channel.incident, kind, text=says, by=None, at=at, source=Source.SLACK)
    return True
