"""Notify the people of private incidents about changes that may bring others in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from django.db import transaction

from incidents import lifecycle
from incidents.models import Incident, Notice

AT_ONCE = 100

CONCERNS: Final[Mapping[str, Callable[[Incident, str], bool]]] = {
    "": lambda incident, _: True,
    "type": lambda incident, slug: incident.type.slug == slug,
    "group": lambda incident, handle: handle in incident.policy.groups,
    "incident": lambda incident, pk: str(incident.pk) == pk,
}


def carry(*, at: datetime) -> int:
    """Tell each open private incident that a notice concerns, once; return how many notices there were."""
    waiting = list(Notice.objects.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
    return sum(_carried(pk, at=at) for pk in waiting)


@transaction.atomic
def _carried(pk: int, *, at: datetime) -> bool:
    notice = Notice.objects.filter(pk=pk).select_for_update(skip_locked=True).first()
    if notice is None:
        return False
    for incident in _concerned(notice):
        lifecycle.warn(incident, notice.says, about=f"notice/{pk}", at=at)
    return bool(Notice.objects.filter(pk=pk).delete()[0])


def _concerned(notice: Notice) -> list[Incident]:
    """Return the open private incidents that a notice is for, in one order, so that two never wait for each other."""
    what, _, which = notice.to.partition("/")
    there = Incident.objects.filter(private=True, active=True, declared_at__lte=notice.at)
    every = there.select_related("type", "policy_version").order_by("pk")
    return [one for one in every if CONCERNS[what](one, which)]
