"""Seal the whole timeline into the audit chain."""

from typing import Final

from audit.sealed.rows import Kept

TIMELINE: Final = Kept(
    "events",
    table="incidents_event",
    id="id",
    at="recorded_at",
    columns=(
        "id", "incident_id", "n", "kind", "at", "recorded_at", "by_id", "source", "text", "data", "link", "about_n",
    ),
    words=("text", "data", "link"),
    redactable=True,
)  # fmt: skip
