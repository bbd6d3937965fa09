"""What people say about who belongs in a user group: add a rule, change it, pause it, delete it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from incidents import noted
from incidents.models import Person
from workflows.models import GroupRule
from workflows.oncall.groups import Subject


@transaction.atomic
def add(
    handle: str, *, sources: Sequence[Subject], permanent: Collection[Person], by: Person, at: datetime
) -> GroupRule | None:
    """Let a group follow who is on call; None when it does already. The next look is within seconds."""
    rule, is_new = GroupRule.objects.get_or_create(
        handle=handle,
        defaults={"sources": _kept(sources), "created_at": at, "edited_at": at, "created_by": by},
    )
    if not is_new:
        return None
    rule.permanent.set(permanent)
    _note(rule, by=by, did="let it follow", **_said(sources, permanent))
    return rule


@transaction.atomic
def edit(
    rule: GroupRule, *, sources: Sequence[Subject], permanent: Collection[Person], by: Person, at: datetime
) -> None:
    """Change who belongs in a group; what was refused is tried again at the next look."""
    GroupRule.objects.filter(pk=rule.pk).update(sources=_kept(sources), edited_at=at, try_again_at=None)
    rule.permanent.set(permanent)
    _note(rule, by=by, did="changed", **_said(sources, permanent))


@transaction.atomic
def pause(rule: GroupRule, *, by: Person) -> None:
    """Leave a group as it is until somebody resumes its rule."""
    GroupRule.objects.filter(pk=rule.pk).update(active=False)
    _note(rule, by=by, did="paused")


@transaction.atomic
def resume(rule: GroupRule, *, by: Person, at: datetime) -> None:
    """Let a group follow again; the next look is within seconds."""
    GroupRule.objects.filter(pk=rule.pk).update(active=True, edited_at=at, try_again_at=None)
    _note(rule, by=by, did="resumed")


@transaction.atomic
def remove(rule: GroupRule, *, by: Person) -> None:
    """Delete a rule with its history; the group keeps who is in it."""
    _note(rule, by=by, did="deleted")
    rule.delete()


def _note(rule: GroupRule, *, by: Person, did: str, **said: Any) -> None:
    noted.note("group", by=by, about=f"@{rule.handle}", did=did, **said)


def _said(sources: Sequence[Subject], permanent: Collection[Person]) -> dict[str, Any]:
    return {"sources": _kept(sources), "permanent": [one.pk for one in permanent]}


def _kept(sources: Sequence[Subject]) -> list[dict[str, str | int]]:
    return [{"subject": subject, "level": level} for subject, level in dict.fromkeys(sources)]
