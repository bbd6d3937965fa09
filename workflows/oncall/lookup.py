"""Read the pager cache: targets by name, and who is on call. Makes no requests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from incidents.models import Person
from workflows.models import PagerRead, PagerTarget, PagerUser, Shift

Kind = PagerTarget.Kind
Subject = tuple[str, int]  # the pager's id, and the level: 0 for a schedule, from 1 for an escalation policy's


@dataclass(frozen=True, slots=True)
class OnCall:
    """Someone who is on call, until when if that is known to end.

    ``person`` is who that is here: None while the two are not matched, and for those who may not be brought in.
    """

    user: PagerUser
    person: Person | None
    until: datetime | None


def never_read() -> bool:
    """Return whether nobody ever read the pager, so that nothing can be looked up yet."""
    return not PagerRead.objects.filter(directory_at__isnull=False).exists()


def listed() -> list[PagerTarget]:
    """Return every target that the pager still lists, by name."""
    return list(PagerTarget.objects.filter(gone=False).order_by("name", "pager_id"))


def named(
    names: Collection[str], *, kinds: Collection[str], among: Sequence[PagerTarget]
) -> dict[str, PagerTarget | None]:
    """Return the target of each name or id, None where there is none: an id wins over a name, whose case is ignored.

    Of several that share a name it is the escalation policy, then the service: the first of ``kinds``.
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


def on_call(subjects: Collection[Subject], *, at: datetime) -> dict[Subject, tuple[OnCall, ...]]:
    """Return who is on call for each subject at a moment, in the order of their names: two queries."""
    rows = _turns(subjects, at=at)
    ids = {row.user for row in rows}
    users = {user.pager_id: user for user in PagerUser.objects.filter(pager_id__in=ids).select_related("person")}
    found: dict[Subject, dict[str, OnCall]] = defaultdict(dict)
    for row in rows:
        if row.user in users:
            _note(found[row.subject, row.level], _on_call(users[row.user], row))
    return {subject: tuple(sorted(found[subject].values(), key=_by_name)) for subject in subjects}


def _turns(subjects: Collection[Subject], *, at: datetime) -> list[Shift]:
    if not subjects:
        return []
    now = Q(start_at=None) | Q(start_at__lte=at), Q(end_at=None) | Q(end_at__gt=at)
    rows = Shift.objects.filter(*now, subject__in={subject for subject, _ in subjects})
    return [row for row in rows if (row.subject, row.level) in subjects]


def _on_call(user: PagerUser, row: Shift) -> OnCall:
    person = user.person if user.person is not None and user.person.can_join else None
    return OnCall(user, person, row.end_at)


def _note(found: dict[str, OnCall], one: OnCall) -> None:
    """Keep the longer one of two turns of the same person."""
    known = found.get(one.user.pager_id)
    if known is None or (known.until is not None and (one.until is None or one.until > known.until)):
        found[one.user.pager_id] = one


def _by_name(one: OnCall) -> tuple[str, str]:
    return one.user.name, one.user.pager_id
