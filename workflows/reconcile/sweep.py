"""Find what the hints missed: unplanned facts, due effects, expired leases, overdue updates."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Final

from django.db.models import F, OuterRef, QuerySet, Subquery

from incidents import lifecycle
from incidents.claiming import apart
from incidents.claiming.glance import Glance, Look
from incidents.claiming.shared_clock import clock
from incidents.drills import replays
from incidents.lifecycle import access
from incidents.models import Event, Incident, Notice
from workflows.effects import effect_queue
from workflows.loading import load_facts
from workflows.models import Planned, Unplanned
from workflows.planning.desired import desired_state
from workflows.planning.plan import plan
from workflows.reconcile import offers

AT_MOST = 500
PLANNED_AT_ONCE = 120  # the fewer, the sooner a new one gets its turn
TOGETHER = 12  # this few are planned within two rounds of a worker's threads, in any order
AUDIT_BATCH = 1_000


def fall_due(*, at: datetime) -> int:
    """Record every overdue status update; return how many there were."""
    overdue = _overdue(clock.at(at)).order_by("update_due_at")[:AT_MOST]
    return apart.each(overdue, partial(lifecycle.update_fell_due, at=at), what="overdue updates")


def _overdue(now: datetime) -> QuerySet[Incident]:
    """Return incidents that are owed an update by the clock that all processes share."""
    return Incident.objects.filter(update_due_at__lte=now)


def unplanned(*, at: datetime) -> list[int]:
    """Return some incidents whose facts are newer than their plan, or that asked to be planned again.

    Active incidents in which someone did something last come first, because people wait for the result. If more are
    waiting than are returned, half of those returned are the oldest, so that none waits forever.
    """
    moved = Unplanned.objects.values_list("incident", flat=True)
    again = _to_plan_again(clock.at(at)).values_list("incident", flat=True)
    oldest = list(moved.union(again).order_by("incident")[:PLANNED_AT_ONCE])
    if len(oldest) < PLANNED_AT_ONCE:
        return _awaited(oldest) if len(oldest) > TOGETHER else oldest
    latest = _awaited({*oldest, *moved.order_by("-pk")[:AT_MOST]})
    return list(dict.fromkeys([*latest[: PLANNED_AT_ONCE // 2], *oldest]))[:PLANNED_AT_ONCE]


def _awaited(ids: Collection[int]) -> list[int]:
    """Order incidents by who waits for them: active ones first, among these the ones people acted in last."""
    acts = Event.objects.filter(incident=OuterRef("pk"), by__isnull=False).order_by("-at", "-n")
    found = Incident.objects.filter(pk__in=ids).annotate(acted_at=Subquery(acts.values("at")[:1]))
    return list(found.order_by("-active", F("acted_at").desc(nulls_last=True), "-pk").values_list("pk", flat=True))


def not_planned_yet() -> list[int]:
    """Return every incident whose facts are newer than its plan, however many there are."""
    return list(Unplanned.objects.order_by("incident").values_list("incident", flat=True))


def _to_plan_again(now: datetime) -> QuerySet[Planned]:
    """Return the plans to be made again by the clock that all processes share."""
    return Planned.objects.filter(look_again_at__lte=now)


def due(*, at: datetime, kinds: Sequence[str]) -> list[int]:
    """Return incidents with an effect of these kinds to perform now: waiting and due, or running past its lease.

    Each port has its own share, so that an unresponsive or disconnected vendor hides nothing that others are owed. If
    more are waiting for one than are returned, half of those returned are the newest and the rest are drawn at random,
    so that none waits forever.
    """
    shares = (_share(waiting) for waiting in effect_queue.ready_incidents(at=at, kinds=kinds).values())
    return list(dict.fromkeys(chain.from_iterable(shares)))


def _share(waiting: Sequence[int]) -> Sequence[int]:
    if len(waiting) <= AT_MOST:
        return waiting
    half = AT_MOST // 2
    older = random.sample(waiting[:-half], AT_MOST - half)
    return [*reversed(waiting[-half:]), *older]


def unsettled() -> list[int]:
    """Plan every active incident without writing anything; return those whose plan or gaps differ from what is stored.

    This audits the hints and the sweep: it trusts no mark, only the difference itself. The number of queries does not
    grow with the number of incidents, up to 1,000 at a time.
    """
    return [pk for batch in _active() for pk in _differing(batch)]


def _active() -> Iterator[list[Incident]]:
    ids = list(Incident.objects.filter(active=True).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), AUDIT_BATCH):
        batch = Incident.objects.filter(pk__in=ids[start : start + AUDIT_BATCH])
        yield list(batch.select_related("type", "policy_version", "lead"))


def _differing(batch: list[Incident]) -> Iterator[int]:
    for pk, known in load_facts.many(batch).items():
        found = plan(desired_state(known.facts), known.observed)
        gaps = {f"gap/{gap.key}" for gap in found.gaps} != known.gaps.keys()
        if not found.is_empty or gaps or offers.differing(known):
            yield pk


# What a sweep looks for besides effects, each by the query of the code that acts on it.
LOOKS: Final[Mapping[str, Look]] = {
    "moved": lambda _: Unplanned.objects.all(),
    "plan again": lambda now: _to_plan_again(now.shared),
    "overdue": lambda now: _overdue(now.shared),
    "replays": lambda now: replays.due(now.shared),
    "access requests": lambda _: access.undelivered(),
    "notices": lambda _: Notice.objects.all(),
}
waiting: Final = Glance(LOOKS)
