"""Read the pager cache: targets by name, and who is on call. Makes no requests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from incidents.models import Person
from workflows.models import PagerRead, PagerTarget, PagerUser, Shift

Kind = PagerTarget.Kind
Subject = tuple[str, int]  # the pager's id, and the level: 0 for a schedule, from 1 for an escalation policy


@dataclass(frozen=True, slots=True)
class OnCall:
    """Someone who is on call, until when if an end is known.

    ``person`` is the matching person here; None if there is no match, or if that person may not be brought in.
    """

    user: PagerUser
    person: Person | None
    until: datetime | None


def never_read() -> bool:
    """Return whether the pager was never read, so that nothing can be looked up yet."""
    return not PagerRead.objects.filter(directory_at__isnull=False).exists()


def listed() -> list[PagerTarget]:
    """Return every target that the pager still lists, by name."""
    return list(PagerTarget.objects.filter(gone=False).order_by("name", "pager_id"))


def named(
    names: Collection[str], *, kinds: Collection[str], among: Sequence[PagerTarget]
) -> dict[str, PagerTarget | None]:
    """Return the target of each name or id, None if there is none: ids win over names, whose case is ignored.

    If several share a name, it is the one whose kind comes first in ``kinds``: the escalation policy, then the service.
    """
    wanted = {name.casefold() for name in names}
    found = [row for row in among if row.kind in kinds and (row.pager_id in names or row.name.casefold() in wanted)]
    order = list(kinds)
    found.sort(key=lambda row: (order.index(row.kind), row.pager_id))
    return {name: _first(found, name) for name in names}


def _first(rows: Iterable[PagerTarget], name: str) -> PagerTarget | None:
    rows = list(rows)
    by_id = next((row for row in rows if row.pager_id == name), None)
    return by_id or next((row for row in rows if row.name.casefold() == name.casefold()), None)


def on_call(ids: Collection[str], *, at: datetime) -> dict[str, tuple[OnCall, ...]]:
    """Return who is on call for schedules and who policies page first, by the pager's ids and in order: two queries.

    The pager skips levels on which no one is on call: https://support.pagerduty.com/main/docs/escalation-policies
    """
    first: dict[str, list[Shift]] = {}
    for _, rows in sorted(_by_level(ids, at=at).items(), reverse=True):
        first[rows[0].subject] = rows
    users = users_of({row.user for rows in first.values() for row in rows})
    return {subject: _people(rows, users) for subject, rows in first.items()}


def _by_level(ids: Collection[str], *, at: datetime) -> dict[Subject, list[Shift]]:
    found: dict[Subject, list[Shift]] = defaultdict(list)
    now = Q(start_at=None) | Q(start_at__lte=at), Q(end_at=None) | Q(end_at__gt=at)
    for row in Shift.objects.filter(*now, subject__in=ids) if ids else ():
        found[row.subject, row.level].append(row)
    return found


def users_of(ids: Collection[str]) -> dict[str, PagerUser]:
    """Return the pager's users by id, with unsaved rows for those not read yet: at most one query."""
    rows = PagerUser.objects.filter(pager_id__in=ids).select_related("person") if ids else ()
    known = {user.pager_id: user for user in rows}
    return {id: known.get(id) or PagerUser(pager_id=id, name=f"a new user ({id})") for id in ids}


def _people(rows: Iterable[Shift], users: Mapping[str, PagerUser]) -> tuple[OnCall, ...]:
    found: dict[str, OnCall] = {}
    for row in rows:
        _note(found, _on_call(users[row.user], row))
    return tuple(sorted(found.values(), key=_by_name))


def _on_call(user: PagerUser, row: Shift) -> OnCall:
    person = user.person if user.person is not None and user.person.can_join else None
    return OnCall(user, person, row.end_at)


def _note(found: dict[str, OnCall], one: OnCall) -> None:
    """Keep the longer of two turns of the same person."""
    known = found.get(one.user.pager_id)
    if known is None or (known.until is not None and (one.until is None or one.until > known.until)):
        found[one.user.pager_id] = one


def _by_name(one: OnCall) -> tuple[str, str]:
    return one.user.name, one.user.pager_id
