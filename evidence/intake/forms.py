"""What people bring by hand: one validation for pages and for the chat."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from evidence.intake import receiving
from evidence.intake.storage import StorageError
from evidence.models import Evidence
from evidence.models.evidence import Phase
from incidents import lifecycle
from incidents.models import Incident, Person

FILES_AT_ONCE = 20


class Files(forms.ClearableFileInput):
    """An input that takes several files."""

    allow_multiple_selected = True


class SeveralFiles(forms.FileField):
    """Several files, each checked as one."""

    widget = Files

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[bytes]]:
        """Return the files; raises ``ValidationError`` for none, or for one that is empty."""
        given = list(data) if isinstance(data, list | tuple) else [data]
        return [super(SeveralFiles, self).clean(one, initial) for one in given or [None]]


class AddFile(forms.Form):
    """Files, and what is known of them besides."""

    file = SeveralFiles(
        error_messages={
            "required": "Choose a file first.",
            "empty": "The file is empty.",
            "invalid": "Choose a file first.",
        }
    )
    title = forms.CharField(required=False, max_length=200)
    phase = forms.ChoiceField(required=False, choices=[("", "not specified"), *Phase.choices])
    variant = forms.CharField(required=False, max_length=80)
    is_control = forms.BooleanField(required=False)
    unit = forms.CharField(required=False, max_length=40)

    def run(self, incident: Incident, *, by: Person, at: datetime) -> list[Evidence]:
        """Store each file as evidence. Raises ``Refused``, and ``StorageError`` where nothing can be stored."""
        asked = self.cleaned_data
        files: list[UploadedFile[bytes]] = asked["file"][:FILES_AT_ONCE]
        added: list[Evidence] = []
        for file in files:
            try:
                found = receiving.receive(
                    incident,
                    body=file.chunks(),
                    title=asked["title"] if len(files) == 1 else "",
                    by=by,
                    via="upload",
                    at=at,
                    file_name=file.name or "",
                    phase=asked["phase"],
                    variant=asked["variant"],
                    is_control=asked["is_control"],
                    unit=asked["unit"],
                )
            except StorageError as error:
                if not added:
                    raise
                kept = ", ".join(one.title for one in added)
                says = f"{error.says} Added {kept}; send the others again in a minute."
                raise lifecycle.Refused(says) from error
            added.append(found)
        return added


class AddLink(forms.Form):
    """A link to something that was measured elsewhere."""

    link = forms.CharField(max_length=2000, error_messages={"required": "Enter a link."})
    title = forms.CharField(required=False, max_length=200)

    def run(self, incident: Incident, *, by: Person, at: datetime) -> list[Evidence]:
        """Put the link on the timeline. Raises ``Refused``."""
        asked = self.cleaned_data
        return [receiving.add_link(incident, link=asked["link"], title=asked["title"], by=by, via="link", at=at)]
