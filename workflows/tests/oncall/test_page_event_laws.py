"""Laws of receiving news: whatever arrives late, twice, out of order or never, a page shows what the newest news says.

A true history of one page is made up, delivered badly, and polled in between.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from incidents.models import Event, Incident
from workflows.models import Page
from workflows.oncall.pager_events import STATUS_OF, PagerEvent, PagerIncident, Who
from workflows.pager_port import PageStatus
from workflows.paging import apply_page_event, note_found
from workflows.paging.apply_page_event import Heard

pytestmark = pytest.mark.django_db

BEGINNING = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)
# What can happen to a page next, by its status.
NEXT = {
    "triggered": ["acknowledged", "resolved"],
    "acknowledged": ["acknowledged", "unacknowledged", "resolved"],
    "resolved": ["reopened"],
}
EVERYBODY = [Who("PEVE", "Eve Ito"), Who("PLEO", "Leo Ray")]
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Step:
    """Something that reaches us: news, or the time of a poll."""

    at_ms: int
    news: PagerEvent | None = None


@dataclass(frozen=True, slots=True)
class Life:
    """What really happened to a page, and what reaches us of it, in order."""

    page_id: str
    history: tuple[PagerEvent, ...]
    steps: tuple[Step, ...]

    def truth(self, at: datetime) -> PagerEvent:
        """The last thing that had happened by a moment."""
        return [one for one in self.history if one.at <= at][-1]

    @property
    def delivered(self) -> set[str]:
        """The ids of the news that arrived at least once."""
        return {step.news.id for step in self.steps if step.news}


def moment(at_ms: int) -> datetime:
    return BEGINNING + timedelta(milliseconds=at_ms)


@st.composite
def lives(draw: st.DrawFn) -> Life:
    page_id = f"PLIFE{next(_numbers)}"
    kinds, gaps = ["triggered"], [draw(st.integers(0, 999))]
    for _ in range(draw(st.integers(1, 6))):
        kinds.append(draw(st.sampled_from(NEXT[STATUS_OF[kinds[-1]]])))
        gaps.append(draw(st.sampled_from([3, 300, 700, 1_000, 2_500, 61_000, 400_000])))
    history = []
    for n, (kind, at_ms) in enumerate(zip(kinds, itertools.accumulate(gaps), strict=True)):
        told = PagerIncident(page_id, status=STATUS_OF[kind])
        did = happened = f"{kind} {{page}}"
        by = draw(st.sampled_from(EVERYBODY))
        history.append(PagerEvent(f"{page_id}-{n}", kind, moment(at_ms), told, did, happened, by=by, told=True))
    delays = st.lists(st.sampled_from([0, 1, 5, 900, 3_000, 500_000, 2_000_000]), max_size=3)
    begun = list(itertools.accumulate(gaps))
    steps = [Step(ms + delay, news) for news, ms in zip(history, begun, strict=True) for delay in draw(delays)]
    after = st.sampled_from([1, 600, 2_000, 30_000, 700_000])
    steps += [Step(ms + pause) for ms in begun for pause in draw(st.lists(after, max_size=1))]
    return Life(page_id, tuple(history), tuple(sorted(steps, key=lambda step: step.at_ms)))


def opened(incident: Incident, life: Life) -> Page:
    return Page.objects.create(
        incident=incident,
        key=f"page/{life.page_id}",
        target="policy/P1",
        name="Major incidents",
        dedup_key=f"firekind-{life.page_id}",
        pager_id=life.page_id,
        status_at=moment(0),
        opened_at=moment(0),
    )


def look(page: Page, life: Life, at: datetime, *, to_the_second: bool) -> None:
    """Poll its true state; the pager gives the time of the last change to the second, or exactly."""
    last = life.truth(at)
    since = last.at.replace(microsecond=0) if to_the_second else last.at
    by = last.by.name if last.by else ""
    note_found.note(page, PageStatus(life.page_id, last.status, at=since, by=by), looked_at=at)


def live(incident: Incident, life: Life, *, to_the_second: bool) -> Page:
    """Deliver everything; after each step the page is in a state that it really had."""
    page = opened(incident, life)
    for step in life.steps:
        at = moment(step.at_ms)
        if step.news is None:
            looking_at = Page.objects.filter(pk=page.pk).exclude(status="resolved").first()
            if looking_at is not None:
                look(looking_at, life, at, to_the_second=to_the_second)
        else:
            assert apply_page_event.hear(step.news, at=at) in {Heard.PAGE, Heard.AGAIN}
        page.refresh_from_db()
        assert page.status in {"opening", *(one.status for one in life.history if one.at <= at)}
        assert page.status_at <= max(at, moment(0))
    return page


def entries(page: Page) -> list[Event]:
    return list(Event.objects.filter(incident=page.incident, kind="page", data__page=page.key).order_by("n"))


WITH_DATABASE = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@WITH_DATABASE
@given(life=lives(), to_the_second=st.booleans())
def test_the_newest_news_decide_and_nothing_is_told_twice(incident: Incident, life: Life, to_the_second: bool) -> None:
    with transaction.atomic():
        page = live(incident, life, to_the_second=to_the_second)
        if life.history[-1].id in life.delivered:
            event("the newest came")
            assert page.status == life.history[-1].status
        happened = Counter(one.status for one in life.history)
        told = Counter(STATUS_OF[entry.data["news"]] for entry in entries(page))
        assert all(told[status] <= happened[status] for status in told), (told, happened)
        at_most_once(page, life)


def at_most_once(page: Page, life: Life) -> None:
    """Check that each entry is about something that happened, in the right second, and each about its own."""
    left = list(life.history)
    for entry in sorted(entries(page), key=lambda one: one.at):
        status = STATUS_OF[entry.data["news"]]
        fits = [one for one in left if one.status == status and abs(one.at - entry.at) < timedelta(seconds=1)]
        assert fits, f"{entry.text} at {entry.at} did not happen"
        left.remove(min(fits, key=lambda one: abs(one.at - entry.at)))


@WITH_DATABASE
@given(life=lives(), to_the_second=st.booleans())
def test_a_look_makes_up_for_what_never_came(incident: Incident, life: Life, to_the_second: bool) -> None:
    with transaction.atomic():
        page = live(incident, life, to_the_second=to_the_second)
        if not page.is_open:
            return
        look(page, life, moment(3_000_000), to_the_second=to_the_second)
        page.refresh_from_db()
        assert page.status == life.history[-1].status


@WITH_DATABASE
@given(life=lives())
def test_hearing_it_all_again_changes_nothing(incident: Incident, life: Life) -> None:
    with transaction.atomic():
        page = live(incident, life, to_the_second=True)
        before = (page.status, page.status_at, page.news, len(entries(page)))
        for step in life.steps:
            if step.news is not None:
                assert apply_page_event.hear(step.news, at=moment(9_000_000)) == Heard.AGAIN
        page.refresh_from_db()
        assert (page.status, page.status_at, page.news, len(entries(page))) == before
