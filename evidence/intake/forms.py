"""What people add by hand, validated once for pages and for the chat."""

from __future__ import annotations

from collections.abc import Sequence
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
MOST_NUMBER = (1 << 31) - 1  # the largest number of a row


class Files(forms.ClearableFileInput):
    """An input that accepts several files."""

    allow_multiple_selected = True


class SeveralFiles(forms.FileField):
    """Several files, each validated on its own."""

    widget = Files

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[bytes]]:
        """Return the files; raises ``ValidationError`` if there are none or one is empty."""
        given = list(data) if isinstance(data, list | tuple) else [data]
        return [super(SeveralFiles, self).clean(one, initial) for one in given or [None]]


class AddForm(forms.Form):
    """The common part of the forms: the last evidence number on its page, which reveals a resubmission."""

    since = forms.IntegerField(required=False, min_value=0, max_value=MOST_NUMBER, widget=forms.HiddenInput)


class AddFile(AddForm):
    """Files, and what is known about them."""

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
        """Store each file as evidence. Raises ``Refused``, and ``StorageError`` if nothing can be stored."""
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
                    since=asked["since"],
                )
            except (StorageError, lifecycle.BadInput) as error:
                if not added:
                    raise
                raise lifecycle.Refused(_stopped(error, at=file, added=added)) from error
            added.append(found)
        return added


def _stopped(error: StorageError | lifecycle.BadInput, *, at: UploadedFile[bytes], added: Sequence[Evidence]) -> str:
    """Say which of several files failed, and which were added before it."""
    kept = ", ".join(one.title for one in added)
    if isinstance(error, StorageError):
        return f"{error.says} Added {kept}; send the others again in a minute."
    return f"{receiving.shown_name(at.name or 'A file')}: {error} Added {kept}; send those after it again."


class AddLink(AddForm):
    """A link to something that was measured elsewhere."""

    link = forms.CharField(max_length=2000, error_messages={"required": "Enter a link."})
    title = forms.CharField(required=False, max_length=200)

    def run(self, incident: Incident, *, by: Person, at: datetime) -> list[Evidence]:
        """Put the link on the timeline. Raises ``Refused``."""
        asked = self.cleaned_data
        said = {"link": asked["link"], "title": asked["title"], "since": asked["since"]}
        return [receiving.add_link(incident, **said, by=by, via="link", at=at)]
