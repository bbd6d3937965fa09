"""Which incidents a list shows: the filters in its address, the order, and where the next page begins."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib.postgres.search import SearchQuery
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from incidents import timeline, visibility
from incidents.models import Codename, Incident, Participant, Person, Status

PAGE = 30
WORDS_CHARS = 200
CODENAME = re.compile(r"[a-z]{2,}(-[a-z]+)*-?")


@dataclass(frozen=True, slots=True)
class IncidentFilters:
    """What the address asks for; anything that is not understood is left out."""

    status: str = ""  # active, ended, or one status
    type: str = ""
    me: str = ""  # lead, or in
    q: str = ""
    after: str = ""

    @classmethod
    def read(cls, given: QueryDict) -> IncidentFilters:
        """Read filters from a query string."""
        status = given.get("status", "")
        return cls(
            status=status if status in {"active", "ended", *Status.values} else "",
            type=given.get("type", "")[:40],
            me=given.get("me", "") if given.get("me") in {"lead", "in"} else "",
            q=" ".join(given.get("q", "").replace("\0", " ").split())[:WORDS_CHARS],
            after=given.get("after", "")[:60],
        )

    @property
    def any(self) -> bool:
        """Whether anything is left out of the list."""
        return bool(self.status or self.type or self.me or self.q)

    def to(self, **changes: str) -> str:
        """Return the query string of this list with some filters changed, from its first page."""
        changed = replace(self, **({"after": ""} | changes))
        pairs = [(name, getattr(changed, name)) for name in ("status", "type", "me", "q", "after")]
        given = urlencode([(name, value) for name, value in pairs if value])
        return f"?{given}" if given else ""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of incidents, and the cursor of the next one when there is more."""

    rows: list[Incident]
    more: str


def find(filters: IncidentFilters, *, person: Person) -> SearchPage:
    """Return one page of what ``person`` may see: those people still respond to first, then the newest.

    One query that reads the list's index from where the page begins; nothing is counted.
    """
    asked = _asked(visibility.visible_to(person), filters, person).select_related("lead").only(*COLUMNS)
    rows = list(_after(asked, filters.after).order_by("-active", "-declared_at", "-pk")[: PAGE + 1])
    return SearchPage(rows[:PAGE], cursor(rows[PAGE - 1]) if len(rows) > PAGE else "")


COLUMNS = (
    "codename", "title", "type_id", "status", "active", "private", "declared_at", "ended_at", "update_due_at",
    "lead__name",
)  # fmt: skip


def _asked(seen: QuerySet[Incident], filters: IncidentFilters, person: Person) -> QuerySet[Incident]:
    if filters.status in {"active", "ended"}:
        seen = seen.filter(active=filters.status == "active")
    elif filters.status:
        seen = seen.filter(status=filters.status)
    if filters.type:
        seen = seen.filter(type__slug=filters.type)
    if filters.me == "lead":
        seen = seen.filter(lead=person)
    elif filters.me == "in":
        seen = seen.filter(Exists(Participant.objects.filter(incident=OuterRef("pk"), person=person, left_at=None)))
    return seen.filter(_worded(filters.q)) if filters.q else seen


def _worded(q: str) -> Q:
    """Match words anywhere on the timeline, or the beginning of a codename, or an older codename.

    The older name is looked up first: joined in here it would keep the planner from using any index.
    """
    words = Q(words=AllWords(q, config=timeline.SEARCH_CONFIG, search_type="websearch"))
    name = q.lower().replace(" ", "-")
    if not CODENAME.fullmatch(name):
        return words
    older = Codename.objects.filter(name=name).exclude(incident=None).values_list("incident_id", flat=True)
    return words | Q(codename__startswith=name) | Q(pk__in=list(older))


class AllWords(SearchQuery):
    """A search query whose phrases are read as all of their words.

    ``Incident.words`` keeps no positions, so that it stays small however long a timeline grows. PostgreSQL makes a
    phrase not only of quotes but of every hyphenated word, such as ``checkout-api``.
    """

    def as_sql(self, *args: Any, **kwargs: Any) -> tuple[str, Any]:
        """Write the query with each phrase operator replaced by *and*."""
        sql, params = super().as_sql(*args, **kwargs)
        return f"regexp_replace(({sql})::text, '<(-|[0-9]+)>', '&', 'g')::tsquery", params


def cursor(last: Incident) -> str:
    """Return where the page after this incident begins."""
    return f"{int(last.is_active)}.{last.declared_at.isoformat()}.{last.pk}"


def is_cursor(after: str) -> bool:
    """Return whether this says where a page begins."""
    return _place(after) is not None


def _place(after: str) -> tuple[str, datetime, int] | None:
    try:
        active, rest = after.split(".", 1)
        at_text, pk = rest.rsplit(".", 1)
        return active, moment(at_text), int(pk)
    except (ValueError, OverflowError):
        return None


def _after(asked: QuerySet[Incident], after: str) -> QuerySet[Incident]:
    place = _place(after)
    if place is None:
        return asked
    active, at, last = place
    older = Q(declared_at__lt=at) | Q(declared_at=at, pk__lt=last)
    if active == "1":
        return asked.filter((Q(active=True) & older) | Q(active=False))
    return asked.filter(older, active=False, declared_at__lte=at)


def moment(text: str) -> datetime:
    """Read a time from an address; raise ValueError or OverflowError for one that no database takes."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a time without its zone")
    return at.astimezone(UTC)
