"""The incidents that figures are about, as the address says: the list's filters, and a default period."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils import timezone

from incidents import visibility
from incidents.drills import sample_mark
from incidents.models import Incident, Person
from incidents.search import IncidentFilters, matching

DAYS = 90
PERIODS = {30: "30 days", 90: "90 days", 365: "A year"}


@dataclass(frozen=True, slots=True)
class InsightFilters:
    """The list's filters for a period, a type, a service and a group; sample data only on request."""

    given: IncidentFilters
    samples: bool = False

    @classmethod
    def read(cls, query: QueryDict) -> InsightFilters:
        """Read them from a query string; without a first day, the period is 90 days."""
        asked = IncidentFilters.read(query)
        today = timezone.localdate()
        until = asked.until or today.isoformat()
        since = asked.since or begin(date.fromisoformat(until), days=DAYS)
        kept = IncidentFilters(type=asked.type, service=asked.service, group=asked.group, since=since, until=until)
        return cls(kept, samples=query.get("samples") == "1")

    def incidents(self, person: Person) -> QuerySet[Incident]:
        """Return the incidents that a person may see and that count: no drills."""
        # Naming both states lets the list's index, which starts with the state, find a period.
        seen = matching(self.given, person=person).filter(active__in=(True, False))
        return self._counting(seen)

    def known(self, person: Person) -> QuerySet[Incident]:
        """Return the incidents of any time and type that a person may see and that count."""
        return self._counting(visibility.visible_to(person))

    def _counting(self, seen: QuerySet[Incident]) -> QuerySet[Incident]:
        seen = seen.filter(is_drill=False)  # whatever other filters may be added
        return seen if self.samples else sample_mark.left_out(seen)

    @property
    def query(self) -> str:
        """The query string that means the same on any of these pages."""
        given, today = self.given, timezone.localdate().isoformat()
        usual = given.until == today and given.since == begin(timezone.localdate(), days=DAYS)
        pairs = {
            "since": "" if usual else given.since,
            "until": "" if given.until == today else given.until,
            "type": given.type,
            "service": given.service,
            "group": given.group,
            "samples": "1" if self.samples else "",
        }
        said = urlencode({name: value for name, value in pairs.items() if value})
        return f"?{said}" if said else ""

    @property
    def periods(self) -> list[tuple[str, str, bool]]:
        """The usual periods up to today: each one's name, its query string, and whether it is the current one."""
        today = timezone.localdate()
        found = []
        for days, name in PERIODS.items():
            given = replace(self.given, since=begin(today, days=days), until=today.isoformat())
            found.append((name, replace(self, given=given).query or "?", given == self.given))
        return found

    @property
    def with_samples(self) -> str:
        """The query string with sample data switched on, or off again."""
        return replace(self, samples=not self.samples).query or "?"


def begin(until: date, *, days: int) -> str:
    """Return the first of this many days, including the last one."""
    return (until - timedelta(days=days - 1)).isoformat()
