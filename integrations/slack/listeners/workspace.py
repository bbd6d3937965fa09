"""What changes in the workspace itself: groups are read again soon, a person is taken from the event itself."""

from __future__ import annotations

from functools import partial

from incidents import people
from integrations.slack import current
from integrations.slack import directory as reading
from integrations.slack.delivered import Deed, Delivered
from workflows import directory


def changed(told: Delivered) -> Deed | None:
    """Note that what we know of groups is old."""
    return directory.mark_stale


def person(told: Delivered) -> Deed | None:
    """Take over what became of one person. Where thousands work, someone changes their status every few seconds."""
    member, slack = told.event.get("user"), current.slack()
    if slack is None or not isinstance(member, dict) or not isinstance(member.get("id"), str):
        return None
    known = reading.known(member, team_id=slack.identity.team_id)
    return partial(directory.note, known) if people.is_news(known) else None
