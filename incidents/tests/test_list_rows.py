"""A row of the list is rendered once: the cached one equals a fresh one, for any reader and after any change."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest
from django.conf import settings as project
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person
from incidents.tests.conftest import Open
from incidents.views.lists import list_rows

ZONES = ("Asia/Kathmandu", "America/St_Johns")
STEPS = ("title", "lead", "update", "impact", "edit", "private", "resolve", "reopen", "rename a person")
YOUNG = re.compile(r">(under a minute|\d+ min)<")
LOOKS = ("/", "/?q=slow", "/?q=words", "/?type=security")


@pytest.fixture
def aged(shipped: dict[str, IncidentType], ada: Person) -> Incident:
    return declare(ada)


@pytest.fixture
def people(ada: Person, ben: Person) -> tuple[Person, Person]:
    """Return the actor and the person acted on; both read."""
    return ada, ben


@given(st.permutations(STEPS), st.lists(st.sampled_from(LOOKS), min_size=1, max_size=2))
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_kept_row_is_the_row_drawn_now(
    shipped: dict[str, IncidentType], people: tuple[Person, Person], browse: Open, steps: list[str], looks: list[str]
) -> None:
    aged = declare(people[0])
    readers = [(browse(person), zone) for person, zone in zip(people, ZONES, strict=True)]
    before = list_rows.drawn_once.cache_info().hits
    with drawn_again_beside() as differing:
        for number, step in enumerate(["", *steps]):
            with contextlib.suppress(lifecycle.Refused):
                take(step, Incident.objects.get(pk=aged.pk), *people, words=f"words {number}")
            for client, zone in readers:
                client.cookies[f"{project.COOKIE_PREFIX}zone"] = zone
                assert [client.get(look).status_code for look in looks] == [200] * len(looks)
                assert not differing, step
    assert looks == ["/?type=security"] or list_rows.drawn_once.cache_info().hits > before, "rows were kept"


@contextlib.contextmanager
def drawn_again_beside() -> Iterator[list[tuple[str, str]]]:
    """Also render each shown row afresh; yield the pairs in which the cached one differed."""
    once, differing = list_rows.drawn_once, list[tuple[str, str]]()

    def drawn(row: list_rows.ShownRow) -> str:
        kept, afresh = (without_young_ages(one) for one in (once(row), once.__wrapped__(row)))
        if kept != afresh:
            differing.append((kept, afresh))
        return once(row)

    with patch.object(list_rows, "drawn_once", drawn):
        yield differing


def declare(by: Person) -> Incident:
    """Declare at a moment at which no age changes while a test runs."""
    return lifecycle.declare("Checkout is slow", by=by, at=timezone.now() - timedelta(hours=2, minutes=10, seconds=5))


def without_young_ages(row: str) -> str:
    """Return a row without ages under an hour, which may change in between."""
    return YOUNG.sub("><", row)


def take(step: str, incident: Incident, by: Person, other: Person, *, words: str) -> None:
    now = timezone.now()
    if step == "rename a person":
        Person.objects.filter(pk=other.pk).update(name=f"Ben of {words}")
    elif step == "edit" and (said := incident.events.filter(kind="updated").last()):
        lifecycle.edit(incident, n=said.n, text=f"Edited, {words}", by=by, at=now)
    elif step == "reopen" and not incident.is_active:
        lifecycle.reopen(incident, by=by, at=now)
    elif incident.is_active and (act := ACTS.get(step)):
        act(incident, by, other, words, now)


def _private(incident: Incident, by: Person, _other: Person, _words: str, at: datetime) -> object:
    return lifecycle.retype(incident, to=IncidentType.objects.get(slug="security"), by=by, at=at)


def _lead(incident: Incident, by: Person, other: Person, _words: str, at: datetime) -> object:
    return lifecycle.set_lead(incident, lead=other if incident.lead_id == by.pk else by, by=by, at=at)


ACTS: dict[str, Callable[[Incident, Person, Person, str, datetime], object]] = {
    "title": lambda one, by, _, words, at: lifecycle.rename(one, title=f"Checkout is slow: {words}", by=by, at=at),
    "lead": _lead,
    "update": lambda one, by, _, words, at: lifecycle.update(one, text=f"Slow, {words}", by=by, at=at),
    "impact": lambda one, by, _, words, at: lifecycle.state_impact(one, text=words, by=by, at=at),
    "private": _private,
    "resolve": lambda one, by, _other, _words, at: lifecycle.resolve(one, by=by, at=at),
}


def test_each_reader_has_times_of_their_own_zone(aged: Incident, ada: Person, ben: Person, browse: Open) -> None:
    for client, zone in ((browse(ada), "Asia/Kathmandu"), (browse(ben), "America/St_Johns")):
        client.cookies[f"{project.COOKIE_PREFIX}zone"] = zone
        with timezone.override(zone):
            here = timezone.localtime(aged.declared_at)
        assert f"{here:%H:%M}</time>" in client.get("/").content.decode()


def test_a_new_year_says_of_which_year_a_row_is(aged: Incident, monkeypatch: pytest.MonkeyPatch) -> None:
    declared, types = timezone.localtime(aged.declared_at), IncidentType.objects.in_bulk()
    for added, said in ((0, f"{declared:%b}, "), (366, f"{declared:%b} {declared.year}, "), (0, f"{declared:%b}, ")):
        now = datetime.now(tz=UTC) + timedelta(days=added)
        monkeypatch.setattr(timezone, "now", lambda now=now: now)
        assert said in list_rows.rows([aged], types, at=now, hits={}).active[0].drawn


def test_what_a_search_found_is_marked_and_nothing_else(aged: Incident, ada: Person, browse: Open) -> None:
    lifecycle.rename(aged, title="<b>slow</b>", by=ada, at=timezone.now())
    client = browse(ada)
    assert "&lt;b&gt;slow&lt;/b&gt;</a>" in client.get("/").content.decode()
    assert "&lt;b&gt;<mark>slow</mark>&lt;/b&gt;</a>" in client.get("/?q=slow").content.decode()
    assert "<mark>" not in client.get("/").content.decode()
