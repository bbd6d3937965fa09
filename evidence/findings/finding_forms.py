"""What people may submit about findings, validated once for pages and for the chat. The rules are in ``findings``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django import forms
from django.http import QueryDict

from evidence.findings import findings
from evidence.models import Evidence, Finding
from evidence.models.finding import Verdict
from incidents import lifecycle
from incidents.forms.given import numbers
from incidents.models import Incident, Person


class ClaimForm(forms.Form):
    """A hypothesis in one sentence."""

    claim = forms.CharField(
        label="Hypothesis",
        max_length=findings.CLAIM_CHARS,
        error_messages={"required": "State your hypothesis in one sentence."},
        widget=forms.TextInput(attrs={"placeholder": "The protocol is expensive", "data-key": "c"}),
    )

    def done(self, incident: Incident, *, by: Person, at: datetime) -> Finding | None:
        """Add the hypothesis if the form is valid; the domain's refusals become its errors."""
        if not self.is_valid():
            return None
        try:
            return findings.claim(incident, text=self.cleaned_data["claim"], by=by, at=at)
        except lifecycle.Refused as error:
            self.add_error("claim", str(error))
            return None


class JudgeForm(forms.Form):
    """A verdict, why, and the numbers of the evidence for and against."""

    verdict = forms.ChoiceField(
        label="Verdict",
        choices=Verdict.choices,
        widget=forms.RadioSelect,
        error_messages={"required": "Pick a verdict."},
    )
    text = forms.CharField(
        label="Why? What did you measure, and what does it show?",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "data-send": ""}),
    )
    seen = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None, *, finding: Finding, evidence: Sequence[Evidence]) -> None:
        self.given = data or QueryDict()
        self.finding = finding
        self.choices = [
            (one, one.n in self._numbers("supports"), one.n in self._numbers("against")) for one in evidence
        ]
        super().__init__(data, initial={"seen": finding.rounds.count()}, label_suffix="")

    def done(self, *, by: Person, at: datetime) -> bool:
        """Add the verdict if the form is valid; the domain's refusals become its errors."""
        if not self.is_valid():
            return False
        try:
            findings.judge(
                self.finding,
                verdict=self.cleaned_data["verdict"],
                text=self.cleaned_data["text"],
                supports=self._numbers("supports"),
                against=self._numbers("against"),
                by=by,
                at=at,
                seen=self.cleaned_data["seen"],
            )
        except findings.Overtaken as error:
            self._look_again()
            self.add_error(None, str(error))
        except lifecycle.Refused as error:
            self.add_error(None, str(error))
        return not self.errors

    def _numbers(self, name: str) -> list[int]:
        return numbers(self.given.getlist(name))

    def _look_again(self) -> None:
        """Record what is shown now as seen, so that submitting the form again succeeds."""
        self.given = self.given.copy()
        self.given["seen"] = str(self.finding.rounds.count())
        self.data = self.given
