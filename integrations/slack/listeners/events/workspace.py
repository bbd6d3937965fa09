"""Changes in the workspace itself: groups are read again soon, changes of a person are recorded at once."""

from __future__ import annotations

import logging
from functools import partial

from incidents.people import person_matching
from integrations.slack.adapter import current
from integrations.slack.adapter import directory as reading
from integrations.slack.interaction import replying
from integrations.slack.interaction.slack_event import Deed, SlackEvent
from workflows.ports import VendorError
from workflows.usergroups import workspace_cache

log = logging.getLogger(__name__)


def changed(told: SlackEvent) -> Deed | None:
    """Mark our copy of the user groups as outdated."""
    return workspace_cache.mark_stale


def person(told: SlackEvent) -> Deed | None:
    """Record a changed person. In a large workspace someone changes their status every few seconds."""
    member, slack = told.event.get("user"), current.slack()
    if slack is None or not isinstance(member, dict) or not isinstance(member.get("id"), str):
        return None
    known = reading.known(member, team_id=slack.identity.team_id)
    if not person_matching.is_news(known):
        return None
    return partial(workspace_cache.note, _as_they_are(known, team_id=slack.identity.team_id))


def _as_they_are(told: person_matching.ChatProfile, *, team_id: str) -> person_matching.ChatProfile:
    """Ask for the person's current profile, because events arrive in any order and this one may be outdated.

    If Slack does not answer, the event has to do until everyone is read again.
    """
    try:
        return reading.known(replying.asked("users.info", user=told.chat_id)["user"], team_id=team_id)
    except (VendorError, TimeoutError) as error:
        log.warning("could not look at a person whose profile changed: %s", type(error).__name__)
        return told
