"""Changes to groups and pager matches that a second manager may have to confirm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from incidents.lifecycle.rules import Refused
from incidents.models import Person
from incidents.second_manager import circles
from incidents.second_manager.proposals import Payload, StoredChange, known
from workflows.models import GroupRule, PagerUser
from workflows.oncall import people
from workflows.usergroups import group_membership, group_rules
from workflows.usergroups.groups import Subject

Sources = Sequence[Sequence[str | int]]  # subjects, as JSON keeps them


@dataclass(frozen=True, slots=True)
class GroupSources:
    """Who belongs in a group: those on call for ``sources``, and the people with these ids."""

    sources: Sources
    permanent: Sequence[int]

    @classmethod
    def of(cls, sources: Sequence[Subject], permanent: Sequence[Person]) -> GroupSources:
        """Return what a form or a rule says."""
        return cls([[*one] for one in dict.fromkeys(sources)], sorted({one.pk for one in permanent}))

    @classmethod
    def now(cls, rule: GroupRule) -> GroupSources:
        """Return what a rule says now."""
        return cls.of(group_membership.subjects(rule.sources), list(rule.permanent.all()))

    @classmethod
    def read(cls, kept: GroupSources | Payload) -> GroupSources:
        """Return what was kept."""
        return kept if isinstance(kept, GroupSources) else cls(**kept)

    def is_as(self, other: GroupSources) -> bool:
        """Return whether another says the same, in any order."""
        return set(self.subjects()) == set(other.subjects()) and {*self.permanent} == {*other.permanent}

    def subjects(self) -> list[Subject]:
        """Return the sources as shifts name them."""
        return [(str(subject), int(level)) for subject, level in self.sources]

    def people(self) -> list[Person]:
        """Return those who are always in it, as far as they still can be."""
        return [one for one in Person.objects.filter(pk__in=self.permanent).order_by("name") if one.can_join]

    def words(self) -> str:
        """Say it."""
        return group_rules.words(self.subjects(), self.people())


@dataclass(frozen=True, slots=True)
class _OfGroup(StoredChange):
    """A change of who belongs in the group ``handle``."""

    act: ClassVar[str] = "groups"
    handle: str

    def about(self) -> str:
        """Say what changes."""
        return f"the group @{self.handle}"

    def opens(self) -> bool:
        """Return whether a private incident may bring the group in."""
        return circles.bring_in(self.handle)


@known
@dataclass(frozen=True, slots=True)
class AddGroup(_OfGroup):
    """A group starts following on-call."""

    kind: ClassVar[str] = "group-add"
    asked: GroupSources

    @classmethod
    def read(cls, payload: Payload) -> AddGroup:
        """Return what was kept as ``payload``."""
        return cls(payload["handle"], GroupSources.read(payload["asked"]))

    def says(self) -> str:
        """Say who it would follow."""
        return self.asked.words()

    def carry_out(self, *, by: Person, second: Person | None, at: datetime) -> None:
        """Add the rule; refuse where the group already follows on-call. Raises ``Refused``."""
        given = {"sources": self.asked.subjects(), "permanent": self.asked.people()}
        if group_rules.add(self.handle, by=by, second=second, at=at, **given) is None:  # type: ignore[arg-type]  # by name
            now = GroupSources.now(GroupRule.objects.get(handle=self.handle)).words()
            raise Refused(f"@{self.handle} already has a rule: it {now}. Change that one instead.")


@dataclass(frozen=True, slots=True)
class _OfRule(_OfGroup):
    """A change to the rule ``pk``, which said ``was`` when the change was requested."""

    pk: int
    was: GroupSources

    def unchanged(self) -> GroupRule:
        """Return the rule, locked; raise ``Refused`` if it is gone or has changed."""
        rule = GroupRule.objects.select_for_update(no_key=True).filter(pk=self.pk).first()
        if rule is None:
            raise Refused(f"The rule for @{self.handle} has been deleted.")
        if not (now := GroupSources.now(rule)).is_as(self.was):
            raise Refused(
                f"The rule for @{self.handle} has changed: it now {now.words()}; when this was requested it "
                f"{self.was.words()}. Review it, then try again."
            )
        return rule


@known
@dataclass(frozen=True, slots=True)
class EditGroup(_OfRule):
    """A rule that gets other members."""

    kind: ClassVar[str] = "group-edit"
    asked: GroupSources

    @classmethod
    def of(cls, rule: GroupRule, asked: GroupSources, *, was: GroupSources | None = None) -> EditGroup:
        """Return what a form asks for; ``was`` is what it showed, if that was read before."""
        return cls(rule.handle, rule.pk, was or GroupSources.now(rule), asked)

    @classmethod
    def read(cls, payload: Payload) -> EditGroup:
        """Return what was kept as ``payload``."""
        was, asked = GroupSources.read(payload["was"]), GroupSources.read(payload["asked"])
        return cls(payload["handle"], payload["pk"], was, asked)

    def says(self) -> str:
        """Say who it would follow."""
        return self.asked.words()

    def carry_out(self, *, by: Person, second: Person | None, at: datetime) -> None:
        """Change the rule."""
        sources, permanent = self.asked.subjects(), self.asked.people()
        group_rules.edit(self.unchanged(), sources=sources, permanent=permanent, by=by, second=second, at=at)


@known
@dataclass(frozen=True, slots=True)
class ResumeGroup(_OfRule):
    """A group resumes following on-call."""

    kind: ClassVar[str] = "group-resume"

    @classmethod
    def of(cls, rule: GroupRule) -> ResumeGroup:
        """Return what the button asks for."""
        return cls(rule.handle, rule.pk, GroupSources.now(rule))

    @classmethod
    def read(cls, payload: Payload) -> ResumeGroup:
        """Return what was kept as ``payload``."""
        return cls(payload["handle"], payload["pk"], GroupSources.read(payload["was"]))

    def says(self) -> str:
        """Say who it would follow."""
        return f"resumed, it {self.was.words()}"

    def carry_out(self, *, by: Person, second: Person | None, at: datetime) -> None:
        """Resume the rule; refuse if it is already active. Raises ``Refused``."""
        rule = self.unchanged()
        if rule.active:
            raise Refused(f"@{self.handle} already follows on-call.")
        group_rules.resume(rule, by=by, second=second, at=at)


@known
@dataclass(frozen=True, slots=True)
class MatchPager(StoredChange):
    """A pager user matched to ``person``; the match was ``was`` when this was requested."""

    kind: ClassVar[str] = "match"
    act: ClassVar[str] = "match"
    user: int
    person: int
    was: int | None

    def found(self) -> PagerUser:
        """Return the pager user, with their current match here."""
        return PagerUser.objects.select_related("person").get(pk=self.user)

    def about(self) -> str:
        """Say what changes."""
        return f"the match for {self.found().name} in PagerDuty"

    def says(self) -> str:
        """Say who it would be."""
        return Person.objects.get(pk=self.person).name

    def opens(self) -> bool:
        """Return whether there is any private type: people paged for such an incident come in."""
        return circles.there_are()

    def carry_out(self, *, by: Person, second: Person | None, at: datetime) -> None:
        """Match them to that person; refuse if someone changed the match meanwhile. Raises ``Refused``."""
        user = self.found()
        if user.person_id != self.was:
            is_now = user.person.name if user.person is not None else "no one here"
            raise Refused(f"The match for {user.name} has changed: {is_now}. Review it, then try again.")
        if user.gone:
            raise Refused(f"{user.name} no longer exists in PagerDuty.")
        people.match(user, person=Person.objects.get(pk=self.person), by=by, second=second, at=at)
