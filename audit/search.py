"""Search audit entries by who, what, about what and when; newest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date

from audit.kinds import KINDS
from audit.models import Entry

PAGE: Final = 50
NAMES: Final = ("who", "kind", "about", "first", "last", "before")


@dataclass(frozen=True, slots=True)
class AuditFilters:
    """The filters; days are whole days in the reader's time zone, and invalid values are ignored."""

    who: str = ""
    kind: str = ""
    about: str = ""
    first: str = ""
    last: str = ""
    before: str = ""  # the number of the previous page's last entry

    @classmethod
    def read(cls, given: Mapping[str, str]) -> AuditFilters:
        """Read filters from a query string."""
        said = {name: " ".join(given.get(name, "").split())[:80] for name in NAMES}
        said["kind"] = said["kind"] if said["kind"] in KINDS else ""
        said["before"] = said["before"] if said["before"].isascii() and said["before"].isdecimal() else ""
        return cls(**said | {name: said[name] if _day(said[name]) else "" for name in ("first", "last")})

    @property
    def any(self) -> bool:
        """Whether any filter is set."""
        return bool(self.who or self.kind or self.about or self.first or self.last)

    def to(self, **changes: str) -> str:
        """Return the query string with some filters changed, from the first page."""
        changed = replace(self, **({"before": ""} | changes))
        given = urlencode([(name, getattr(changed, name)) for name in NAMES if getattr(changed, name)])
        return f"?{given}" if given else ""


def find(filters: AuditFilters) -> QuerySet[Entry]:
    """Return the entries that match, newest first."""
    found = Entry.objects.order_by("-n")
    if filters.who:
        found = found.filter(by_name__icontains=filters.who)
    if filters.kind:
        found = found.filter(kind=filters.kind)
    if filters.about:
        found = found.filter(about__istartswith=filters.about)
    if first := _day(filters.first):
        found = found.filter(at__gte=first)
    if last := _day(filters.last):
        found = found.filter(at__lt=last + timedelta(days=1))
    return found.filter(n__lt=min(int(filters.before), 1 << 62)) if filters.before else found


def _day(said: str) -> datetime | None:
    """Return when a day begins in the reader's time zone; None if it is not a day."""
    try:
        day = parse_date(said)
    except ValueError:
        return None
    if day is None or not 2000 <= day.year < 3000:  # stays representable in every time zone
        return None
    return timezone.make_aware(datetime(day.year, day.month, day.day))  # noqa: DTZ001  # in the reader's zone
