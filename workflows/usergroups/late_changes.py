"""Changes of a group that Slack never answered: each replaces the whole list, and may still be carried out.

``GroupRule.begun`` stores them: the last one that was begun, without members if its outcome is known, and under
``late`` those before it.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final

from workflows.models import GroupRule
from workflows.usergroups.groups import Difference

Change = dict[str, Any]
# A request is sent up to a minute after the look that led to it, and carried out up to 45 seconds after that.
MAY_ARRIVE_FOR: Final = timedelta(minutes=2)
ANSWERED: Final[Change] = {"members": [], "joined": [], "left": [], "says": ""}
LATE: Final = "Slack carried out an earlier change of Firekind's late."
SET_AGAIN: Final = "Slack had carried out an earlier change of Firekind's late; Firekind set the group again."


def begun(members: Collection[str], change: Difference, says: str, *, late: Change | None, at: datetime) -> Change:
    """Return what is stored of a change that is about to be sent, beside the earlier ones (``late``)."""
    about = {"members": sorted(members), "joined": change.joins, "left": change.leaves, "says": says}
    return about | {"until": (at + MAY_ARRIVE_FOR).isoformat(), "late": (late or {}).get("late", [])}


def unanswered(rule: GroupRule) -> Change | None:
    """Return the last change that was begun, if its outcome was never recorded."""
    return rule.begun if rule.begun is not None and rule.begun["members"] else None


def found(rule: GroupRule, here: Collection[str]) -> Change | None:
    """Return the change before the last one that made the group what it is now (``here``), if it was not before."""
    if frozenset(rule.members) == frozenset(here):
        return None
    return next((one for one in _late(rule) if frozenset(one["members"]) == frozenset(here)), None)


def kept(rule: GroupRule, here: Collection[str], *, read_at: datetime | None) -> Change | None:
    """Return what stays stored once a look was recorded that found ``here``, as read at a moment; None if nothing.

    The last change counts as an earlier one then, unless the group has become like that.
    """
    last, arrived = unanswered(rule), found(rule, here)
    if last is not None and frozenset(last["members"]) == frozenset(here):
        last, arrived = None, None
    changes = [one for one in _late(rule) if one is not arrived]
    if last is not None:
        changes.append({name: value for name, value in last.items() if name != "late"})
    on_their_way = [one for one in changes if _may_arrive(one, since=read_at)]
    return ANSWERED | {"late": on_their_way} if on_their_way else None


def _late(rule: GroupRule) -> list[Change]:
    late: list[Change] = (rule.begun or {}).get("late", [])
    return late


def _may_arrive(change: Change, *, since: datetime | None) -> bool:
    """Return whether a request may be carried out after a moment; one that an older version began is not waited for."""
    return since is None or ("until" in change and datetime.fromisoformat(change["until"]) > since)
