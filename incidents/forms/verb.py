"""One verb as a form: its name, its fields, and what it does when submitted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Final

from django import forms
from django.http import QueryDict

from incidents import lifecycle
from incidents.models import Incident, Person

TYPED: Final = (forms.TextInput, forms.Textarea)


class VerbForm(forms.Form):
    """A verb on one incident, requested by one person.

    ``since`` is the last event that the page showed. ``said`` is what the page says when it is done.
    """

    heading: ClassVar[str]
    button: ClassVar[str]
    said: str = "Done."
    explains: ClassVar[str] = ""
    icon: ClassVar[str] = "dot"
    do_not_call_in_templates: ClassVar[bool] = True  # pages show the classes themselves, without data
    tone: ClassVar[str] = ""  # "grave" if it cannot be undone, or ends something

    since = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)

    def __init__(
        self, data: QueryDict | None = None, *, incident: Incident, person: Person, asked: Mapping[str, Any]
    ) -> None:
        self.given = data or QueryDict()
        self.incident = incident
        self.person = person
        super().__init__(data, initial={"since": incident.last_n, **self.first(asked)}, label_suffix="")

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        """Return whether the page offers this verb now."""
        return incident.is_active

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the form's initial values."""
        return {}

    def run(self, *, at: datetime) -> object:
        """Carry out the verb. Raises ``lifecycle.Refused``."""
        raise NotImplementedError

    def done(self, *, at: datetime) -> bool:
        """Carry out the verb if the form is valid; turn refusals into form errors. Return whether it was done."""
        if not self.is_valid():
            return False
        try:
            self.run(at=at)
        except lifecycle.BadInput as error:
            self.add_error(error.field if error.field in self.fields else None, str(error))
        except lifecycle.Stale as error:
            self._look_again()
            self.add_error(None, str(error))
        except lifecycle.Refused as error:
            self.add_error(None, str(error))
        return not self.errors

    @property
    def refusal(self) -> str:
        """Why the form cannot be sent now; empty if it can."""
        if not self.offered(self.incident):
            return self.not_offered()
        return "" if self.is_about_something else "Nothing is selected. Open this from the incident page."

    def not_offered(self) -> str:
        """Say why the verb is not offered now, and what to do first."""
        status = f"{self.incident.codename} is {self.incident.status}"
        return f"{status} already." if self.incident.is_active else f"{status}; reopen it first."

    @property
    def is_about_something(self) -> bool:
        """Whether the form names what it is about, if it has to."""
        told = [self[name].value() for name, field in self.fields.items() if field.required and field.widget.is_hidden]
        return all(value not in (None, "") for value in told)

    def to_read(self) -> list[forms.BoundField]:
        """Make the submitted text fields read-only; return the read-only fields that have a value."""
        for one in self.visible_fields() if self.is_bound else ():
            if isinstance(one.field.widget, TYPED):
                one.field.widget.attrs = {"readonly": True}
        return [one for one in self.visible_fields() if one.field.widget.attrs.get("readonly") and one.value()]

    @property
    def in_the_way(self) -> list[str]:
        """Errors other than those of the visible fields."""
        hidden = [str(error) for field in self.hidden_fields() for error in field.errors]
        return [*map(str, self.non_field_errors()), *hidden]

    @property
    def seen(self) -> int | None:
        """The last event number that the person had seen."""
        since: int | None = self.cleaned_data.get("since")
        return since

    def _look_again(self) -> None:
        """Treat the current state as seen, so that sending the form again goes through."""
        self.incident.refresh_from_db(fields=["last_n"])
        self.given = self.given.copy()
        self.given["since"] = str(self.incident.last_n)
        self.data = self.given
