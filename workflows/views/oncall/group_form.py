"""The form of a rule for a user group: which group, which schedules, and who is always in it."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.http import QueryDict

from incidents.forms.given import numbers
from incidents.forms.people import joinable
from incidents.models import Person
from incidents.views.panels import digest_of
from workflows.models import Group, GroupRule, PagerTarget
from workflows.usergroups import group_membership
from workflows.usergroups.changes import GroupSources
from workflows.usergroups.groups import Subject

Kind = PagerTarget.Kind
SHOWN = 24  # of each list, plus what is chosen
Option = tuple[str, str, bool]  # its value, its name, whether it is chosen


class GroupForm(forms.Form):
    """Who belongs in a group; ``rule`` is the one being changed, whose group stays."""

    handle = forms.ChoiceField(label="Group", error_messages={"required": "Pick a group."})

    def __init__(self, data: QueryDict | None = None, *, rule: GroupRule | None = None) -> None:
        super().__init__(data, label_suffix="")
        self.given = data if data is not None else QueryDict()
        self.rule = rule
        self.was = GroupSources.now(rule) if rule is not None else None
        if rule is not None:
            del self.fields["handle"]
            return
        field = self.fields["handle"]
        assert isinstance(field, forms.ChoiceField), "declared as one"
        field.choices = [("", "Pick a group"), *_groups()]
        self.any = len(field.choices) > 1

    def group(self) -> str:
        """Return the handle of the group that it is about."""
        return self.rule.handle if self.rule is not None else str(self.cleaned_data.get("handle", ""))

    def chosen(self) -> list[Subject]:
        """Return the sources chosen so far, or the rule's before anything was sent; invalid values are left out."""
        if not self.is_bound:
            return list(group_membership.subjects(self.rule.sources)) if self.rule else []
        return [found for value in self.given.getlist("sources") if (found := _subject(value)) is not None]

    def permanent(self) -> list[Person]:
        """Return the permanent people chosen so far, or the rule's before anything was sent."""
        if not self.is_bound:
            return list(self.rule.permanent.order_by("name")) if self.rule else []
        picked = joinable().exclude(chat_id=None).filter(pk__in=numbers(self.given.getlist("people")))
        return list(picked.order_by("name"))

    def source_options(self) -> list[Option]:
        """Return sources to choose from: the chosen ones first, then search results."""
        chosen, q = self.chosen(), self._sought("s")
        every = _sources(kept=chosen)
        first = [(_value(one), every[one], True) for one in chosen if one in every]
        rest = [(_value(one), name, False) for one, name in every.items() if one not in chosen and q in name.casefold()]
        return [*first, *rest[:SHOWN]]

    def person_options(self) -> list[Option]:
        """Return people to choose from: the chosen ones first, then search results."""
        chosen, q = self.permanent(), self._sought("q")
        others = joinable().exclude(chat_id=None).exclude(pk__in=[one.pk for one in chosen]).order_by("name", "pk")
        found = others.filter(name__icontains=q)[:SHOWN] if q else []
        return [(str(one.pk), one.name, True) for one in chosen] + [(str(one.pk), one.name, False) for one in found]

    def clean(self) -> dict[str, object]:
        known = _sources(kept=self.chosen())
        if any(one not in known for one in self.chosen()):
            self.add_error(None, "One of these is no longer in PagerDuty. Choose again.")
        if not self.chosen() and not self.permanent():
            self.add_error(None, "Choose a schedule, a level or at least one person: a group can't be empty.")
        if self.was is not None and self.given.get("seen", self.seen) != self.seen and not self.was.is_as(self.asked()):
            self.add_error(
                None,
                f"Someone else changed this while you were choosing: @{self.group()} now {self.was.words()}. "
                "Review it, then save again.",
            )
        return self.cleaned_data

    def asked(self) -> GroupSources:
        """Return who should belong in the group."""
        return GroupSources.of(self.chosen(), self.permanent())

    @property
    def seen(self) -> str:
        """Return what the group follows now, for a form field; a form sent with an older value is stopped."""
        return digest_of((sorted(self.was.subjects()), sorted(self.was.permanent))) if self.was is not None else ""

    def digest(self) -> str:
        """Return a digest of the input, to check that what was previewed is what gets saved."""
        said = (self.group(), sorted(self.chosen()), sorted(one.pk for one in self.permanent()))
        return digest_of(said)

    def _sought(self, name: str) -> str:
        return " ".join(self.given.get(name, "").split())[:80].casefold()


def _groups() -> list[tuple[str, str]]:
    ruled = GroupRule.objects.values("handle")
    return [
        (one.handle, f"@{one.handle} · {one.name}")
        for one in Group.objects.exclude(handle__in=ruled).order_by("handle")
    ]


def _sources(*, kept: Sequence[Subject]) -> dict[Subject, str]:
    """Return what a group can follow, by name: each schedule and policy level, and ``kept`` ones even if gone."""
    targets = {one.pager_id: one for one in PagerTarget.objects.filter(kind__in=[Kind.SCHEDULE, Kind.POLICY])}
    found = [subject for one in targets.values() if not one.gone for subject in _subjects(one)]
    gone = [one for one in kept if one[0] in targets and one not in found]
    named = {one: group_membership.named(one, targets) for one in found}
    return named | {one: f"{group_membership.named(one, targets)} (deleted in PagerDuty)" for one in gone}


def _subjects(target: PagerTarget) -> list[Subject]:
    levels = [0] if target.kind == Kind.SCHEDULE else range(1, target.levels + 1)
    return [(target.pager_id, level) for level in levels]


def _value(subject: Subject) -> str:
    return f"{subject[0]}/{subject[1]}"


def _subject(value: str) -> Subject | None:
    pager_id, slash, level = value.rpartition("/")
    found = numbers([level])
    return (pager_id, found[0]) if slash and pager_id and found else None
