"""The filters of one incident's timeline, as they are in its address."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode

from django.db.models import Q
from django.http import QueryDict
from django.utils import timezone

from incidents import event_kinds

# Kinds of entries that are filtered together: the label, and the kinds.
GROUPS: Final = {
    "state": (
        "Updates and state",
        ("declared", "updated", "retyped", "renamed", "described", "mitigated", "resolved", "reopened", "cancelled",
         "duplicated", "due", "review_meeting", "reviewed", "review_draft"),
    ),
    "said": ("Notes and messages", ("noted", "captured", "replayed", "replay_asked", "would_do", "replay_over")),
    "tasks": (
        "Tasks and follow-ups",
        ("task", "followup", "followup_given", "followup_due", "followup_done", "followup_dropped",
         "followup_reopened", "followup_tracked"),
    ),
    "evidence": ("Evidence and findings", ("evidence", "asked", "claimed", "judged")),
    "people": (
        "People, pages and access",
        ("led", "role", "brought", "joined", "left", "chosen", "paged", "page", "alert", "admitted", "offered",
         "asked_in", "let_in", "turned_away", "glass", "request_over"),
    ),
    "work": ("What Firekind did", ("did", "failed", "gap", "gap_closed", "policy", "warned", "archiving", "channel")),
}  # fmt: skip
FOREVER: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TimelineFilters:
    """Which entries to show; ``at`` is a minute in the viewer's time zone, up to which entries are shown."""

    group: str = ""
    person: str = ""
    q: str = ""
    at: str = ""

    @classmethod
    def read(cls, given: QueryDict) -> TimelineFilters:
        """Read filters from a query string; invalid values are ignored."""
        group = given.get("group", "")
        return cls(
            group=group if group in GROUPS else "",
            person=given.get("person", "").strip()[:100],
            q=given.get("q", "").strip()[:100],
            at=given.get("at", "")[:16] if _moment(given.get("at", "")) else "",
        )

    @property
    def any(self) -> bool:
        """Whether any filter is set."""
        return self != TimelineFilters()

    @property
    def only(self) -> Q:
        """The condition for the database, without the time."""
        asked = Q(kind__in=GROUPS[self.group][1]) if self.group else Q()
        if self.person:
            asked &= Q(by__name__icontains=self.person) | Q(kind="captured", data__author__icontains=self.person)
        return asked & Q(text__icontains=self.q) if self.q else asked

    @property
    def earlier(self) -> str:
        """The query string of the page before a place; the place is appended to it."""
        given = {"group": self.group, "person": self.person, "q": self.q}
        return urlencode({name: value for name, value in given.items() if value} | {"before": ""})

    @property
    def until(self) -> tuple[datetime, int] | None:
        """The place before which entries are shown."""
        at = _moment(self.at)
        return (at.replace(second=59, microsecond=999_999), FOREVER) if at else None


def _moment(text: str) -> datetime | None:
    """Parse a minute as a browser's field sends it; None if it is not one.

    If clocks showed the minute twice, it is the later one, so that everything up to then is shown.
    """
    try:
        said = datetime.fromisoformat(text[:16])
        at = max(timezone.make_aware(said.replace(fold=fold)).astimezone(UTC) for fold in (0, 1))
    except (ValueError, OverflowError):
        return None
    return at if 1970 <= at.year <= 9000 else None


assert {kind for _, kinds in GROUPS.values() for kind in kinds} <= event_kinds.KINDS.keys()
