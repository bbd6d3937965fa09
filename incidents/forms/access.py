"""Verbs about who gets into a private incident, and what it says to everyone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms

from incidents import lifecycle
from incidents.forms.given import number
from incidents.forms.verb import VerbForm
from incidents.forms.words import lines
from incidents.lifecycle import opening
from incidents.models import AccessRequest, Incident

READ = {"rows": 3, "readonly": True}  # shown to be read, not to be written


class Shown(forms.CharField):
    """Words that are shown as they are now, whatever was sent along."""

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Return what is so now."""
        return initial


class ShownNumber(forms.IntegerField):
    """A number that is shown as it is now: what was sent is what the person had read."""

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Return what is so now."""
        return initial


class AnswerForm(VerbForm):
    """An answer to somebody who asked to be let in; ``n`` is the entry in which they did."""

    asks = Shown(label="Who asks, and why", required=False, widget=forms.Textarea(READ))
    n = forms.IntegerField(widget=forms.HiddenInput)

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return incident.private

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        n = number(asked.get("n") or self.given.get("n"))
        found = AccessRequest.objects.filter(incident=self.incident, n=n or 0).select_related("person").first()
        return {"n": n, "asks": f"{found.person.name}: {found.because}" if found else "Nobody asked that."}


class LetInForm(AnswerForm):
    heading, button, icon = "Let them in", "Let them in", "person"
    said = "They are let in, and invited to the channel."

    def run(self, *, at: datetime) -> object:
        return lifecycle.let_in(self.incident, n=self.cleaned_data["n"], by=self.person, at=at)


class TurnAwayForm(AnswerForm):
    heading, button, icon = "Not now", "Not now", "cross"
    said = "Answered. They are not told."

    def run(self, *, at: datetime) -> object:
        return lifecycle.turn_away(self.incident, n=self.cleaned_data["n"], by=self.person, at=at)


class OpenUpForm(VerbForm):
    heading, button, icon = "Open up", "Ask for it to be confirmed", "doc"
    said = "Written. Somebody else confirms it before anybody reads it."
    explains = (
        "Write what everybody may read. Once somebody else has confirmed it, these words are published on a page and "
        "in a new public channel, under another codename; one line in the announce channel leads there. This page, its "
        "history, its evidence and its channel stay closed."
    )
    summary = lines(
        "The summary", rows=10, hint="At most 3,000 characters. Nothing else is published, no title either."
    )

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return incident.private

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        known = opening.proposed(self.incident) or opening.published(self.incident)
        return {"summary": known.text if known else ""}

    def run(self, *, at: datetime) -> object:
        return lifecycle.open_up(self.incident, summary=self.cleaned_data["summary"], by=self.person, at=at)


class PublishForm(VerbForm):
    heading, button, icon, tone = "Publish this summary", "Publish it", "doc", "grave"
    said = "Published. Its channel is being opened."
    explains = "Everyone in the workspace will read these words, and nothing else. They cannot be unread."
    text = Shown(label="The summary", required=False, widget=forms.Textarea(READ | {"rows": 12}))
    summary = ShownNumber(widget=forms.HiddenInput)

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return incident.private

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        known = opening.proposed(self.incident)
        return {"summary": known.pk, "text": known.text} if known else {"text": "There is nothing to confirm."}

    def run(self, *, at: datetime) -> object:
        return lifecycle.publish(self.incident, summary=self.cleaned_data["summary"], by=self.person, at=at)
