"""The status of an incident's pages, and who can be paged: in words, for people to read."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final

from django.db import connection

from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.people import person_matching
from incidents.written_rows import WrittenRows
from workflows.models import Page
from workflows.oncall import page_reach
from workflows.paging import paging
from workflows.paging.paging import PageChoice
from workflows.status import progress, waiting_pages
from workflows.status.progress import EffectLine
from workflows.status.waiting_pages import WaitingPage

HEADINGS = {"escalation policy": "Escalation policies", "service": "Services", "person": "People"}
NEAR = 5
OWED = ("failed", "running", "waiting")
UNANSWERED = (Page.Status.OPENING.value, Page.Status.TRIGGERED.value)
PAGE: Final = WrittenRows(Page, of="g", beside={"asked_by": WrittenRows(Person, of="a")})
NEWEST_FIRST: Final = """
    FROM workflows_page g LEFT JOIN incidents_person a ON a.id = g.asked_by_id
    WHERE g.incident_id = %s ORDER BY g.opened_at DESC, g.id DESC
"""
# Written as SQL, because every list runs it: composing a queryset took four times as long as running it.
_UNANSWERED = """
    SELECT DISTINCT incident_id FROM workflows_page
     WHERE incident_id = ANY(%s) AND status = ANY(%s) AND withdrawn_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class PageLine:
    """One page: its target, its status and since when, and ``owed``, what is still pending.

    ``rings`` says who it pages while no one has acknowledged it, and who it paged once that is over; ``before`` are the
    names of those it paged earlier.

    ``by_fallback`` says that the pager itself could not be reached, ``called_off`` that it was never opened,
    ``elsewhere`` that it is in an account where no one can see its status now.
    """

    name: str
    status: str
    said: str
    since: datetime
    opened_at: datetime
    rings: str
    before: list[str]
    url: str
    number: int | None
    by_fallback: bool
    called_off: bool
    because: str
    asked_by: str
    owed: EffectLine | None = None
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Pages:
    """All pages, newest first, and ``coming``, those that are not being opened yet.

    ``waiting`` are the triggered ones that no one has acknowledged.
    """

    lines: tuple[PageLine, ...] = ()
    coming: tuple[EffectLine, ...] = ()
    waiting: tuple[WaitingPage, ...] = ()

    @property
    def open(self) -> int:
        """How many may still page someone, or have someone on them."""
        return sum(line.status != Page.Status.RESOLVED for line in self.lines)

    @property
    def summary(self) -> str:
        """Say the sum of them: *1 open · 1 pending*, *all resolved*; empty if there are none."""
        failed = sum(one.state == "failed" for one in self.coming)
        counts = {"open": self.open, "pending": len(self.coming) - failed, "failed": failed}
        if counted := [f"{count} {what}" for what, count in counts.items() if count]:
            return " · ".join(counted)
        return ("none open" if any(line.called_off for line in self.lines) else "all resolved") if self.lines else ""

    def of_person(self, person_id: int) -> list[WaitingPage]:
        """Return the unacknowledged ones that reached this person."""
        return [one for one in self.waiting if one.reached(person_id)]

    def __bool__(self) -> bool:
        return bool(self.lines or self.coming)


def of(incident: Incident, *, effects: Sequence[EffectLine] | None = None) -> Pages:
    """Read the status of an incident's pages; pass ``effects`` if its progress was already read."""
    effects = progress.of(incident).effects if effects is None else effects
    owed = {_thing(one): one for one in effects if one.kind == "page" and one.state in OWED}
    rows = PAGE.read(NEWEST_FIRST, [incident.pk])
    before = page_reach.before(rows)
    lines = [_line(page, before[page.pk], owed.pop(page.key, None)) for page in rows]
    return Pages(tuple(lines), tuple(owed.values()), tuple(waiting_pages.among(rows)))


def unanswered(incidents: Collection[int]) -> set[int]:
    """Return which of these incidents have a page that may page someone and that no one has acknowledged."""
    with connection.cursor() as cursor:
        cursor.execute(_UNANSWERED, [list(incidents), list(UNANSWERED)])
        return {pk for (pk,) in cursor.fetchall()}


def grouped(among: Sequence[PageChoice]) -> dict[str, list[PageChoice]]:
    """Group who can be paged by kind, each under its heading, keeping the order."""
    kinds = dict.fromkeys(one.kind for one in among)
    return {HEADINGS.get(kind, kind): [one for one in among if one.kind == kind] for kind in kinds}


def meant(words: str, among: Sequence[PageChoice]) -> PageChoice:
    """Return who a name, an id or an email means; raise ``BadInput`` with the closest names if there is no match."""
    person = person_matching.by_email(words) if "@" in words else None
    choice = paging.of_person(person, among) if person else paging.named(words, among)
    if choice is not None:
        return choice
    by_name = {one.name.casefold(): one.name for one in among}
    low = words.strip().casefold()
    near = difflib.get_close_matches(low, by_name, n=NEAR, cutoff=0.5)
    near += [name for name in by_name if low in name and name not in near][: NEAR - len(near)]
    closest = f" The closest: {', '.join(by_name[name] for name in near)}." if near else ""
    raise lifecycle.BadInput("target", f"No one matches “{words[:60]}”.{closest}")


def digest(choice: PageChoice) -> str:
    """Return a digest of the set of people who would be paged."""
    return sha256(repr(choice).encode()).hexdigest()[:16]


def _thing(line: EffectLine) -> str:
    return line.key.rpartition("#")[0]


def _rings(page: Page) -> str:
    if page.was_called_off:
        return ""
    whom = page.rings.removeprefix("pages ")
    return f"paged {whom}" if whom and page.status not in UNANSWERED else page.rings


def _line(page: Page, before: list[str], owed: EffectLine | None) -> PageLine:
    return PageLine(
        name=page.name,
        status=page.status,
        said=paging.said(page),
        since=page.status_at,
        opened_at=page.opened_at,
        rings=_rings(page),
        before=before,
        url=page.url,
        number=page.number,
        by_fallback=page.via == "events",
        called_off=page.was_called_off,
        because=page.because,
        asked_by=page.asked_by.name if page.asked_by else "",
        owed=owed,
        elsewhere=page.elsewhere,
    )
