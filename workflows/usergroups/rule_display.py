"""How rules of user groups are shown: everyone by name, and what changes now and at the next handover."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from incidents.models import Person
from workflows.models import Group, GroupChange, GroupRule, PagerTarget
from workflows.usergroups import absent_groups, group_membership, groups, sync
from workflows.usergroups.group_membership import GroupQuery
from workflows.usergroups.groups import Belonging, Candidate, Subject

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MembershipChange:
    """Who joins and who leaves a group, by name."""

    joins: Names = ()
    leaves: Names = ()

    def __bool__(self) -> bool:
        return bool(self.joins or self.leaves)


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a rule would do: who belongs in the group, what changes ``now`` and ``then``, at the next handover.

    ``says`` is why nothing is written, ``says_then`` why nothing will be.
    """

    members: Names
    left_out: tuple[Candidate, ...]
    now: MembershipChange
    until: datetime | None = None
    then: MembershipChange = MembershipChange()
    says: str = ""
    says_then: str = ""
    channels: Names = ()


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule as the list shows it: its sources by name, who is in the group as last read, and what would change."""

    rule: GroupRule
    sources: Names
    permanent: Names
    inside: Names
    run: DryRun


@dataclass(frozen=True, slots=True)
class Past:
    """An entry of a group's history, by name."""

    change: GroupChange
    joined: Names
    left: Names


def rows(rules: QuerySet[GroupRule], *, at: datetime) -> list[RuleRow]:
    """Return rules with everything shown about them: a dozen queries, however many there are."""
    looks = sync.look(rules, at=at)
    permanent = {one.rule.pk: list(one.rule.permanent.all()) for one in looks}
    targets = _targets(subject for one in looks for subject, _ in group_membership.subjects(one.rule.sources))
    names = _names(chat_id for one in looks for chat_id in _ids(one.here, one.belonging))
    return [
        RuleRow(
            one.rule,
            tuple(group_membership.named(subject, targets) for subject in group_membership.subjects(one.rule.sources)),
            tuple(sorted(person.name for person in permanent[one.rule.pk])),
            _named(one.here, names),
            _run(one.belonging, one.here, one.verdict, names, handle=one.rule.handle, group=one.group),
        )
        for one in looks
    ]


def dry_run(handle: str, *, sources: Sequence[Subject], permanent: Sequence[Person], at: datetime) -> DryRun:
    """Compute what an unsaved rule would do; nothing is written anywhere."""
    [known] = group_membership.stand([GroupQuery(tuple(sources), tuple(permanent), at)], at=at)
    group = Group.objects.filter(handle=handle).first()
    here = frozenset(group.members) if group is not None else frozenset()
    why = absent_groups.why({handle: group}).get(handle, "")
    decided = groups.verdict(known.belonging, handle=handle, here=here if group else None, unsure=known.unsure, why=why)
    names = _names(_ids(here, known.belonging))
    return _run(known.belonging, here, decided, names, handle=handle, group=group)


def past(rule: GroupRule, *, most: int) -> list[Past]:
    """Return a group's history, newest first."""
    changes = list(rule.changes.all()[:most])
    names = _names(chat_id for one in changes for chat_id in (*one.joined, *one.left))
    return [Past(one, _named(one.joined, names), _named(one.left, names)) for one in changes]


def _run(
    belonging: Belonging,
    here: Collection[str],
    decided: groups.GroupDecision,
    names: Mapping[str, str],
    *,
    handle: str,
    group: Group | None,
) -> DryRun:
    after, then = decided.write or frozenset(here), belonging.then
    coming = groups.verdict(then, handle=handle, here=after if group else None) if then and not decided.says else None
    return DryRun(
        _named(belonging.members, names),
        belonging.left_out,
        _change(here, after, names),
        belonging.until,
        _change(after, coming.write or after, names) if coming else MembershipChange(),
        decided.says,
        coming.says if coming else "",
        tuple(group.channels) if group else (),
    )


def _change(before: Collection[str], after: Collection[str], names: Mapping[str, str]) -> MembershipChange:
    found = groups.difference(before, after)
    return MembershipChange(_named(found.joins, names), _named(found.leaves, names))


def _ids(here: Collection[str], belonging: Belonging) -> set[str]:
    return {*here, *belonging.members, *(belonging.then.members if belonging.then else ())}


def _targets(ids: Iterable[str]) -> dict[str, PagerTarget]:
    return {one.pager_id: one for one in PagerTarget.objects.filter(pager_id__in=set(ids))}


def _names(ids: Iterable[str]) -> dict[str, str]:
    found = Person.objects.filter(chat_id__in=set(ids)).values_list("chat_id", "name")
    return {chat_id: name for chat_id, name in found if chat_id is not None}


def _named(ids: Iterable[str], names: Mapping[str, str]) -> Names:
    return tuple(sorted((names.get(one, one) for one in ids), key=str.casefold))
