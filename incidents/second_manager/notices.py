"""Notify people in private incidents about changes that may bring others in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Final

from incidents import lifecycle
from incidents.claiming import leases
from incidents.models import Incident, Notice

AT_ONCE = 100

CONCERNS: Final[Mapping[str, Callable[[Incident, str], bool]]] = {
    "": lambda incident, _: True,
    "type": lambda incident, slug: incident.type.slug == slug,
    "group": lambda incident, handle: handle in incident.policy.groups,
    "incident": lambda incident, pk: str(incident.pk) == pk,
}


def carry(*, at: datetime) -> int:
    """Post each notice once in every open private incident it concerns; return how many notices there were."""
    return leases.hold_each(Notice.objects.order_by("pk"), partial(_carry, at=at), at_once=AT_ONCE)


def _carry(notice: Notice, *, at: datetime) -> None:
    if notice.to.partition("/")[0] not in CONCERNS:
        return  # written by a newer version, which delivers it
    for incident in _concerned(notice):
        lifecycle.warn(incident, notice.says, about=f"notice/{notice.pk}", at=at)
    notice.delete()


def _concerned(notice: Notice) -> list[Incident]:
    """Return the open private incidents that a notice is for, always in the same order to avoid deadlocks."""
    what, _, which = notice.to.partition("/")
    there = Incident.objects.filter(private=True, active=True, declared_at__lte=notice.at)
    every = there.select_related("type", "policy_version").order_by("pk")
    return [one for one in every if CONCERNS[what](one, which)]
