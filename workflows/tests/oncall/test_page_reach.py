"""Who a page has reached: in any order of the news, with polls in between, the newest decides and no one is lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents.models import Event, Incident, Person
from workflows.models import Page, PagerUser
from workflows.oncall.pager_events import PagerEvent, PagerIncident, Who
from workflows.pager_port import PagerPerson, PageStatus
from workflows.paging import apply_page_event, note_found
from workflows.status import page_status

pytestmark = pytest.mark.django_db

NINE = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
NAMES = {"PEVE": "Eve Ito", "PLEO": "Leo Ray", "PBEN": "Ben Okafor", "PMAX": "Max Lund"}
KINDS = ["escalated", "reassigned", "delegated"]
LATER = timedelta(hours=1)


def opened(incident: Incident, *ids: str, **more: Any) -> Page:
    """A page of ours that pages these people since nine."""
    for id, name in NAMES.items():
        PagerUser.objects.get_or_create(pager_id=id, defaults={"name": name})
    rings = f"pages {' and '.join(NAMES[id] for id in ids)}" if ids else ""
    values: dict[str, Any] = {"target": "policy/P1", "name": "Major incidents"}
    values |= {"dedup_key": "firekind-1", "pager_id": "PI1"}
    values |= {"key": "page/policy/P1", "status": "triggered", "status_at": NINE, "opened_at": NINE, "rung_at": NINE}
    values |= {"rung_ids": list(ids), "now_ids": list(ids), "rings": rings}
    return Page.objects.create(incident=incident, **(values | more))


def passed(n: int, *ids: str, kind: str = "escalated") -> PagerEvent:
    """News that these people are paged from the n-th minute on."""
    people = tuple(Who(id, NAMES[id]) for id in ids)
    says = "now paging {people}"
    return PagerEvent(
        f"E{n}", kind, NINE + timedelta(minutes=n), PagerIncident("PI1"), says, says, people=people, told=True
    )


def found(n: int, *ids: str, status: str = "triggered", by: str = "") -> PageStatus:
    """A polled state: these people are assigned since the n-th minute."""
    since = NINE + timedelta(minutes=n)
    assigned = tuple(PagerPerson(id, NAMES[id]) for id in ids)
    return PageStatus("PI1", status, at=since, by=NAMES.get(by, ""), by_id=by, assigned=assigned, assigned_at=since)


def told(incident: Incident) -> list[str]:
    return [one.data["news"] for one in Event.objects.filter(incident=incident, kind="page").order_by("n")]


histories = st.lists(
    st.tuples(st.sampled_from(KINDS), st.sets(st.sampled_from(sorted(NAMES)), min_size=1, max_size=3)),
    min_size=1,
    max_size=5,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories, order=st.randoms(use_true_random=False), looks=st.sets(st.integers(0, 5), max_size=3))
def test_the_newest_news_say_who_is_paged_and_nobody_is_forgotten(
    incident: Incident, history: list[tuple[str, set[str]]], order: Any, looks: set[int]
) -> None:
    with transaction.atomic():
        page = opened(incident, "PMAX")
        news = [passed(n, *sorted(ids), kind=kind) for n, (kind, ids) in enumerate(history, 1)]
        *_, newest = news
        steps: list[PagerEvent | PageStatus] = [*news, *order.sample(news, k=min(2, len(news)))]
        steps += [found(n, *sorted(history[n - 1][1])) for n in looks if 0 < n <= len(history)]
        order.shuffle(steps)
        for one in steps:
            if isinstance(one, PagerEvent):
                apply_page_event.hear(one, at=NINE + LATER)
            else:
                page.refresh_from_db()
                note_found.note(page, one, looked_at=NINE + LATER)
        page.refresh_from_db()
        assert set(page.now_ids) == {who.id for who in newest.people}
        assert page.rings == f"pages {_listed(sorted(who.name for who in newest.people))}"
        assert set(page.rung_ids) == {"PMAX", *(id for _, ids in history for id in ids)}
        assert page.status == "triggered"
        assert len(told(incident)) <= 2 * len(history)
        transaction.set_rollback(True)


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories)
def test_whoever_was_paged_before_is_said_to_be_paged_again(
    incident: Incident, history: list[tuple[str, set[str]]]
) -> None:
    with transaction.atomic():
        opened(incident, "PMAX")
        before = {"PMAX"}
        for n, (kind, ids) in enumerate(history, 1):
            apply_page_event.hear(passed(n, *sorted(ids), kind=kind), at=NINE + LATER)
            text = Event.objects.filter(incident=incident, kind="page").latest("n").text
            assert text.endswith(" again") == (ids <= before), text
            before |= ids
        transaction.set_rollback(True)


def test_the_panel_says_who_is_paged_and_who_was_before(incident: Incident) -> None:
    opened(incident, "PEVE")
    apply_page_event.hear(passed(5, "PLEO"), at=NINE + LATER)
    (line,) = page_status.of(incident).lines
    assert (line.rings, line.before) == ("pages Leo Ray", ["Eve Ito"])


def test_a_look_finds_who_is_paged_and_the_webhook_after_it_tells_nothing_new(incident: Incident) -> None:
    page = opened(incident, "PEVE")
    assert note_found.note(page, found(5, "PLEO"), looked_at=NINE + LATER)
    apply_page_event.hear(passed(5, "PLEO"), at=NINE + LATER)
    assert told(incident) == ["passed"]
    page.refresh_from_db()
    assert (page.rings, page.now_ids, page.rung_ids) == ("pages Leo Ray", ["PLEO"], ["PEVE", "PLEO"])
    assert not note_found.note(page, found(5, "PLEO"), looked_at=NINE + 2 * LATER)


def test_a_look_that_is_older_than_the_news_changes_nothing(incident: Incident) -> None:
    page = opened(incident, "PEVE")
    apply_page_event.hear(passed(5, "PLEO"), at=NINE + LATER)
    page.refresh_from_db()
    assert not note_found.note(page, found(0, "PEVE"), looked_at=NINE + timedelta(minutes=4))
    page.refresh_from_db()
    assert page.now_ids == ["PLEO"]


def test_who_acknowledges_of_several_does_not_make_the_others_forgotten(incident: Incident) -> None:
    page = opened(incident, "PEVE", "PLEO")
    note_found.note(page, found(5, "PEVE", status="acknowledged", by="PEVE"), looked_at=NINE + LATER)
    page.refresh_from_db()
    assert (page.status, page.now_ids) == ("acknowledged", ["PEVE", "PLEO"])
    assert told(incident) == ["acknowledged"]


def test_in_public_who_is_paged_is_brought_in_and_in_private_nobody_by_that(
    incident: Incident, secret: Incident, eve: Person
) -> None:
    for one in (incident, secret):
        page = opened(one, "PLEO", pager_id=f"PI{one.pk}", dedup_key=f"firekind-{one.pk}")
        PagerUser.objects.filter(pager_id="PEVE").update(person=eve)
        news = passed(5, "PEVE")
        told = PagerIncident(f"PI{one.pk}")
        apply_page_event.hear(
            PagerEvent(f"E{one.pk}", news.kind, news.at, told, "", "", people=news.people), at=NINE + LATER
        )
        page.refresh_from_db()
        assert page.now_ids == ["PEVE"]
        assert list(page.rung.all()) == ([] if one.private else [eve])
