"""The form that declares an incident. A title is enough."""

from __future__ import annotations

from datetime import UTC, datetime

from django import forms
from django.http import QueryDict

from incidents import lifecycle
from incidents.forms.given import number
from incidents.forms.people import joinable, narrow
from incidents.lifecycle import rules
from incidents.models import Incident, IncidentType, Person
from incidents.policies import current_types

LATEST = 32503680000  # the year 3000, in seconds: no form is opened later than that
ARCHIVED = "This type was archived, so nothing was declared. Check the selected type, then declare."


class DeclareForm(forms.Form):
    """The fields of a declaration."""

    title = forms.CharField(
        label="What is wrong?",
        max_length=rules.TEXT_CHARS,  # a long title is cut at a word, and the rest is kept
        error_messages={"required": "Describe what is wrong in a few words."},
        widget=forms.TextInput(attrs={"placeholder": "Checkout is slow", "autofocus": True}),
    )
    type = forms.ModelChoiceField(
        queryset=IncidentType.objects.filter(archived_at=None).select_related("current"),
        to_field_name="slug",
        required=False,
        error_messages={"invalid_choice": ARCHIVED},
    )
    summary = forms.CharField(
        label="Summary", required=False, widget=forms.Textarea(attrs={"rows": 3, "data-send": ""})
    )
    lead = forms.ModelChoiceField(queryset=joinable(), required=False)
    services = forms.CharField(label="Affected services", required=False, help_text="Separate with commas.")
    drill = forms.BooleanField(label="This is a drill", required=False)

    def __init__(self, data: QueryDict | None = None, *, person: Person, types: list[IncidentType]) -> None:
        super().__init__(data, label_suffix="")
        self.person = person
        self.types = types
        narrow(self.fields["lead"], by=person)

    @property
    def since(self) -> datetime | None:
        """When the page with this form was opened; None if it was not sent from a page."""
        seconds = number(self.data.get("since")) if self.is_bound else None
        return datetime.fromtimestamp(min(seconds, LATEST), UTC) if seconds is not None else None

    @property
    def versions(self) -> str:
        """The version of each type that the page shows, for a hidden field of the form."""
        return " ".join(f"{one.slug}:{one.current.number}" for one in self.types if one.current is not None)

    @property
    def seen(self) -> int | None:
        """The version of the chosen type that the page showed; None if it was not sent from a page."""
        shown = dict(one.split(":", 1) for one in self.data.get("versions", "").split() if ":" in one)
        return number(shown.get(self.data.get("type", ""))) if self.is_bound else None

    @property
    def chosen(self) -> IncidentType | None:
        """The type that is selected now, or the default one.

        If a private type was selected and then archived, this is another private type, if there is one.
        """
        asked = self.data.get("type", "") if self.is_bound else ""
        found = next((one for one in self.types if one.slug == asked), None)
        if found is None and asked and any(one.slug == asked for one in current_types.private()):
            found = next((one for one in self.types if one.policy.private), None)
        return found or next((one for one in self.types if one.is_default), None)

    @property
    def picked_lead(self) -> Person | None:
        """The lead sent with the form, if they may lead."""
        return joinable(by=self.person).filter(pk=number(self.data.get("lead")) or 0).first() if self.is_bound else None

    def declared(self, *, at: datetime) -> Incident | None:
        """Declare the incident if the form is valid; turn refusals into form errors."""
        if not self.is_valid():
            return None
        given = self.cleaned_data
        services = given["services"].split(",")
        try:
            return lifecycle.declare(
                given["title"],
                by=self.person,
                at=at,
                type=given["type"],
                summary=given["summary"],
                lead=given["lead"],
                services=services,
                is_drill=given["drill"],
                since=self.since,
                seen=self.seen,
            )
        except lifecycle.BadInput as error:
            self.add_error(error.field if error.field in self.fields else None, str(error))
        except lifecycle.Refused as error:
            self.add_error(None, str(error))
        return None
