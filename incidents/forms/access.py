"""Verbs about who gets into a private incident, and what is published of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms

from incidents import lifecycle, numbered
from incidents.forms.verb import VerbForm
from incidents.forms.words import lines
from incidents.lifecycle import access as asking
from incidents.lifecycle import opening
from incidents.models import AccessRequest, Incident

READ = {"rows": 3, "readonly": True}  # shown to be read, not edited


class ReadOnlyWords(forms.CharField):
    """Read-only text: always the current value, ignoring what was submitted."""

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Return the current value."""
        return initial


class ShownNumber(forms.CharField):
    """A number shown at its current value; the submitted one is the value that the person had read."""

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Return the current value."""
        return initial


class PrivateForm(VerbForm):
    """A verb that only private incidents have."""

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return incident.private

    def not_offered(self) -> str:
        return f"{self.incident.codename} is public: everyone can see it."


class AnswerForm(PrivateForm):
    """An answer to someone who requested access; ``n`` identifies the entry of the request."""

    asks = ReadOnlyWords(label="Access request", required=False, widget=forms.Textarea(READ))
    n = forms.CharField(widget=forms.HiddenInput)

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        found = self._asked(asked.get("n") or self.given.get("n"))
        asks = f"{found.person.name}: {found.because}" if found else ""
        return {"n": found.borne, "asks": asks} if found else {}

    @property
    def refusal(self) -> str:
        """Why there is nothing to answer: no one asked, or someone already answered."""
        found = self._asked(self["n"].value())
        if found is None:
            return "Access request not found."
        return super().refusal if found.let_in is None else asking.answered_already(found)

    def _asked(self, n: object) -> AccessRequest | None:
        asked = AccessRequest.objects.filter(incident=self.incident).select_related("person", "answered_by")
        return numbered.found(asked, n, at="asked_at")

    def clean_n(self) -> int:
        """Return the number of the request; 0 if another request has that number by now."""
        found = self._asked(self.cleaned_data["n"])
        return found.n if found else 0


class LetInForm(AnswerForm):
    heading, button, icon = "Let in", "Let in", "person"
    said = "Let in and invited to the channel."

    def run(self, *, at: datetime) -> object:
        return lifecycle.let_in(self.incident, n=self.cleaned_data["n"], by=self.person, at=at)


class TurnAwayForm(AnswerForm):
    heading, button, icon = "Not now", "Not now", "cross"
    said = "Answered. They are not notified."

    def run(self, *, at: datetime) -> object:
        return lifecycle.turn_away(self.incident, n=self.cleaned_data["n"], by=self.person, at=at)


class OpenUpForm(PrivateForm):
    heading, button, icon = "Write a public summary", "Request confirmation", "doc"
    said = "Saved. Someone else has to confirm it before anyone can read it."
    summary = lines(
        "The summary", rows=10, hint="Up to 3,000 characters. Nothing else is published, not even the title."
    )

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        known = opening.proposed(self.incident) or opening.published(self.incident)
        return {"summary": known.text if known else ""}

    @property
    def explains(self) -> str:  # type: ignore[override]  # where it is published depends on what is connected
        """Say what happens to it."""
        return (
            "Write what everyone may read. Once someone else confirms it, it is published "
            f"{opening.where(self.incident)}. This page, its history, evidence and channel stay private."
        )

    def run(self, *, at: datetime) -> object:
        return lifecycle.open_up(self.incident, summary=self.cleaned_data["summary"], by=self.person, at=at)


class PublishForm(PrivateForm):
    heading, button, icon, tone = "Publish this summary", "Publish", "doc", "grave"
    said = "Published."
    text = ReadOnlyWords(label="The summary", required=False, widget=forms.Textarea(READ | {"rows": 12}))
    summary = ShownNumber(widget=forms.HiddenInput)

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        known = opening.proposed(self.incident)
        return {"summary": numbered.written(known.pk, known.written_at), "text": known.text} if known else {}

    @property
    def explains(self) -> str:  # type: ignore[override]  # where it is published depends on what is connected
        """Say who will be able to read it, and where."""
        return (
            "Everyone in the workspace will be able to read this text and nothing else. It is published "
            f"{opening.where(self.incident)}. You cannot undo this."
        )

    @property
    def refusal(self) -> str:
        """Why there is nothing to confirm, or why this person may not confirm it."""
        known = opening.proposed(self.incident)
        if known is None:
            return "Nothing to confirm."
        try:
            opening.must_be_for(self.person, known)
        except lifecycle.Refused as refused:
            return str(refused)
        return super().refusal

    def run(self, *, at: datetime) -> object:
        summary = opening.as_shown(self.incident, self.cleaned_data["summary"])
        return lifecycle.publish(self.incident, summary=summary, by=self.person, at=at)
