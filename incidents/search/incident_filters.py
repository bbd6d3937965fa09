"""The filters of a list of incidents, as they are in its address."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils import timezone

from incidents.models import Status

WORDS_CHARS = 200
FIRST, LAST = date(1970, 1, 1), date(9000, 12, 31)
CURSOR_CHARS = 120  # the last row's declaration time and codename


@dataclass(frozen=True, slots=True)
class IncidentFilters:
    """The filters in the address; invalid values are ignored.

    ``since`` and ``until`` are days in the viewer's time zone, both inclusive; names match by substring.
    """

    status: str = ""  # active, ended, or one status
    type: str = ""
    me: str = ""  # lead, or in
    lead: str = ""
    person: str = ""
    service: str = ""
    group: str = ""  # the handle of a user group that brought someone in
    since: str = ""
    until: str = ""
    drills: str = ""  # 1 for drills only; no list mixes them with real incidents
    q: str = ""
    after: str = ""

    @classmethod
    def read(cls, given: QueryDict) -> IncidentFilters:
        """Read filters from a query string."""
        status = given.get("status", "")
        return cls(
            status=status if status in {"active", "ended", *Status.values} else "",
            type=_words(given.get("type", ""))[:40],
            me=given.get("me", "") if given.get("me") in {"lead", "in"} else "",
            lead=_words(given.get("lead", "")),
            person=_words(given.get("person", "")),
            service=_words(given.get("service", "")),
            group=_words(given.get("group", "")).lstrip("@").casefold(),
            since=_day(given.get("since", "")),
            until=_day(given.get("until", "")),
            drills="1" if given.get("drills") == "1" else "",
            q=_words(given.get("q", "")),
            after=given.get("after", "")[:CURSOR_CHARS],
        )

    @property
    def any(self) -> bool:
        """Whether anything is filtered out of the list."""
        return self != IncidentFilters(after=self.after)

    @property
    def used(self) -> list[str]:
        """The names of the filters that are set."""
        return [one.name for one in fields(self) if getattr(self, one.name)]

    @property
    def narrowing(self) -> list[tuple[str, str, str]]:
        """The set filters other than status, type, words and one's own: name, label and value of each."""
        said = [(name, label, getattr(self, name)) for name, label in NARROWED_BY.items()]
        return [one for one in said if one[2]]

    def to(self, **changes: str) -> str:
        """Return the query string of this list with some filters changed, starting at its first page."""
        changed = replace(self, **({"after": ""} | changes))
        pairs = [(one.name, getattr(changed, one.name)) for one in fields(changed)]
        given = urlencode([(name, value) for name, value in pairs if value])
        return f"?{given}" if given else ""


NARROWED_BY = {
    "lead": "Led by",
    "person": "With",
    "service": "Service",
    "group": "Group",
    "since": "From",
    "until": "Until",
}


def begin_of(day: str, *, days_on: int = 0) -> datetime:
    """Return when a day, or the one ``days_on`` days later, begins in the viewer's time zone."""
    at = date.fromisoformat(day) + timedelta(days=days_on)
    return timezone.make_aware(datetime.combine(at, time.min))


def moment(text: str) -> datetime:
    """Parse a time from an address; raise ValueError or OverflowError for an invalid one or one without a time zone."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a time without its zone")
    return at.astimezone(UTC)


def _words(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())[:WORDS_CHARS]


def _day(text: str) -> str:
    """Return a day as an address holds it; empty if it is not one.

    A day too far away to compare in every time zone becomes the nearest one that can be: nothing was declared out
    there.
    """
    found = day(text)
    return "" if found is None else min(max(found, FIRST), LAST).isoformat()


def day(text: str) -> date | None:
    """Parse a day written as ``2026-03-14``; None for anything else."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if found.isoformat() == text else None
