"""The state of user group rules from the pager cache: four queries for any number of rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from incidents.models import Person
from workflows.models import GroupRule, PagerRead, PagerTarget, PagerUser, Shift
from workflows.usergroups import groups
from workflows.usergroups.groups import Belonging, Candidate, Subject

NOT_READ = "The schedules have not been read from PagerDuty yet, so it is not known who is on call."
RAN_OUT = (
    "PagerDuty has not been read for so long that it is not known who is on call. The group keeps its current members."
)


@dataclass(frozen=True, slots=True)
class GroupQuery:
    """What a rule asks for, saved or not."""

    sources: tuple[Subject, ...]
    permanent: tuple[Person, ...] = ()
    since: datetime | None = None  # when it began to ask for that

    @classmethod
    def of(cls, rule: GroupRule) -> GroupQuery:
        """Return what a saved rule asks for; its permanent people are read unless prefetched."""
        return cls(subjects(rule.sources), tuple(rule.permanent.all()), rule.edited_at or rule.created_at)


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """Who belongs in a rule's group; ``unsure`` says why that is not known well enough to act on."""

    belonging: Belonging
    unsure: str = ""


def subjects(sources: Iterable[Mapping[str, Any]]) -> tuple[Subject, ...]:
    """Return a rule's sources as the shifts name them."""
    return tuple((str(one["subject"]), int(one.get("level", 0))) for one in sources)


def stand(asked: Sequence[GroupQuery], *, at: datetime) -> list[GroupStatus]:
    """Return for each rule who belongs in its group at a moment, and what is unknown about that."""
    ids = {subject for one in asked for subject, _ in one.sources}
    known = _read(ids)
    return [_standing(one, known, at=at) for one in asked]


def members(handles: Collection[str], *, at: datetime) -> dict[str, list[str]]:
    """Return the chat ids of those who belong in each of these groups, if a rule says so and they are known."""
    if not handles:
        return {}
    rules = list(GroupRule.objects.filter(handle__in=handles, active=True).prefetch_related("permanent"))
    known = zip(rules, stand([GroupQuery.of(rule) for rule in rules], at=at), strict=True)
    return {
        rule.handle: sorted(one.belonging.members) for rule, one in known if one.belonging.members and not one.unsure
    }


@dataclass(frozen=True, slots=True)
class _Known:
    read: PagerRead | None
    shifts: Sequence[Shift]
    people: Mapping[str, Candidate]
    targets: Mapping[str, PagerTarget]


def _read(ids: Collection[str]) -> _Known:
    if not ids:
        return _Known(None, (), {}, {})
    shifts = list(Shift.objects.filter(subject__in=ids))
    users = PagerUser.objects.filter(pager_id__in={one.user for one in shifts}).select_related("person")
    people = {one.pager_id: _of_pager(one) for one in users}
    targets = {one.pager_id: one for one in PagerTarget.objects.filter(pager_id__in=ids)}
    return _Known(PagerRead.objects.first(), shifts, people, targets)


def _standing(asked: GroupQuery, known: _Known, *, at: datetime) -> GroupStatus:
    belonging = groups.belonging(
        known.shifts,
        sources=asked.sources,
        people=known.people,
        permanent=[candidate(person) for person in asked.permanent],
        at=at,
        known_until=known.read.shifts_until if known.read else None,
    )
    return GroupStatus(belonging, _unsure(asked, known, at=at))


def _unsure(asked: GroupQuery, known: _Known, *, at: datetime) -> str:
    if not asked.sources:
        return ""
    if known.read is None or known.read.shifts_at is None:
        return NOT_READ
    if known.read.shifts_until is not None and known.read.shifts_until <= at:
        return RAN_OUT
    for source in asked.sources:
        if words := _unsure_of(source, asked, known, read_at=known.read.shifts_at):
            return words
    return ""


def _unsure_of(source: Subject, asked: GroupQuery, known: _Known, *, read_at: datetime) -> str:
    target = known.targets.get(source[0])
    if target is None or target.gone:
        name = f"“{target.name}”" if target else "One of its sources"
        return f"{name} no longer exists in PagerDuty. Change the rule; until then the group keeps its current members."
    is_new = asked.since is not None and asked.since > read_at
    if is_new and not any(one.subject == source[0] for one in known.shifts):
        return f"Reading “{target.name}” from PagerDuty first. This takes about a minute."
    return ""


def candidate(person: Person) -> Candidate:
    """Return someone as a candidate for a group, with what keeps them out of it, if anything."""
    return Candidate(person.name, person.chat_id or "", _why_not(person))


def _why_not(person: Person) -> str:
    reasons = {
        "has left": person.deactivated,
        "is an app": person.is_bot,
        "is a guest": person.is_guest,
        "is from another workspace": person.is_external,
        "has no known Slack account": not person.chat_id,
    }
    return next((words for words, holds in reasons.items() if holds), "")


def _of_pager(user: PagerUser) -> Candidate:
    if user.person is not None:
        return candidate(user.person)
    parted = user.matched == PagerUser.Matched.PARTED
    return Candidate(user.name, why_not="was unlinked by hand" if parted else "is not matched to anyone in Slack")


def named(subject: Subject, targets: Mapping[str, PagerTarget]) -> str:
    """Name a source: a schedule, or a level of an escalation policy."""
    target, (pager_id, level) = targets.get(subject[0]), subject
    name = target.name if target else pager_id
    return f"{name}, level {level}" if level else name
