"""Verbs of tasks and follow-ups."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from django import forms
from django.db.models import Q
from django.http import QueryDict

from incidents import lifecycle, numbered
from incidents.followups import followup_lists
from incidents.forms.people import PickForm, choosable, joinable, suggested
from incidents.forms.verb import VerbForm
from incidents.models import Followup, Incident, Person

GONE: Final = "This task or follow-up no longer exists."


def day(label: str) -> forms.DateField:
    """Make a field for a due date."""
    return forms.DateField(
        label=label, required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )


class OwnerForm(PickForm):
    """A verb that asks for an owner; some people are offered before anything is typed."""

    def others(self, q: str, picked: list[Person]) -> list[Person]:
        return super().others(q, picked) or suggested(q, by=self.person, without=picked)


class FollowupForm(OwnerForm):
    heading, button, icon = "Add a follow-up", "Add follow-up", "plus"
    said = "Follow-up added."
    explains = "To be done afterwards. Posted in the channel."
    phase = Followup.Phase.AFTERWARDS
    text = forms.CharField(label="What?", widget=forms.Textarea(attrs={"rows": 2, "data-send": ""}))
    due_on = day("Due (optional)")
    people = forms.ModelChoiceField(queryset=joinable(), required=False)

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return True

    def run(self, *, at: datetime) -> object:
        given = self.cleaned_data
        what = {"text": given["text"], "due_on": given["due_on"], "owner": given["people"]}
        return lifecycle.add_followup(self.incident, phase=self.phase, by=self.person, at=at, since=self.seen, **what)


class TaskForm(FollowupForm):
    heading, button = "Add a task", "Add task"
    said = "Task added."
    explains = "To be done while people respond. Posted in the channel."
    phase = Followup.Phase.DURING

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return incident.is_active


class OneForm(VerbForm):
    """A verb on one task or follow-up, which the page names by number; ``wants`` lists the states it may be in."""

    wants: frozenset[str] = frozenset({Followup.State.OPEN})
    n = forms.CharField(widget=forms.HiddenInput)

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return True

    @cached_property
    def one(self) -> Followup | None:
        """The task or follow-up in question."""
        return self._found(self["n"].value())

    def _found(self, n: object) -> Followup | None:
        rows = Followup.objects.filter(incident=self.incident).select_related("owner", "incident")
        return numbered.found(rows.defer("incident__words"), n, at="made_at")

    def clean_n(self) -> int:
        """Return its number. Raises ``ValidationError`` if it no longer exists."""
        if self.one is None:
            raise forms.ValidationError(GONE)
        return self.one.n

    @property
    def refusal(self) -> str:
        """Why the form cannot be sent: it is already done or dropped, or was reopened."""
        refusal = super().refusal
        if refusal or self.one is None:
            return refusal or GONE
        return "" if self.one.state in self.wants else f"This {self.one.word} is {self.one.state}."

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        one = self._found(asked.get("n"))
        return {"n": asked.get("n")} if one is None else {"n": one.borne}


class FinishForm(OneForm):
    heading, button, icon = "Mark as done", "Mark as done", "check"
    said = "Done."

    def run(self, *, at: datetime) -> object:
        return lifecycle.finish_followup(self.incident, n=self.cleaned_data["n"], by=self.person, at=at)


class DropForm(OneForm):
    heading, button, icon, tone = "Drop", "Drop it", "cross", "grave"
    said = "Dropped."
    explains = "It won't be done. It stays on the timeline and can be reopened."
    because = forms.CharField(label="Why? (optional)", required=False)

    def run(self, *, at: datetime) -> object:
        given = self.cleaned_data
        return lifecycle.drop_followup(self.incident, n=given["n"], because=given["because"], by=self.person, at=at)


class ReopenTaskForm(OneForm):
    heading, button, icon = "Reopen", "Reopen it", "undo"
    said = "Reopened."
    wants = frozenset({Followup.State.DONE, Followup.State.DROPPED})

    def run(self, *, at: datetime) -> object:
        return lifecycle.reopen_followup(self.incident, n=self.cleaned_data["n"], by=self.person, at=at)


class ReassignForm(OneForm, OwnerForm):
    heading, button, icon = "Owner and due date", "Save", "person"
    said = "Saved."
    was = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)  # what the form showed
    due_on = day("Due (optional)")
    people = forms.ModelChoiceField(queryset=joinable(), required=False)

    def __init__(
        self, data: QueryDict | None = None, *, incident: Incident, person: Person, asked: Mapping[str, Any]
    ) -> None:
        super().__init__(data, incident=incident, person=person, asked=asked)
        field = self.fields["people"]
        # The current owner, and the owner the form showed, may keep it even if they could not be chosen.
        shown = self._shown(data)
        had = {pk for pk in followup_lists.owners(self.one) if str(pk) in shown} if self.one else set()
        may = Q(pk__in=choosable(field).values("pk")) | Q(pk__in=had)
        field.queryset = Person.objects.filter(may)  # type: ignore[attr-defined]  # the field of a PickForm

    def _shown(self, data: QueryDict | None) -> set[str]:
        """Return the keys of the current owner and of the owner that the form showed, as strings."""
        was = data.get("was", "") if data else ""
        return {str(self.one.owner_id) if self.one else "", was.partition(" ")[0]}

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        now = self._found(asked.get("n"))
        if now is None:
            return {}
        was = f"{now.owner_id or ''} {now.due_on or ''}"
        return {**super().first(asked), "people": now.owner_id, "due_on": now.due_on, "was": was}

    def run(self, *, at: datetime) -> object:
        n = self.cleaned_data["n"]
        return lifecycle.change_followup(self.incident, n=n, changes=self._changes(), by=self.person, at=at)

    def _changes(self) -> dict[str, Any]:
        """Return what differs from what the form showed; others' changes in the meantime are kept."""
        owner, due_on = self.cleaned_data["people"], self.cleaned_data["due_on"]
        both = {"owner": owner, "due_on": due_on}
        if "was" not in self.given:  # a form of an older version
            return both
        was_owner, _, was_due = self.cleaned_data["was"].partition(" ")
        now = {"owner": str(owner.pk if owner else ""), "due_on": str(due_on or "")}
        was = {"owner": was_owner, "due_on": was_due}
        return {name: value for name, value in both.items() if now[name] != was[name]}
