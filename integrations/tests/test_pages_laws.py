"""Laws of paging, over the whole house: verbs, news in any order, faults, and workers that lose track."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import transaction
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Event, Incident
from integrations.pagerduty import fake
from integrations.pagerduty.fake import NotPossible, PendingDelivery
from integrations.pagerduty.tasks import _take_all as act_on_webhooks
from integrations.pagerduty.tests.straight import SETUP
from integrations.tests import duty as building
from integrations.tests.duty import ON_CALL, Duty
from workflows.models import Effect, Page
from workflows.paging import paging, poll_pages

TYPES = ["ambiguous", "internal", "security", "isolated", "major", "time-bomb"]
FAULTS: list[str] = ["ratelimited", "server_error", "error_after", "drop", "drop_before", "timeout"]
ACTS = ["acknowledge", "unacknowledge", "resolve", "reopen"]
# Other things people do to a page in the pager, and the webhook news about each, told once.
MORE = {
    "escalate": "",
    "note": "noted",
    "status_update": "updated",
    "add_responder": "asked",
    "reply": "joined",
    "merge": "",
}
SECRET = "webhook-secret"
GIVEN: Any = SETUP  # has the fields of the settings

steps = st.one_of(
    st.tuples(st.just("retype"), st.sampled_from(TYPES)),
    st.tuples(st.just("act"), st.tuples(st.sampled_from(ACTS), st.integers(0, 9))),
    st.tuples(st.just("more"), st.tuples(st.sampled_from([*MORE]), st.sampled_from(["max", "eve"]), st.integers(0, 9))),
    st.tuples(st.just("deliver"), st.tuples(st.integers(0, 99), st.booleans())),
    st.tuples(st.just("fault"), st.tuples(st.sampled_from(FAULTS), st.sampled_from(["POST", "PUT", "GET"]))),
    st.tuples(st.just("away"), st.booleans()),
    st.tuples(st.just("page"), st.sampled_from(sorted(ON_CALL))),
    st.tuples(st.just("over"), st.booleans()),
    st.tuples(st.just("settle"), st.integers(1, 3)),
    st.tuples(st.just("forget"), st.integers(0, 9)),
    st.tuples(st.just("poll"), st.none()),
    st.tuples(st.just("wait"), st.sampled_from([5, 31, 241])),  # minutes
)


@dataclass(slots=True)
class Night:
    """One incident and all that happens to it; ``waiting`` are webhooks on their way, ``acts`` what people did."""

    duty: Duty
    incident: Incident
    waiting: list[PendingDelivery] = field(default_factory=list)
    acts: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)

    def take(self, verb: str, given: object) -> None:
        """Let one thing happen, unless the lifecycle or the account refuses it."""
        try:
            getattr(self, verb)(given)
        except (lifecycle.Refused, NotPossible):
            return
        finally:
            self.waiting += self.duty.account.take_deliveries()
            self.incident = Incident.objects.select_related("type", "policy_version", "lead").get(pk=self.incident.pk)

    def retype(self, slug: str) -> None:
        if self.incident.type.slug != slug:
            lifecycle.retype(self.incident, to=self.duty.house.type(slug), by=None, at=self.duty.house.now())

    def act(self, given: tuple[str, int]) -> None:
        what, which = given
        ours = self._ours()
        if ours:
            getattr(self.duty.account.acts, what)("max", ours[which % len(ours)].number)
            self.acts[what] += 1

    def more(self, given: tuple[str, str, int]) -> None:
        """Let someone do any other act to one of the pages."""
        what, who, which = given
        ours, every = self._ours(), [*self.duty.account.account.incidents.values()]
        if not ours:
            return
        number = ours[which % len(ours)].number
        words = {"note": ["seen"], "status_update": ["we look"], "add_responder": ["eve"]}
        if what == "merge":
            self.duty.account.acts.merge(who, every[which % len(every)].number, number)
            self.acts["resolve"] += 1
        else:
            getattr(self.duty.account.acts, what)(who, number, *words.get(what, ()))
        self.acts[what] += 1

    def pass_on(self, given: tuple[str, int]) -> None:
        to, which = given
        ours = self._ours()
        if ours:
            self.duty.account.acts.reassign("max", ours[which % len(ours)].number, to)

    def wait(self, minutes: int) -> None:
        """Let minutes pass at PagerDuty: acknowledgements expire after half an hour, pages end after four hours."""
        for moved in self.duty.account.acts.pass_time(minutes):
            self.acts["unacknowledge"] += moved.log[-1].type == "unacknowledge_log_entry"
            self.acts["resolve"] += moved.log[-1].type == "resolve_log_entry"

    def deliver(self, given: tuple[int, bool]) -> None:
        which, twice = given
        if self.waiting:
            one = self.waiting[which % len(self.waiting)]
            self.send(one)
            if not twice:
                self.waiting.remove(one)

    def send(self, delivery: PendingDelivery) -> None:
        headers, body = fake.signed(delivery, [SECRET])
        answer = Client().post("/pagerduty/webhook", body, content_type="application/json", headers=headers)
        assert answer.status_code in {200, 202}, answer.content
        act_on_webhooks()

    def fault(self, given: tuple[str, str]) -> None:
        kind, method = given
        self.duty.account.faults.add(kind, method=method, path="/incidents*", times=1)

    def away(self, gone: bool) -> None:
        self.duty.pager.rest.is_down = gone

    def page(self, name: str) -> None:
        (choice,) = [one for one in paging.choices(self.incident) if one.name == name and one.kind != "service"]
        paging.ask(self.incident, target=choice.target, by=None, at=self.duty.house.now())
        self.asked[choice.target] += 1

    def over(self, ended: bool) -> None:
        verb = lifecycle.resolve if ended else lifecycle.reopen
        verb(self.incident, by=None, at=self.duty.house.now())

    def settle(self, rounds: int) -> None:
        self.duty.house.settle(self.incident, rounds=rounds)

    def forget(self, which: int) -> None:
        """A worker dies after its call and before recording it."""
        done = Effect.objects.filter(incident=self.incident, kind="page", verb="create", state="waiting")
        for effect in done[which : which + 1]:
            Effect.objects.filter(pk=effect.pk).update(unsure=True)

    def poll(self, _: object) -> None:
        Page.objects.update(looked_at=None)
        poll_pages.look_again(at=timezone.now())

    def calm(self, order: random.Random) -> None:
        """Everything works again, and everything arrives, some of it twice."""
        self.duty.account.faults.clear()
        self.duty.pager.rest.is_down = False
        for _ in range(4):
            self.settle(10)
            self.waiting += self.duty.account.take_deliveries()
            if not self.waiting and not self.duty.house.owed(self.incident):
                break  # another round would find the same
            order.shuffle(self.waiting)
            for one in [*self.waiting, *self.waiting[:3]]:
                self.send(one)
            self.waiting.clear()
        self.incident = Incident.objects.get(pk=self.incident.pk)

    def live_through(self, story: list[tuple[str, Any]], order: random.Random) -> None:
        """Take the steps one by one, and let everything arrive."""
        for verb, value in story:
            self.take(verb, value)
        self.calm(order)

    def _ours(self) -> list[fake.Incident]:
        keys = set(Page.objects.filter(incident=self.incident).values_list("dedup_key", flat=True))
        return [one for one in self.duty.account.account.incidents.values() if one.key in keys or one.key is None]


@contextmanager
def night(built: Duty, first: str) -> Iterator[Night]:
    """One incident, declared and settled, with webhooks arriving; all of it is rolled back afterwards."""
    with pytest.MonkeyPatch.context() as patch, transaction.atomic():
        patch.setattr(django_settings, "FIREKIND", replace(django_settings.FIREKIND, pagerduty=GIVEN))
        with building.copied(built) as duty:
            last = time.time()

            def clock() -> float:
                nonlocal last
                last = max(last + 0.002, time.time())
                return last

            duty.account.now = clock  # no two things happen at the same time
            duty.account.add_subscription(secret=SECRET)
            for service in duty.account.account.services.values():
                service.acknowledgement_timeout = 30 * 60
                service.auto_resolve_timeout = 4 * 60 * 60
            yield Night(duty, duty.house.declare(type=first))
        transaction.set_rollback(True)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    first=st.sampled_from(TYPES),
    story=st.lists(steps, min_size=3, max_size=20),
    order=st.randoms(use_true_random=False),
)
def test_whatever_happens_no_more_is_paged_than_was_asked_for_and_the_timeline_is_true(
    built_duty: Duty, db: None, first: str, story: list[tuple[str, object]], order: random.Random
) -> None:
    with night(built_duty, first) as found:
        found.live_through(story, order)
        account = {one.key: one for one in found.duty.account.account.incidents.values()}
        pages = list(Page.objects.filter(incident=found.incident))

        opened = Counter(one.key for one in found.duty.account.account.incidents.values())
        assert max(opened.values(), default=1) == 1, "one page for each incident, target and asking"
        turns = Counter(page.target for page in pages)
        withdrawn = Counter(page.target for page in pages if page.withdrawn_at)
        assert all(count <= 1 + found.asked[target] + withdrawn[target] for target, count in turns.items())
        still_open = Counter(page.target for page in pages if page.is_open)
        assert max(still_open.values(), default=0) <= 1 + found.acts["reopen"], "one open page for each target"
        assert {page.dedup_key for page in pages} == set(account)
        for page in pages:
            assert page.status == account[page.dedup_key].status, page
        if not found.incident.is_active:
            assert {page.status for page in pages} <= {"resolved"}
        _is_true(found)


def _is_true(found: Night) -> None:
    """Check that the timeline reports people's acts truthfully, at most as often as they happened, and completely."""
    told: Counter[str] = Counter()
    for event in Event.objects.filter(incident=found.incident, kind="page"):
        told[str(event.data.get("news", ""))] += 1
    did = {
        "acknowledge": "acknowledged",
        "unacknowledge": "unacknowledged",
        "resolve": "resolved",
        "reopen": "reopened",
    }
    for act, news in did.items():
        assert told[news] <= found.acts[act], (news, told, found.acts)
    assert told["acknowledged"] == found.acts["acknowledge"]
    for act, news in MORE.items():
        assert not news or told[news] == found.acts[act], (act, told, found.acts)
    resolved = [entry.type for one in found.duty.account.account.incidents.values() for entry in one.log]
    by_us = resolved.count("resolve_log_entry") - found.acts["resolve"]
    said = Event.objects.filter(incident=found.incident, kind="page", text__startswith="resolved the page to ")
    assert said.exclude(data__has_key="news").count() <= by_us, "we say that we ended what we did end"
    paged = [e.text for e in Event.objects.filter(incident=found.incident, kind="page") if e.text.startswith("paged ")]
    assert len(paged) == Page.objects.filter(incident=found.incident).count()
