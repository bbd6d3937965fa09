"""Everyone who was paged can acknowledge from here: once, as themselves, whatever happens; no one else can."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents import visibility
from incidents.models import Event, Incident, Person
from integrations.tests.duty import ON_CALL, Duty
from integrations.tests.test_pages_laws import ACTS, FAULTS, TYPES, Night, night
from workflows.models import Effect, Page, PagerUser

WHO = [*ON_CALL.values(), "dee", "out"]  # the last is not in the pager

steps = st.one_of(
    st.tuples(st.just("press"), st.tuples(st.sampled_from(WHO), st.integers(0, 9), st.booleans())),
    st.tuples(st.just("press"), st.tuples(st.just("max"), st.integers(0, 9), st.booleans())),
    st.tuples(st.just("become_guest"), st.sampled_from(WHO)),
    st.tuples(st.just("retype"), st.sampled_from(TYPES)),
    st.tuples(st.just("act"), st.tuples(st.sampled_from(ACTS), st.integers(0, 9))),
    st.tuples(st.just("pass_on"), st.tuples(st.sampled_from([*ON_CALL.values(), "dee"]), st.integers(0, 9))),
    st.tuples(st.just("deliver"), st.tuples(st.integers(0, 99), st.booleans())),
    st.tuples(st.just("fault"), st.tuples(st.sampled_from(FAULTS), st.sampled_from(["PUT", "PUT", "GET"]))),
    st.tuples(st.just("away"), st.booleans()),
    st.tuples(st.just("over"), st.booleans()),
    st.tuples(st.just("settle"), st.integers(1, 3)),
    st.tuples(st.just("forget"), st.integers(0, 9)),
    st.tuples(st.just("poll"), st.none()),
    st.tuples(st.just("wait"), st.sampled_from([5, 31])),
)


@dataclass(slots=True)
class Watch(Night):
    """A night in which people press *Acknowledge*; ``wished`` are the emails of those who may, by page and turn."""

    wished: dict[tuple[int, int], str] = field(default_factory=dict)

    def press(self, given: tuple[str, int, bool]) -> None:
        who, which, twice = given
        person, pages = self.duty.house.person(who), list(Page.objects.filter(incident=self.incident).order_by("pk"))
        if not pages:
            return
        page = pages[which % len(pages)]
        before, may = page.ack_turn, self._may(person, page)
        for _ in range(1 + twice):
            sees = visibility.may_see(person, Incident.objects.get(pk=self.incident.pk))
            answer = signed_in(person).post(f"/incidents/{self.incident.codename}/pages/{page.pk}/acknowledge")
            assert answer.status_code == (302 if sees else 404), who
        page.refresh_from_db()
        assert page.ack_turn <= before + may, f"{who}: nobody else can, and pressed twice is once"
        if page.ack_turn > before:
            assert page.ack_asked_by == person
            self.wished[page.pk, page.ack_turn] = PagerUser.objects.get(person=person).email

    def become_guest(self, who: str) -> None:
        Person.objects.filter(pk=self.duty.house.person(who).pk).update(is_guest=True)

    def forget(self, which: int) -> None:
        """A worker dies after its call and before recording it."""
        owed = Effect.objects.filter(incident=self.incident, kind="acknowledged", state="waiting")
        for effect in owed[which : which + 1]:
            Effect.objects.filter(pk=effect.pk).update(unsure=True)

    def _may(self, person: Person, page: Page) -> bool:
        known = PagerUser.objects.filter(person=person, pager_id__in=page.rung_ids).exists()
        return known and person.can_join and visibility.may_see(person, self.incident)


def signed_in(person: Person) -> Client:
    if person.user is None:
        person.user = User.objects.create_user(f"user-{person.pk}")
        Person.objects.filter(pk=person.pk).update(user=person.user)
    client = Client()
    client.force_login(person.user)
    return client


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    first=st.sampled_from(["major", "major", "security", "isolated"]),
    story=st.lists(steps, min_size=3, max_size=18),
    order=st.randoms(use_true_random=False),
)
def test_it_is_acknowledged_once_by_the_one_who_pressed_and_told_once(
    built_duty: Duty, db: None, first: str, story: list[tuple[str, Any]], order: random.Random
) -> None:
    with night(built_duty, first) as made:
        found = Watch(made.duty, made.incident)
        found.live_through(story, order)
        account = {one.id: one for one in found.duty.account.account.incidents.values()}
        pages = {page.pager_id: page for page in Page.objects.filter(incident=found.incident)}

        sent = [call for call in found.duty.account.writes() if _acknowledges(call.body) and call.done]
        by_page: dict[int, list[str]] = {}
        for call in sent:
            by_page.setdefault(pages[call.path.rpartition("/")[2]].pk, []).append(call.sender)
        for pk, senders in by_page.items():
            asked = [email for (page, _), email in sorted(found.wished.items()) if page == pk]
            assert not Counter(senders) - Counter(asked), "each wish is carried out once, in the name of whose it is"
        assert all(page.status == account[page.pager_id].status for page in pages.values())
        assert not Effect.objects.filter(incident=found.incident, kind="acknowledged", state__in=["waiting", "running"])

        told = Counter(
            str(one.data.get("news", "")) for one in Event.objects.filter(incident=found.incident, kind="page")
        )
        assert told["acknowledged"] == found.acts["acknowledge"] + len(sent), "the timeline says each of them once"
        assert told["reopened"] <= found.acts["reopen"], "nothing that was resolved rings again"


def _acknowledges(body: Any) -> bool:
    return isinstance(body, dict) and body.get("incident", {}).get("status") == "acknowledged"


@pytest.mark.parametrize("begins_ms", range(0, 1000, 100))
@pytest.mark.parametrize("apart_ms", [5, 70, 330])
def test_what_the_pager_times_in_two_different_seconds_is_told_once(
    built_duty: Duty, db: None, apart_ms: int, begins_ms: int
) -> None:
    with night(built_duty, "major") as made:
        ticks = count(int(made.duty.account.now() + 1) * 1000 + begins_ms, apart_ms)
        made.duty.account.now = lambda: next(ticks) / 1000
        Watch(made.duty, made.incident).live_through([("press", ("max", 0, False))], random.Random(1))
        assert Event.objects.filter(incident=made.incident, kind="page", data__news="acknowledged").count() == 1
