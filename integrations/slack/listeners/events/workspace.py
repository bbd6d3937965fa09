"""What changes in the workspace itself: groups are read again soon, a person is taken from the event itself."""

from __future__ import annotations

from functools import partial

from incidents.people import person_matching
from integrations.slack.adapter import current
from integrations.slack.adapter import directory as reading
from integrations.slack.interaction.slack_event import Deed, SlackEvent
from workflows.usergroups import workspace_cache


def changed(told: SlackEvent) -> Deed | None:
    """Note that what we know of groups is old."""
    return workspace_cache.mark_stale


def person(told: SlackEvent) -> Deed | None:
    """Take over what became of one person. Where thousands work, someone changes their status every few seconds."""
    member, slack = told.event.get("user"), current.slack()
    if slack is None or not isinstance(member, dict) or not isinstance(member.get("id"), str):
        return None
    known = reading.known(member, team_id=slack.identity.team_id)
    return partial(workspace_cache.note, known) if person_matching.is_news(known) else None
