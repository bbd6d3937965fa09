"""Read past incidents as planning saw them, in a fixed number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from django.conf import settings
from django.db.models import QuerySet

from incidents.models import Event, Incident, IncidentType, Participant
from incidents.policies.policy import Policy
from insights.trying.life import LifeMoment, PastLife
from insights.trying.play import Policies
from workflows import ports
from workflows.loading import incident_rows
from workflows.loading.incident_rows import someone
from workflows.models import Page, PagerTarget
from workflows.oncall import callees
from workflows.planning.captures import Trigger
from workflows.planning.facts import Facts, Room, Stay
from workflows.usergroups import workspace_cache

MOST: Final = 2_000  # incidents that are planned again, the newest
Reason = Participant.Reason
BY_HAND: Final = {
    Reason.LEAD, Reason.ROLE, Reason.PICKED, Reason.JOINED, Reason.GLASS, Reason.RETYPED, Reason.LET_IN,
}  # fmt: skip


def current() -> dict[str, Policy]:
    """Return the current policy of every type, in their order."""
    rows = IncidentType.objects.select_related("current").order_by("position", "slug")
    return {one.slug: one.policy for one in rows}


def lives(incidents: QuerySet[Incident], *types: Policies, most: int = MOST) -> list[PastLife]:
    """Return the lives of incidents, newest first, with facts about everyone that any of the types names."""
    rows = incidents.select_related("declared_by", "type").order_by("-declared_at", "-pk")
    found = list(rows[:most])
    ids = [one.pk for one in found]
    retypes, answered, by_hand = _retypes(ids), _answered(ids), _by_hand(ids)
    house = _house([one for some in types for one in some.values()])
    return [
        PastLife(
            _facts(one, house), tuple(_moments(one, retypes[one.pk], answered[one.pk])), frozenset(by_hand[one.pk])
        )
        for one in found
    ]


def _retypes(ids: Iterable[int]) -> dict[int, list[Event]]:
    found: dict[int, list[Event]] = defaultdict(list)
    for event in Event.objects.filter(incident__in=ids, kind="retyped").order_by("n"):
        found[event.incident_id].append(event)
    return found


def _answered(ids: Iterable[int]) -> dict[int, list[tuple[str, datetime]]]:
    found: dict[int, list[tuple[str, datetime]]] = defaultdict(list)
    for page in Page.objects.filter(incident__in=ids).exclude(answered_at=None):
        if page.answered_at is not None:
            found[page.incident_id].append((page.target, page.answered_at))
    return found


def _by_hand(ids: Iterable[int]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for one in Participant.objects.filter(incident__in=ids, reason__in=BY_HAND):
        found[one.incident_id].add(one.person_id)
    return found


def _moments(incident: Incident, retypes: list[Event], answered: list[tuple[str, datetime]]) -> Iterator[LifeMoment]:
    yield LifeMoment(str(retypes[0].data["from"]) if retypes else incident.type.slug)
    for event in retypes:
        by_then = frozenset(target for target, at in answered if at <= event.at)
        yield LifeMoment(str(event.data["to"]), by_then)


def _house(types: list[Policy]) -> Facts:
    """Return the facts that all of them share: groups, who is on call, who can be paged, and sources of profiles.

    A pager that was read once counts as connected, because a terminal need not have its key.
    """
    pager = ports.pager() is not None or PagerTarget.objects.filter(gone=False).exists()
    known = callees.known(types, pager=pager)
    slack, first = settings.FIREKIND.slack, types[0]
    return Facts(
        revision=1,
        codename="",
        title="",
        policy=first,
        private=False,
        room=1,
        rooms=(Room(1, "", False, ""),),
        url=settings.FIREKIND.base_url,
        declared_at=datetime.fromtimestamp(0, tz=UTC),
        groups=workspace_cache.members({handle for one in types for handle in one.groups}),
        pager=pager,
        on_call=known.on_call,
        otherwise=known.otherwise,
        callees=known.callees,
        sources=incident_rows.sources(),
        announce_channel=slack.announce_channel if slack else "incidents",
    )


def _facts(incident: Incident, house: Facts) -> Facts:
    declarer = someone(incident.declared_by, "") if incident.declared_by else None
    return replace(
        house,
        codename=incident.codename,
        title=incident.title,
        declared_at=incident.declared_at,
        declarer=declarer,
        stays=(Stay(declarer, "declared"),) if declarer else (),
        services=tuple(incident.services),
        triggers=(Trigger(1, "declare", incident.declared_at),),
    )
