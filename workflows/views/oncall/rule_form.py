"""The form of a declare rule, and the form that tries all rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.http import QueryDict

from evidence.profile import searching
from incidents.models import IncidentType
from workflows.alerts import declare_rules
from workflows.models import DeclareRule, PagerTarget

MOST_MIN = 1_440
ANY_SERVICE = ("", "Any service")
MINUTES = f"The grouping window must be 1 to {MOST_MIN:,} minutes."


if TYPE_CHECKING:
    Typed = forms.ModelChoiceField[IncidentType]
else:
    Typed = forms.ModelChoiceField


class TypeField(Typed):
    """A type by its name."""

    def label_from_instance(self, obj: IncidentType) -> str:
        return obj.policy.name


class RuleForm(forms.Form):
    """What a rule takes, and what it does with that."""

    name = forms.CharField(
        label="Name",
        max_length=80,
        help_text="Shown on the timeline of incidents it declares.",
        error_messages={"required": "Give the rule a name."},
        widget=forms.TextInput(attrs={"placeholder": "Checkout is down"}),
    )
    service_id = forms.ChoiceField(label="Service", required=False)
    priority = forms.CharField(
        label="Priority",
        required=False,
        max_length=40,
        help_text="As named in PagerDuty, such as P1. Leave empty for any.",
    )
    pattern = forms.CharField(
        label="In the title",
        required=False,
        max_length=200,
        help_text="Text or a regular expression such as time ?out|5\\d\\d, in any case. Leave empty for any.",
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
    type = TypeField(
        label="Declares",
        queryset=IncidentType.objects.usable(),
        to_field_name="slug",
        empty_label=None,
        error_messages={"required": "Pick the type to declare.", "invalid_choice": "That type no longer exists."},
    )
    window_min = forms.IntegerField(
        label="Grouping window, in minutes",
        min_value=1,
        max_value=MOST_MIN,
        initial=30,
        help_text="More alerts from the same service join the incident. After this long without one, the next declares "
        "a new incident.",
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), MINUTES),
    )
    seen = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)  # what the rule said when opened

    def __init__(self, data: QueryDict | None = None, *, rule: DeclareRule | None = None) -> None:
        super().__init__(data, initial=_shown(rule) if rule else None, label_suffix="")
        self.given = data or QueryDict()
        kept = rule.service_id if rule else ""
        _field(self, "service_id").choices = [ANY_SERVICE, *services(kept=kept)]

    def clean_pattern(self) -> str:
        pattern: str = self.cleaned_data["pattern"]
        if pattern:
            try:
                searching.regular(pattern, any_case=True)
            except searching.BadPattern as bad:
                help = "To match a character such as ( or * literally, put a \\ before it."
                raise forms.ValidationError(f"{bad} {help}") from bad
        return pattern

    def asked(self) -> dict[str, Any]:
        """Return the rule's fields, once they are valid."""
        return {name: self.cleaned_data[name] for name in self.fields if name != "seen"}

    def overtaken(self, now: DeclareRule) -> None:
        """Show what the rule is now and record that as seen, so that sending the form once more succeeds."""
        shown = _shown(now)
        named = {
            "service_id": dict(services(kept=now.service_id)).get(now.service_id, ""),
            "type": now.type.policy.name,
        }
        mine = self.asked() | {"type": self.cleaned_data["type"].slug}
        differs = [
            f"{self[name].label}: {named.get(name, shown[name]) or 'any'}" for name in mine if mine[name] != shown[name]
        ]
        says = f"Someone else changed this rule while you were writing. It now has {'; '.join(differs)}."
        self.add_error(None, f"{says} Review it, then save again.")
        given = self.given.copy()
        given["seen"] = shown["seen"]
        self.data = given


class TryForm(forms.Form):
    """A made-up pager incident to test rules on."""

    service_id = forms.ChoiceField(label="Service", required=False)
    priority = forms.CharField(label="Priority", required=False, max_length=40)
    title = forms.CharField(label="Title", required=False, max_length=500)

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data, label_suffix="", auto_id="try_%s")
        _field(self, "service_id").choices = [("", "Another service"), *services()]


def services(*, kept: str = "") -> list[tuple[str, str]]:
    """Return the pager's services by id and name, including ``kept`` even if it is gone."""
    known = PagerTarget.objects.filter(kind=PagerTarget.Kind.SERVICE)
    found = [(one.pager_id, one.name) for one in known.filter(gone=False)]
    if kept and kept not in dict(found):
        gone = known.filter(pager_id=kept).first()
        found.append((kept, f"{gone.name if gone else kept} (deleted in PagerDuty)"))
    return found


def _field(form: forms.Form, name: str) -> forms.ChoiceField:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField), "declared as one"
    return field


def _shown(rule: DeclareRule) -> dict[str, Any]:
    plain = ("name", "service_id", "priority", "pattern", "window_min")
    said = {"type": rule.type.slug, "seen": declare_rules.said(rule)}
    return {name: getattr(rule, name) for name in plain} | said
