"""The history of a group: the state of its rule, and every change of its members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from workflows.models import Group, GroupChange, GroupRule, Restored
from workflows.ports import VendorError
from workflows.usergroups import groups, late_changes
from workflows.usergroups.groups import Belonging, Difference, GroupDecision

State = GroupRule.State
NOBODY = Difference((), ())
RESTORED = "Someone changed the group in Slack; Firekind restored it."
FORGOTTEN = "It was changed after the point the database was restored to. Firekind reset it to match the rule."
RESTORED_AT_MOST = 3  # times within an hour: two rules following one group would undo each other forever
CONTESTED = (
    "The group keeps being changed in Slack, so Firekind restores it at most three times an hour. If another "
    "installation, PagerDuty or a workflow manages it as well, pause one of them."
)


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a rule: who belongs in its group, who is ``here`` as of ``read_at``, and what follows from it."""

    rule: GroupRule
    belonging: Belonging
    group: Group | None
    verdict: GroupDecision
    here: frozenset[str] = frozenset()
    read_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Synced:
    """The state of a group after a look, and who joined or left by it."""

    handle: str
    state: str
    says: str = ""
    joined: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def looked(looks: Sequence[Look], *, at: datetime) -> list[Synced]:
    """Record looks that led to no call: one statement for all those with nothing new to say."""
    news = [one for one in looks if _is_news(one)]
    known = {one.rule.pk for one in looks} - {one.rule.pk for one in news}
    free = Q(claimed_until=None) | Q(claimed_until__lte=at)
    GroupRule.objects.filter(free, pk__in=known).update(checked_at=at, try_again_at=None)
    for one in news:
        _note_news(one, at=at)
    return [Synced(one.rule.handle, one.verdict.state, one.verdict.says) for one in looks]


@transaction.atomic
def begin(look: Look, *, at: datetime) -> tuple[Difference, str] | None:
    """Record the change that is about to be written, and return it and why; None if another process took over the rule.

    If its outcome is never recorded, a later look finds the group like that, and knows whose change it was.
    """
    change, says = groups.difference(look.here, look.verdict.write), _because(look, at=at)
    begun = late_changes.begun(look.verdict.write, change, says, late=_kept(look), at=at)
    if not _unclaimed(look).update(begun=begun):
        return None
    if (ours := _unrecorded(look)) is not None:
        _add(look, *ours, at=at)
    return change, says


def written(look: Look, change: Difference, says: str, *, at: datetime) -> Synced:
    """Record that the change that was begun was written, so that the next look and invitations see it."""
    members = sorted(look.verdict.write)
    with transaction.atomic():
        if _stand(look, State.TRUE, "", at=at, members=members, changed_at=at):
            Group.objects.filter(handle=look.rule.handle).update(members=members)
            _add(look, change, says, at=at)
    return Synced(look.rule.handle, State.TRUE, "", change.joins, change.leaves)


def refused(look: Look, error: VendorError, *, again_at: datetime, at: datetime) -> Synced:
    """Record that a group could not be written; the same error is not reported twice."""
    state = State.WAITING if error.retryable else State.FAILED
    with transaction.atomic():
        more = {} if error.unknown else {"begun": _kept(look)}
        stands = _stand(look, state, error.says, at=at, members=sorted(look.here), try_again_at=again_at, **more)
        if stands and not error.retryable and look.rule.says != error.says:
            _add(look, NOBODY, error.says, at=at, code=error.code)
    return Synced(look.rule.handle, state, error.says)


def waiting(looks: Sequence[Look], says: str, *, until: datetime, at: datetime) -> list[Synced]:
    """Record that groups will be written later."""
    for one in looks:
        _stand(one, State.WAITING, says, at=at, members=sorted(one.here), try_again_at=until)
    return [Synced(one.rule.handle, State.WAITING, says) for one in looks]


def is_contested(look: Look, *, at: datetime) -> bool:
    """Return whether a group was restored so often that someone else must be changing it.

    A new rule or shift is still written, and so is a group that Slack did not accept.
    """
    if _is_edited(look.rule) or _is_handover(look.rule, at=at) or look.rule.says not in {"", CONTESTED}:
        return False
    if late_changes.found(look.rule, look.here) is not None:
        return False
    restored = GroupChange.objects.filter(rule=look.rule, says=RESTORED, at__gt=at - timedelta(hours=1))
    return restored.count() >= RESTORED_AT_MOST


def contested(look: Look, *, at: datetime) -> Synced:
    """Record that a group is left alone for ten minutes or until the next handover; the same is not reported twice."""
    until = min(filter(None, [at + timedelta(minutes=10), look.belonging.until]))
    if look.rule.says != CONTESTED:
        _add(look, NOBODY, CONTESTED, at=at, code=State.WAITING)
    return waiting([look], CONTESTED, until=until, at=at)[0]


def _is_news(look: Look) -> bool:
    """Return whether there is anything to record beyond the look itself; a claim must be given back."""
    rule = look.rule
    if rule.claimed_until is not None or rule.begun != _kept(look) or _is_adopted(look):
        return True
    stood = (rule.state, rule.says, frozenset(rule.members), rule.look_at)
    return stood != (look.verdict.state, look.verdict.says, look.here, look.belonging.until)


def _is_adopted(look: Look) -> bool:
    """Return whether a rule agrees with its group and has not recorded which group that is."""
    return look.verdict.state == State.TRUE and look.group is not None and look.rule.chat_id != look.group.chat_id


@transaction.atomic  # if the rule is deleted meanwhile, what is added goes with it
def _note_news(look: Look, *, at: datetime) -> None:
    says, ours = look.verdict.says, _unrecorded(look)
    more = {} if ours is None else {"begun": _kept(look)}
    if not _stand(look, look.verdict.state, says, at=at, members=sorted(look.here), **more):
        return
    if ours is not None:
        _add(look, *ours, at=at)
    if says and says != look.rule.says:
        _add(look, NOBODY, says, at=at, code=look.verdict.state)
    elif not says and ours is None and (found := _found(look)):
        is_first = look.rule.checked_at is None
        _add(look, NOBODY if is_first else groups.difference(look.rule.members, look.here), found, at=at)


def _unrecorded(look: Look) -> tuple[Difference, str] | None:
    """Return the change that we began, and why, if the group has become like that and no one recorded it."""
    begun = late_changes.unanswered(look.rule)
    if begun is not None and frozenset(begun["members"]) == look.here:
        return Difference(tuple(begun["joined"]), tuple(begun["left"])), begun["says"]
    if late_changes.found(look.rule, look.here) is not None:
        return groups.difference(look.rule.members, look.here), late_changes.LATE
    return None


def _kept(look: Look) -> late_changes.Change | None:
    return late_changes.kept(look.rule, look.here, read_at=look.read_at)


def _found(look: Look) -> str:
    """Say what was found in a group that is as it should be, but was not at the last look."""
    if look.rule.state == State.NEW:
        return "First check: everyone was already in it."
    if frozenset(look.rule.members) == look.here:
        return ""
    return "Found this way: someone changed it in Slack, or Slack's answer to our change was lost."


def _because(look: Look, *, at: datetime) -> str:
    """Say why a group was written."""
    rule = look.rule
    if rule.checked_at is None or rule.state == State.NEW:
        return "First check."
    ours = _unrecorded(look)
    is_other = frozenset(rule.members) != look.here and ours is None
    reasons = {
        late_changes.SET_AGAIN: ours is not None and ours[1] == late_changes.LATE,
        FORGOTTEN: is_other and Restored.objects.filter(at__gt=rule.checked_at).exists(),
        RESTORED: is_other,
        "The rule was changed.": _is_edited(rule),
        "Handover.": _is_handover(rule, at=at),
    }
    return next((words for words, holds in reasons.items() if holds), "The schedule or its people changed.")


def _is_edited(rule: GroupRule) -> bool:
    return rule.edited_at is not None and rule.checked_at is not None and rule.edited_at > rule.checked_at


def _is_handover(rule: GroupRule, *, at: datetime) -> bool:
    return rule.look_at is not None and rule.look_at <= at


def _stand(look: Look, state: str, says: str, *, at: datetime, members: Sequence[str], **more: Any) -> bool:
    """Write the state of a rule and give its claim back, unless another process took it over meanwhile."""
    values: dict[str, Any] = {"try_again_at": None} | more
    if state == State.TRUE:
        values["begun"] = _kept(look)
        if look.group is not None:
            values["chat_id"] = look.group.chat_id
    changed = _unclaimed(look).update(
        state=state,
        says=says,
        members=members,
        checked_at=at,
        look_at=look.belonging.until,
        claimed_until=None,
        **values,
    )
    return bool(changed)


def _unclaimed(look: Look) -> QuerySet[GroupRule]:
    """Return the rule, unless another process has claimed it since the look."""
    return GroupRule.objects.filter(pk=look.rule.pk, claimed_until=look.rule.claimed_until)


def _add(look: Look, change: Difference, says: str, *, at: datetime, code: str = "") -> None:
    GroupChange.objects.create(
        rule=look.rule, at=at, joined=change.joins, left=change.leaves, says=says, error_code=code
    )
