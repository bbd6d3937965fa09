"""Which of the pager's schedules and policies are in use, so that a large account is not read in full."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Final

from incidents.models import PolicyVersion
from incidents.policies.policy import Policy
from workflows.models import GroupRule, Page, PagerTarget
from workflows.oncall import lookup

ALL_AT_MOST: Final = 200

Kind = PagerTarget.Kind


def subjects() -> tuple[list[str], list[str]]:
    """Return the ids of the policies and schedules whose shifts are read: all of them while they are few.

    In a larger account, only those that a type, an active incident, a group rule or an open page names.
    """
    rows = PagerTarget.objects.filter(kind__in=[Kind.POLICY, Kind.SCHEDULE], gone=False).order_by("pager_id")
    kinds = dict(rows.values_list("pager_id", "kind"))
    if len(kinds) > ALL_AT_MOST:
        wanted = set(_named())
        kinds = {pager_id: kind for pager_id, kind in kinds.items() if pager_id in wanted}
    policies = [pager_id for pager_id, kind in kinds.items() if kind == Kind.POLICY]
    return policies, [pager_id for pager_id, kind in kinds.items() if kind == Kind.SCHEDULE]


def is_narrowed(subjects: Collection[str]) -> bool:
    """Return whether these are only some of all policies and schedules."""
    return PagerTarget.objects.filter(kind__in=[Kind.POLICY, Kind.SCHEDULE], gone=False).count() > len(subjects)


def is_anything_unknown() -> bool:
    """Return whether a policy names something that the pager did not list when it was last read."""
    found = _targets(_policies())
    return any(target is None for target in found.values())


def _named() -> Iterator[str]:
    for target in filter(None, _targets(_policies()).values()):
        yield from (target.pager_id, target.policy_id)
    for sources in GroupRule.objects.filter(active=True).values_list("sources", flat=True):
        yield from (source["subject"] for source in sources)
    paged = Page.objects.exclude(status=Page.Status.RESOLVED).values_list("target", flat=True)
    ids = {target.partition("/")[2] for target in paged}
    yield from chain(ids, PagerTarget.objects.filter(pager_id__in=ids).values_list("policy_id", flat=True))


def _policies() -> list[Policy]:
    """Return the policies that a new incident could get, and those of active ones."""
    usable = PolicyVersion.objects.filter(current_of__archived_at=None, current_of__isnull=False)
    active = PolicyVersion.objects.filter(incidents__active=True)
    return [version.policy for version in usable.union(active)]


def _targets(policies: Iterable[Policy]) -> dict[str, PagerTarget | None]:
    policies = list(policies)
    pages = {name for policy in policies for name in policy.pages}
    schedules = {name for policy in policies for name in policy.schedules}
    listed = lookup.listed()
    rung = lookup.named(pages, kinds=[Kind.POLICY, Kind.SERVICE], among=listed)
    return rung | lookup.named(schedules, kinds=[Kind.SCHEDULE], among=listed)
