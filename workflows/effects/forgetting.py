"""Remove redacted words from what was posted and from what waits to be posted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from incidents.audited.copies import STANDS
from incidents.models import Incident
from workflows.models import Alert, Effect, Page, Resource

BEGINNING: Final = 24  # characters to compare for a text that may have been cut: messages have a length limit
LOOSE: Final = 4  # from this many letters on, words are also looked for within other words


def forget(incident: Incident, said: Sequence[str]) -> None:
    """Replace every text of the incident's effects, resources and pages that contains what was said, or its beginning.

    Titles of alerts that were exactly that are replaced too. What should be posted is different from then on, so the
    next plan edits messages that still say it.
    """
    for rows, fields in (
        (Effect.objects, ("spec", "labels", "sentence", "error")),
        (Resource.objects, ("spec", "label")),
        (Page.objects, ("because",)),
    ):
        for row in rows.filter(incident=incident):
            clean = {name: _without(getattr(row, name), said) for name in fields}
            if any(clean[name] != getattr(row, name) for name in fields):
                rows.filter(pk=row.pk).update(**clean)
    Alert.objects.filter(incident=incident, title__in=said).update(title=STANDS)


def _without(value: Any, said: Sequence[str]) -> Any:
    if isinstance(value, str):
        return STANDS if any(_says(value, one) for one in said) else value
    if isinstance(value, dict):
        return {name: _without(one, said) for name, one in value.items()}
    if isinstance(value, list):
        return [_without(one, said) for one in value]
    return value


def _says(value: str, said: str) -> bool:
    """Return whether a text contains what was said, even if cut short; very short words must be the whole text."""
    value, words = _plain(value), _plain(said)
    if len(words) < LOOSE:
        return value == words
    return words[:BEGINNING] in value


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
