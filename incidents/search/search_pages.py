"""Which incidents a list shows: its filters, its order, and where the next page begins."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.postgres.search import SearchQuery
from django.db import connection
from django.db.models import Exists, F, Func, OuterRef, Q, QuerySet, Subquery

from incidents import visibility
from incidents.drills import sample_mark
from incidents.indexing import word_index
from incidents.models import Incident, Participant, Person, Status
from incidents.search import query_text
from incidents.search.incident_filters import IncidentFilters, begin_of, moment

PAGE = 30
CSV_ROWS = 1_000
LATEST = 2_000  # how far back substrings are searched, which no index covers
ORDER = ("-active", "-declared_at", "-pk")
LAST = re.compile(r"[0-9]{1,18}|[a-z]+(-[a-z]+)+")
OLDER = "SELECT incident_id FROM incidents_codename WHERE name = %s AND incident_id IS NOT NULL"
CODENAME = re.compile(r"[a-z]{2,}(-[a-z]+)*-?")


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of incidents, and the cursor of the next page if there is one."""

    rows: list[Incident]
    more: str


def find(filters: IncidentFilters, *, person: Person) -> SearchPage:
    """Return one page of what ``person`` may see: active incidents first, then the newest.

    One query that reads the list's index from where the page begins; nothing is counted.
    """
    rows = list(sample_mark.marking(_ordered(filters, person))[: PAGE + 1])
    return SearchPage(rows[:PAGE], cursor(rows[PAGE - 1]) if len(rows) > PAGE else "")


def jumps(q: str, *, person: Person, limit: int = 8) -> list[Incident]:
    """Return the first few whose timeline has these words, or that are among the latest and contain these letters.

    The letters are searched in the title and the codename.
    """
    seen = (
        visibility.visible_to(person)
        .order_by(*ORDER)
        .only("codename", "title", "policy_version_id", "status", "active", "declared_at")
    )
    if not q:
        return list(seen[:limit])
    lettered = Q(title__icontains=q) | Q(codename__icontains=q)
    found = {*seen.filter(lettered, pk__in=_latest(seen))[:limit], *seen.filter(_worded(q))[:limit]}
    return sorted(found, key=lambda one: (one.active, one.declared_at, one.pk), reverse=True)[:limit]


def matching(filters: IncidentFilters, *, person: Person) -> QuerySet[Incident]:
    """Return everything that matches the filters and that ``person`` may see, unordered."""
    return _asked(visibility.visible_to(person), filters, person)


def newest(filters: IncidentFilters, *, person: Person) -> list[Incident]:
    """Return everything that matches the filters, up to 1,000 incidents, for a spreadsheet."""
    return list(_ordered(replace(filters, after=""), person)[:CSV_ROWS])


COLUMNS = (
    "codename", "title", "type_id", "policy_version_id", "status", "active", "private", "is_drill", "declared_at",
    "ended_at", "update_due_at", "lead__name", "services",
)  # fmt: skip


def _ordered(filters: IncidentFilters, person: Person) -> QuerySet[Incident]:
    asked = _asked(visibility.visible_to(person), filters, person).select_related("lead").only(*COLUMNS)
    return _after(asked, filters.after, person).order_by(*ORDER)


def _asked(seen: QuerySet[Incident], filters: IncidentFilters, person: Person) -> QuerySet[Incident]:
    seen = seen.filter(is_drill=bool(filters.drills))
    if filters.status in {"active", "ended"}:
        seen = seen.filter(active=filters.status == "active")
    elif filters.status:
        seen = seen.filter(status=filters.status, active=Status(filters.status).is_active)
    if filters.type:
        seen = seen.filter(type__slug=filters.type)
    if filters.me == "lead":
        seen = seen.filter(lead=person)
    elif filters.me == "in":
        seen = seen.filter(Exists(Participant.objects.filter(incident=OuterRef("pk"), person=person, left_at=None)))
    seen = _named(seen, filters, person)
    if filters.since:
        seen = seen.filter(declared_at__gte=begin_of(filters.since))
    if filters.until:
        seen = seen.filter(declared_at__lt=begin_of(filters.until, days_on=1))
    return seen.filter(_worded(filters.q)) if filters.q else seen


def _named(seen: QuerySet[Incident], filters: IncidentFilters, person: Person) -> QuerySet[Incident]:
    """Match a part of the name of the lead, a participant or a service, and the handle of a group.

    Names are looked up first, so that the incidents are found by their indexes.
    """
    if filters.lead:
        seen = seen.filter(lead__in=_people(filters.lead))
    if filters.person:
        takes_part = Participant.objects.filter(incident=OuterRef("pk"), person__in=_people(filters.person))
        seen = seen.filter(Exists(takes_part.filter(left_at=None)))
    if filters.service:
        seen = seen.filter(services__overlap=_services(filters.service, person))
    if filters.group:
        came = Participant.objects.filter(incident=OuterRef("pk"), reason=Participant.Reason.GROUP)
        seen = seen.filter(Exists(came.filter(detail__iexact=filters.group)))
    return seen


def _people(part: str) -> list[int]:
    return list(Person.objects.filter(name__icontains=part).values_list("pk", flat=True))


def _services(part: str, person: Person) -> list[str]:
    """Return this as a whole name, and all services that contain it among the latest incidents that ``person`` sees."""
    latest = _latest(visibility.visible_to(person).order_by(*ORDER))
    named = Incident.objects.filter(pk__in=latest).annotate(service=Func(F("services"), function="unnest"))
    known = named.order_by().values_list("service", flat=True).distinct()
    return [part, *(name for name in known if part.casefold() in name.casefold())]


def _latest(seen: QuerySet[Incident]) -> QuerySet[Incident, int]:
    return seen.values_list("pk", flat=True)[:LATEST]


def _worded(q: str) -> Q:
    """Match words anywhere on the timeline, or the beginning of a codename, or an older codename.

    The older name is looked up first: a join here would keep the planner from using any index.
    """
    asked = Begun if query_text.is_begun(q) else AllWords
    words = Q(words=asked(q, config=word_index.SEARCH_CONFIG, search_type="websearch"))
    name = q.lower().replace(" ", "-")
    if not CODENAME.fullmatch(name):
        return words
    with connection.cursor() as cursor:
        cursor.execute(OLDER, [name])
        older = [pk for (pk,) in cursor.fetchall()]
    return words | Q(codename__startswith=name) | Q(pk__in=older)


class AllWords(SearchQuery):
    """A search query whose phrases match if all of their words do.

    ``Incident.words`` stores no positions, so that it stays small however long a timeline grows. PostgreSQL makes a
    phrase not only of quoted text but of every hyphenated word, such as ``checkout-api``.
    """

    def as_sql(self, *args: Any, **kwargs: Any) -> tuple[str, Any]:
        """Write the query with each phrase operator replaced by *and*, and with numbers that may follow a hyphen."""
        sql, params = super().as_sql(*args, **kwargs)
        words = self.last(f"regexp_replace(({sql})::text, '<(-|[0-9]+)>', '&', 'g')")
        return f"({query_text.with_either_sign(words)})::tsquery", params

    def last(self, words: str) -> str:
        """Return the SQL of the query's text, matching the last word as a whole."""
        return words


class Begun(AllWords):
    """A search query whose last word may still be being typed."""

    def last(self, words: str) -> str:
        """Return the SQL of the query's text, matching the last word as a prefix."""
        return query_text.with_beginning(words)


def cursor(last: Incident) -> str:
    """Return where the page after this incident begins, without its primary key, which counts hidden incidents too."""
    return f"{int(last.is_active)}.{last.declared_at.isoformat()}.{last.codename}"


def is_cursor(after: str) -> bool:
    """Return whether this is a valid cursor."""
    return _place(after) is not None


def _place(after: str) -> tuple[str, datetime, str] | None:
    try:
        active, rest = after.split(".", 1)
        at_text, last = rest.rsplit(".", 1)
        return (active, moment(at_text), last) if active in {"0", "1"} and LAST.fullmatch(last) else None
    except (ValueError, OverflowError):
        return None


def _after(asked: QuerySet[Incident], after: str, person: Person) -> QuerySet[Incident]:
    place = _place(after)
    if place is None:
        return asked
    active, at, last = place
    # Cursors from an older version hold a primary key. If the last incident has been hidden since, others declared in
    # the same microsecond are left out.
    pk = int(last) if last.isdecimal() else _key(last, person)
    older = Q(declared_at__lt=at) | Q(declared_at=at, pk__lt=pk)
    if active == "1":
        return asked.filter((Q(active=True) & older) | Q(active=False))
    return asked.filter(older, active=False, declared_at__lte=at)


def _key(codename: str, person: Person) -> Subquery:
    return Subquery(visibility.visible_to(person).filter(codename=codename).values("pk"))
