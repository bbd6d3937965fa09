"""Verbs that write text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django import forms

from incidents import lifecycle, numbered, timeline
from incidents.forms.verb import VerbForm
from incidents.lifecycle import redaction, rules
from incidents.models import Event, Incident

ENTRY_GONE: Final = "That entry no longer exists. Reload the timeline."


def lines(label: str, *, rows: int = 4, needed: bool = True, hint: str = "") -> forms.CharField:
    """Make a field for several lines of text."""
    area = forms.Textarea(attrs={"rows": rows, "data-send": ""})
    return forms.CharField(label=label, required=needed, widget=area, help_text=hint)


class UpdateForm(VerbForm):
    heading, button, icon = "Post an update", "Post update", "update"
    said = "Update posted."
    explains = "Posted in the channel. Restarts the update timer."
    text = lines("What do we know, and what happens next?")
    impact = lines("Impact (optional)", rows=1, needed=False)
    next_step = lines("Next step (optional)", rows=1, needed=False, hint="Yours until you assign it to someone else.")

    def run(self, *, at: datetime) -> object:
        given = self.cleaned_data
        stated = {name: given[name] for name in ("impact", "next_step")}
        return lifecycle.update(self.incident, text=given["text"], by=self.person, at=at, since=self.seen, **stated)


class ImpactForm(VerbForm):
    heading, button, icon = "Impact", "Set the impact", "people"
    said = "Impact stated."
    explains = "Who is affected, and how badly. Posted in the channel."
    text = lines("Impact", rows=2)

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return True

    def run(self, *, at: datetime) -> object:
        text = self.cleaned_data["text"]
        return lifecycle.state_impact(self.incident, text=text, by=self.person, at=at, since=self.seen)


class NoteForm(VerbForm):
    heading, button, icon = "Add a note", "Add note", "note"
    said = "Note added."
    explains = "Saved to the timeline only. No one is notified."
    text = lines("Note")

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return True

    def run(self, *, at: datetime) -> object:
        return lifecycle.note(self.incident, text=self.cleaned_data["text"], by=self.person, at=at, since=self.seen)


class RenameForm(VerbForm):
    heading, button, icon = "Rename", "Rename", "tag"
    said = "Renamed."
    explains = "The codename and the channel name stay the same."
    title = forms.CharField(label="Title", max_length=rules.TEXT_CHARS)

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return True

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"title": self.incident.title}

    def run(self, *, at: datetime) -> object:
        title = self.cleaned_data["title"]
        if rules.is_long(title):
            self.said = f"Renamed. {rules.TITLE_CUT}"
        return lifecycle.rename(self.incident, title=title, by=self.person, at=at, since=self.seen)


class DescribeForm(VerbForm):
    heading, button, icon = "Summary", "Save summary", "doc"
    said = "Summary saved."
    explains = "What someone joining late should read first."
    summary = lines("Summary", rows=6, needed=False)

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return True

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"summary": self.incident.summary}

    def run(self, *, at: datetime) -> object:
        summary = self.cleaned_data["summary"]
        return lifecycle.describe(self.incident, summary=summary, by=self.person, at=at, since=self.seen)


class ServeForm(VerbForm):
    heading, button, icon = "Affected services", "Save services", "list"
    said = "Services saved."
    services = lines("Services, one per line", needed=False)

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"services": "\n".join(self.incident.services)}

    def run(self, *, at: datetime) -> object:
        services = self.cleaned_data["services"].splitlines()
        return lifecycle.serve(self.incident, services=services, by=self.person, at=at, since=self.seen)


class CheckForm(VerbForm):
    heading, button = "Checklist", "Save"
    said = "Checklist saved."
    item = forms.CharField(widget=forms.HiddenInput)
    done_now = forms.BooleanField(required=False, label="Done")

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        item = asked.get("item", "")
        return {"item": item, "done_now": item not in self.incident.checked}

    def run(self, *, at: datetime) -> object:
        done = self.cleaned_data["done_now"]
        return lifecycle.check_off(self.incident, item=self.cleaned_data["item"], done=done, by=self.person, at=at)


class EntryForm(VerbForm):
    """A verb on one timeline entry, which the page names by number."""

    n = forms.CharField(widget=forms.HiddenInput)

    @classmethod
    def offered(cls, incident: Incident) -> bool:
        return True

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        event = self.meant(asked.get("n"))
        return {"n": event.borne if event else asked.get("n")}

    def meant(self, n: object) -> Event | None:
        """Return the entry with this number, if it still exists."""
        return numbered.found(Event.objects.filter(incident=self.incident), n)

    def clean_n(self) -> int:
        """Return the number of the entry. Raises ``ValidationError`` if it no longer exists."""
        event = self.meant(self.cleaned_data["n"])
        if event is None:
            raise forms.ValidationError(ENTRY_GONE)
        return event.n

    @property
    def refusal(self) -> str:
        """Why the form cannot be sent: it names no entry, or one that no longer exists."""
        return super().refusal or ("" if self.meant(self["n"].value()) else ENTRY_GONE)


class EditForm(EntryForm):
    heading, button, icon = "Edit entry", "Save", "note"
    said = "Changed."
    explains = "The previous text stays in its history."
    text = lines("Text", rows=6)

    def first(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        event = self.meant(asked.get("n"))
        entry = next(iter(timeline.entries([event] if event else [])), None)
        return super().first(asked) | ({"text": entry.text} if entry else {})

    def run(self, *, at: datetime) -> object:
        n, text = self.cleaned_data["n"], self.cleaned_data["text"]
        return lifecycle.edit(self.incident, n=n, text=text, by=self.person, at=at, since=self.seen)


class RetractForm(EntryForm):
    heading, button, icon, tone = "Retract entry", "Retract", "undo", "grave"
    said = "Retracted."
    explains = (
        "The timeline and the channel will show only that it was retracted. Its text stays in its history. To say it "
        "again, write a new entry."
    )
    because = forms.CharField(label="Why? (optional)", required=False)

    def run(self, *, at: datetime) -> object:
        given = self.cleaned_data
        return lifecycle.retract(self.incident, n=given["n"], because=given["because"], by=self.person, at=at)


class RedactForm(EntryForm):
    heading, button, icon, tone = "Redact entry", "Redact", "undo", "grave"
    said = "Redacted."
    explains = (
        "Its text and history are deleted for good from the timeline, search and Firekind's own messages. A note that"
        " you redacted it stays. Messages that people wrote in Slack have to be deleted there."
    )

    @property
    def refusal(self) -> str:
        """Why the form cannot be sent: only the lead redacts."""
        return super().refusal if redaction.is_lead(self.incident, self.person) else redaction.NOT_THE_LEAD

    def run(self, *, at: datetime) -> object:
        return lifecycle.redact(self.incident, n=self.cleaned_data["n"], by=self.person, at=at)
