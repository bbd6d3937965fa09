"""Verbs about people, and the field that picks them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict

from incidents import lifecycle, timeline, visibility
from incidents.forms.given import numbers
from incidents.forms.verb import VerbForm
from incidents.models import Incident, Person
from incidents.reading import last_said

SHOWN = 12


def joinable(*, by: Person | None = None) -> QuerySet[Person]:
    """Return those who may be brought in: never guests, bots, external people or deactivated accounts.

    ``by`` is who picks: a guest picks only among the people they respond with.
    """
    known = visibility.people_known_to(by) if by is not None else Person.objects.all()
    return known.filter(is_guest=False, is_bot=False, is_external=False, deactivated=False)


def suggested(q: str, *, by: Person, without: Collection[Person] = ()) -> list[Person]:
    """Return some people that ``by`` may pick from, filtered by name if one is typed."""
    q = " ".join(q.split())[:80]
    found = joinable(by=by).filter(name__icontains=q) if q else joinable(by=by)
    return list(found.exclude(pk__in=[one.pk for one in without]).order_by("name", "pk")[:SHOWN])


def narrow(field: forms.Field, *, by: Person) -> None:
    """Limit a field that picks people to those that ``by`` may pick."""
    assert isinstance(field, forms.ModelChoiceField), "of one person or of several"
    field.queryset = joinable(by=by)


def choosable(field: forms.Field) -> QuerySet[Person]:
    """Return the people that a field accepts."""
    assert isinstance(field, forms.ModelChoiceField), "of one person or of several"
    found: QuerySet[Person] | None = field.queryset
    return Person.objects.none() if found is None else found


def responders(incident: Incident) -> list[Person]:
    """Return the current responders who may be given something to do."""
    return [one.person for one in visibility.readers(incident) if one.person.can_join]


class PickForm(VerbForm):
    """A verb that asks for people: ``several`` of them, or one, who is optional unless it ``must`` be given."""

    several = False
    must = False
    template_name = "incidents/_pick.html"

    def __init__(
        self, data: QueryDict | None = None, *, incident: Incident, person: Person, asked: Mapping[str, Any]
    ) -> None:
        super().__init__(data, incident=incident, person=person, asked=asked)
        narrow(self.fields["people"], by=person)

    def picked(self) -> list[Person]:
        """Return those chosen so far, even before the form is sent."""
        ids = numbers(self.given.getlist("people"))
        if not self.is_bound and self.initial.get("people"):
            ids = [self.initial["people"]]
        return list(choosable(self.fields["people"]).filter(pk__in=ids).order_by("name"))

    def options(self) -> list[tuple[Person, bool]]:
        """Return people to choose from, chosen ones first."""
        picked = self.picked()
        q = self.given.get("q", "")
        return [(one, True) for one in picked] + [(one, False) for one in self.others(q, picked)]

    def others(self, q: str, picked: list[Person]) -> list[Person]:
        """Return those not picked yet: matches for a typed name, otherwise current responders."""
        if q:
            return suggested(q, by=self.person, without=picked)
        return [one for one in responders(self.incident)[:SHOWN] if one not in picked]


class LeadForm(PickForm):
    heading, button, icon = "Lead", "Set the lead", "person"
    said = "Lead set."
    explains = "One person who makes the decisions, or hands over."
    people = forms.ModelChoiceField(queryset=joinable(), required=False)

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Preselect the lead or, if there is none, the person who opened the form: that is why they opened it."""
        return {"people": self.incident.lead_id or (self.person.pk if self.person.can_join else None)}

    def run(self, *, at: datetime) -> object:
        lead = self.cleaned_data["people"]
        return lifecycle.set_lead(self.incident, lead=lead, by=self.person, at=at, since=self.seen)


class NextStepForm(PickForm):
    heading, button, icon = "Next step", "Set the next step", "right"
    said = "Next step set."
    must = True
    explains = "What happens next, and who does it. Leave empty to clear it."
    text = forms.CharField(label="Next step", required=False, widget=forms.Textarea(attrs={"rows": 2, "data-send": ""}))
    people = forms.ModelChoiceField(queryset=joinable(), required=False)

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Prefill the current next step and its owner, so that assigning it to someone else keeps its text."""
        now = self._now()
        mine = self.person.pk if self.person.can_join else None
        return {"text": now.text, "people": now.event.data.get("owner", mine)} if now else {"people": mine}

    def _now(self) -> timeline.TimelineEntry | None:
        return last_said.of([self.incident]).get(self.incident.pk, {}).get("next_step")

    def clean_text(self) -> str:
        """Refuse an empty step if there is none to clear."""
        text = str(self.cleaned_data["text"])
        if not text.strip() and not self._now():
            raise forms.ValidationError("Write what is done next.")
        return text

    def run(self, *, at: datetime) -> object:
        given = self.cleaned_data
        text, owner = given["text"], given["people"]
        return lifecycle.state_next_step(self.incident, text=text, owner=owner, by=self.person, at=at, since=self.seen)


class RoleForm(PickForm):
    heading, button, icon = "Role", "Set the role", "person"
    said = "Role set."
    role = forms.CharField(max_length=80, widget=forms.HiddenInput)
    people = forms.ModelChoiceField(queryset=joinable(), required=False)

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return True

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        role = asked.get("role", "")
        return {"role": role, "people": self.incident.role_holder_id(role)}

    def run(self, *, at: datetime) -> object:
        given = self.cleaned_data
        role, holder = given["role"], given["people"]
        return lifecycle.set_role(self.incident, role=role, holder=holder, by=self.person, at=at, since=self.seen)


class FillForm(RoleForm):
    """Choose the person for a role that takes exactly one and that no one could be found for."""

    button, said = "Choose", "Chosen."
    must = True
    explains = "The type needs exactly one person. They are brought in."

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return incident.is_active

    def others(self, q: str, picked: list[Person]) -> list[Person]:
        return suggested(q, by=self.person, without=picked)

    def clean_people(self) -> Person:
        person = self.cleaned_data["people"]
        if not isinstance(person, Person):
            raise forms.ValidationError("Choose a person.")
        return person

    def run(self, *, at: datetime) -> object:
        given = self.cleaned_data
        return lifecycle.fill(self.incident, role=given["role"], person=given["people"], by=self.person, at=at)


class BringForm(PickForm):
    heading, button, icon = "Bring someone in", "Bring in", "people"
    said = "Brought in."
    several = True
    people = forms.ModelMultipleChoiceField(
        queryset=joinable(), error_messages={"required": "Choose at least one person."}
    )

    @property
    def explains(self) -> str:  # type: ignore[override]  # what it means depends on the incident
        """Say what someone who is brought in gets to see."""
        if self.incident.private:
            return "They will be able to read everything in this private incident, including its history."
        return "They are invited to the channel."

    def others(self, q: str, picked: list[Person]) -> list[Person]:
        return suggested(q, by=self.person, without=[*picked, *responders(self.incident)])

    def run(self, *, at: datetime) -> object:
        return lifecycle.bring_in(self.incident, people=self.cleaned_data["people"], by=self.person, at=at)
