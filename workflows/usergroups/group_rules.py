"""Rules for who belongs in a user group: add, change, pause, delete.

A group that a private incident may bring in is only filled with a ``second`` manager's consent
(``incidents.second_manager.seconding``). Pausing and deleting add no one to a group, so one manager does that alone;
those inside are still told.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from incidents.audited import audit_notes
from incidents.claiming.shared_clock import clock
from incidents.models import Person
from incidents.second_manager import circles, seconding
from workflows.models import GroupRule, PagerTarget
from workflows.usergroups import group_membership
from workflows.usergroups.groups import Subject


@transaction.atomic
def add(
    handle: str,
    *,
    sources: Sequence[Subject],
    permanent: Collection[Person],
    by: Person,
    at: datetime,
    second: Person | None = None,
) -> GroupRule | None:
    """Make a group follow on-call; None if it already does. The next look is within seconds."""
    seconding.hold()
    rule, is_new = GroupRule.objects.get_or_create(
        handle=handle,
        defaults={"sources": _kept(sources), "created_at": at, "edited_at": clock.at(at), "created_by": by},
    )
    if not is_new:
        return None
    rule.permanent.set(permanent)
    _note(rule, by=by, did="let it follow", **_said(sources, permanent))
    _agree(rule, words(sources, permanent), by=by, second=second, at=at)
    return rule


@transaction.atomic
def edit(
    rule: GroupRule,
    *,
    sources: Sequence[Subject],
    permanent: Collection[Person],
    by: Person,
    at: datetime,
    second: Person | None = None,
) -> None:
    """Change who belongs in a group; what was refused is retried at the next look."""
    seconding.hold()
    again = {"chat_id": "", "edited_at": clock.at(at), "try_again_at": None}
    GroupRule.objects.filter(pk=rule.pk).update(sources=_kept(sources), **again)
    rule.permanent.set(permanent)
    _note(rule, by=by, did="changed", **_said(sources, permanent))
    _agree(rule, words(sources, permanent), by=by, second=second, at=at)


@transaction.atomic
def pause(rule: GroupRule, *, by: Person, at: datetime) -> None:
    """Leave a group as it is until someone resumes its rule."""
    if GroupRule.objects.filter(pk=rule.pk, active=True).update(active=False):
        _note(rule, by=by, did="paused")
        _announce(rule, "paused, it keeps its current members", by=by, at=at)


@transaction.atomic
def resume(rule: GroupRule, *, by: Person, at: datetime, second: Person | None = None) -> None:
    """Resume a group's rule; the next look is within seconds."""
    seconding.hold()
    again = {"active": True, "chat_id": "", "edited_at": clock.at(at), "try_again_at": None}
    if GroupRule.objects.filter(pk=rule.pk, active=False).update(**again):
        _note(rule, by=by, did="resumed")
        says = words(group_membership.subjects(rule.sources), rule.permanent.all())
        _agree(rule, f"resumed, it {says}", by=by, second=second, at=at)


@transaction.atomic
def remove(rule: GroupRule, *, by: Person, at: datetime) -> None:
    """Delete a rule with its history; the group keeps its members."""
    seconding.hold()  # changing a rule, or recording a look at it, adds rows that are deleted with it
    if not GroupRule.objects.select_for_update(no_key=True).filter(pk=rule.pk):
        return
    _note(rule, by=by, did="deleted")
    _announce(rule, "no longer follows anyone and keeps its current members", by=by, at=at)
    rule.delete()


def words(sources: Collection[Subject], permanent: Collection[Person]) -> str:
    """Say who a group follows, and who is always in it."""
    targets = {one.pager_id: one for one in PagerTarget.objects.filter(pager_id__in=[one for one, _ in sources])}
    follows = " and ".join(group_membership.named(one, targets) for one in sources) or "no one on call"
    always = ", ".join(sorted(one.name for one in permanent))
    return f"follows {follows}; always {always}" if always else f"follows {follows}"


def _agree(rule: GroupRule, says: str, *, by: Person, second: Person | None, at: datetime) -> None:
    """Require a second manager's consent if needed, and have those inside told."""
    if circles.bring_in(rule.handle):
        _announce(rule, says, by=by, agreed=seconding.agree(by=by, second=second), at=at)


def _announce(rule: GroupRule, says: str, *, by: Person, at: datetime, agreed: str = "") -> None:
    to = f"group/{rule.handle}"
    circles.announce(to, by=by, about=f"the group @{rule.handle}", says=says, agreed=agreed, at=at)


def _note(rule: GroupRule, *, by: Person, did: str, **said: Any) -> None:
    audit_notes.note("group", by=by, about=f"@{rule.handle}", did=did, **said)


def _said(sources: Sequence[Subject], permanent: Collection[Person]) -> dict[str, Any]:
    return {"sources": _kept(sources), "permanent": [one.pk for one in permanent]}


def _kept(sources: Sequence[Subject]) -> list[dict[str, str | int]]:
    return [{"subject": subject, "level": level} for subject, level in dict.fromkeys(sources)]
