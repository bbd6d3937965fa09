"""Verbs that advance or end an incident."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from django import forms

from incidents import codename_typed, lifecycle, visibility
from incidents.followups import followup_lists
from incidents.forms.verb import VerbForm
from incidents.forms.words import lines
from incidents.lifecycle import ending
from incidents.models import Incident


class StepForm(VerbForm):
    """A step of the lifecycle: ``verb`` names it, and its own rule decides whether it may be taken now."""

    verb: ClassVar[str]

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return ending.may_step(incident, cls.verb)

    def not_offered(self) -> str:
        return ending.step_refused(self.incident, self.verb)


class MitigateForm(StepForm):
    verb = "mitigate"
    heading, button, icon = "Mitigate", "Mark as mitigated", "shield"
    said = "Marked mitigated."
    explains = "The impact has stopped, but the incident is not over."
    text = lines("What helped? (optional)", needed=False)

    def run(self, *, at: datetime) -> object:
        text = self.cleaned_data["text"]
        return lifecycle.mitigate(self.incident, text=text, by=self.person, at=at, since=self.seen)


class ResolveForm(StepForm):
    verb = "resolve"
    heading, button, icon = "Resolve", "Resolve", "check"
    said = "Resolved."
    text = lines("What ended it? (optional)", needed=False)

    @property
    def explains(self) -> str:  # type: ignore[override]  # what is still open depends on the incident
        """Say what resolving does, and what would be left undone, which does not stop anyone."""
        open_ = ", ".join(_still_open(self.incident))
        told = "This ends the incident: the channel is notified, open pages are resolved, and update reminders stop."
        told = _limited(told, self.incident)
        return f"{told} Still open: {open_}." if open_ else told

    def run(self, *, at: datetime) -> object:
        text = self.cleaned_data["text"]
        return lifecycle.resolve(self.incident, text=text, by=self.person, at=at, since=self.seen)


def _limited(told: str, incident: Incident) -> str:
    """Say what an end does, and what part of it cannot be done now."""
    return f"{told} {ending.beyond_reach(incident)}".rstrip()


def _still_open(incident: Incident) -> Iterator[str]:
    items = sum(item not in incident.checked for item in incident.policy.checklist)
    tasks = sum(one.is_open and one.phase == one.Phase.DURING for one in followup_lists.of_incident(incident))
    for count, word in ((items, "checklist item"), (tasks, "task")):
        if count:
            yield f"{count} {word}{'s' if count > 1 else ''}"


class ReopenForm(StepForm):
    verb = "reopen"
    heading, button, icon = "Reopen", "Reopen", "undo"
    said = "Reopened."
    text = lines("What came back? (optional)", needed=False)
    reach = forms.CharField(required=False, widget=forms.HiddenInput)

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"reach": lambda: self.reaches}  # computed when the form is shown

    @cached_property
    def reaches(self) -> str:
        """Who is paged and brought in again, as the form says it."""
        return ending.reach_again(self.incident, by=self.person)

    @property
    def explains(self) -> str:  # type: ignore[override]  # who it reaches depends on the incident
        """Say what reopening does, and who it pages and brings in again."""
        return f"The incident is not over after all. {self.reaches}".rstrip()

    def run(self, *, at: datetime) -> object:
        text = self.cleaned_data["text"]
        reach = self.cleaned_data["reach"] if "reach" in self.given else None
        return lifecycle.reopen(self.incident, text=text, by=self.person, at=at, since=self.seen, reach=reach)

    def _look_again(self) -> None:
        super()._look_again()
        self.given["reach"] = self.reaches


class CancelForm(StepForm):
    verb = "cancel"
    heading, button, icon, tone = "Cancel the incident", "Cancel incident", "cross", "grave"
    said = "Cancelled."
    text = lines("Why? (optional)", needed=False)

    @property
    def explains(self) -> str:  # type: ignore[override]  # what cannot be reached depends on the incident
        """Say what cancelling does."""
        told = "This wasn't an incident: open pages are resolved, and update reminders stop. You can reopen it later."
        return _limited(told, self.incident)

    def run(self, *, at: datetime) -> object:
        text = self.cleaned_data["text"]
        return lifecycle.cancel(self.incident, text=text, by=self.person, at=at, since=self.seen)


class DuplicateForm(StepForm):
    verb = "duplicate"
    heading, button, icon, tone = "Mark as duplicate", "Mark as duplicate", "tag", "grave"
    said = "Marked as a duplicate."
    of = forms.CharField(
        label="Codename of the other incident",
        max_length=300,
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false", "placeholder": "amber-otter"}),
    )

    @property
    def explains(self) -> str:  # type: ignore[override]  # what cannot be reached depends on the incident
        """Say what it does."""
        return _limited(
            "This ends the incident: open pages are resolved, and its page links to the other one.", self.incident
        )

    def clean_of(self) -> Incident:
        try:
            return visibility.find(self.person, codename_typed.read(self.cleaned_data["of"]))
        except Incident.DoesNotExist:
            raise forms.ValidationError("No such incident.") from None

    def run(self, *, at: datetime) -> object:
        of = self.cleaned_data["of"]
        return lifecycle.duplicate(self.incident, of=of, by=self.person, at=at, since=self.seen)


class ArchiveForm(VerbForm):
    heading, button, icon, tone = "Archive the channel", "Archive the channel", "archive", "grave"
    said = "The channel will be archived."
    explains = "No one can post in it after that. Firekind cannot unarchive it; a person in Slack can."

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return not incident.is_active and not incident.archive_asked

    def not_offered(self) -> str:
        if self.incident.archive_asked:
            return "The channel is already archived, or being archived."
        return f"{self.incident.codename} is {self.incident.status}; resolve or cancel it first."

    def run(self, *, at: datetime) -> object:
        return lifecycle.archive_channel(self.incident, by=self.person, at=at)
