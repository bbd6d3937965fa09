"""PagerDuty carries out late an acknowledgement or an end that it never answered, while people act there, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.test import Client
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from incidents.models import Event
from integrations.pagerduty import fake
from integrations.pagerduty.fake import NotPossible
from integrations.pagerduty.tasks import _take_all as act_on_webhooks
from integrations.tests import test_late_laws
from integrations.tests.duty import Duty
from integrations.tests.late_house import NEVER
from integrations.tests.test_late_laws import LateStory, Step
from integrations.tests.test_pages_laws import SECRET as SIGNED
from integrations.tests.test_people_laws import built_duty
from workflows.models import Page
from workflows.paging import acknowledging, apply_page_event

__all__ = ["built_duty"]  # the fixture of this module

anybody = st.sampled_from(["max", "max", "sid", "eve", "dee", "out"])
callees = st.sampled_from(["max", "sid", "eve"])
acts = st.one_of(
    st.tuples(st.just("press"), anybody),
    st.tuples(st.just("press"), st.just("max")),
    st.tuples(
        st.just("outside"),
        callees,
        st.sampled_from(["acknowledge", "unacknowledge", "resolve", "resolve", "reopen", "escalate", "reassign"]),
    ),
    st.tuples(st.just("to"), st.just("dee"), st.sampled_from(["security", "major", "major", "internal"])),
    st.tuples(st.just("end"), st.just("dee")),
    st.tuples(st.just("again"), st.just("dee")),
    st.just(("nothing",)),
)
holds = st.sampled_from([0, 5, 16, 31, 44, NEVER])
silences = st.tuples(
    st.just("silent"),
    st.tuples(st.sampled_from(["PUT /incidents/*", "PUT /incidents/*", "P* /*"]), holds, st.sampled_from([1, 2, 99])),
    acts,
    st.sampled_from([False, False, True]),
)
steps = st.one_of(
    acts, silences, silences, st.tuples(st.just("wait"), st.sampled_from([1, 5, 12, 20, 50])), st.just(("settle",))
)


UNANSWERED: Step = ("silent", ("PUT /incidents/*", 31, 1), ("press", "max"), False)


@dataclass
class PagedStory(LateStory):
    """A story in which people acknowledge pages from here, and do what they like in PagerDuty."""

    outside_acts: Counter[str] = field(default_factory=Counter)
    pressed: Counter[str] = field(default_factory=Counter)
    hears: bool = False

    def play(self, step: Step) -> None:
        super().play(step)
        self.deliver()

    def wait(self, seconds: int) -> None:
        super().wait(seconds)
        self.deliver()

    def deliver(self) -> None:
        """Let PagerDuty's webhooks arrive, if they do here."""
        for one in self.duty.account.take_deliveries() if self.hears else ():
            headers, body = fake.signed(one, [SIGNED])
            Client().post("/pagerduty/webhook", body, content_type="application/json", headers=headers)
            act_on_webhooks()

    def pages(self) -> list[Page]:
        return list(Page.objects.filter(incident=self.incident).order_by("pk"))

    def press(self, by: str) -> None:
        for page in self.pages()[::-1]:
            if self.sees(by):
                answer = acknowledging.ask(self.incident, page=page.pk, by=self.person(by), at=self.late.vendors.now)
                self.pressed[by] += answer.begun
                return

    def outside(self, who: str, what: str) -> None:
        ours = self.in_pager()
        if ours:
            given = ["eve" if who != "eve" else "max"] if what == "reassign" else []
            try:
                getattr(self.duty.account.acts, what)(who, ours[-1].number, *given)
            except NotPossible:
                return
            self.outside_acts[what] += 1
            if what == "acknowledge":
                self.outside_acts[f"acknowledge by {who}"] += 1

    def in_pager(self) -> list[Any]:
        return [one for one in self.duty.account.account.incidents.values() if one.key and "firekind" in one.key]

    def check_pages(self) -> None:
        account = self.in_pager()
        by_id = {one.id: one for one in account}
        logs = [(one.status, [entry.type for entry in one.log]) for one in account]
        for page in self.pages():
            if page.pager_id:
                assert page.status == by_id[page.pager_id].status, (page.status, logs)
        open_ones = [one for one in account if one.is_open]
        wanted = self.incident.is_active and self.incident.type.slug in {"major", "security"}
        assert len(open_ones) <= 1 + self.outside_acts["reopen"], logs
        if not self.outside_acts["reopen"]:
            kept = self.incident.is_active and all(one.status == "acknowledged" for one in open_ones)
            assert wanted or kept or not open_ones, ("open though nothing asks for it", logs)
            if [one for one in open_ones if "resolve_log_entry" in [entry.type for entry in one.log]]:
                told = [one.text for one in Event.objects.filter(incident=self.incident, kind="page").order_by("n")]
                assert apply_page_event.REOPENED_LATE.format(page=self.pages()[-1].name) in told, (logs, told)
        if not self.outside_acts and not self.pressed:
            assert len(open_ones) == int(wanted), logs
        acked = Counter(
            entry.agent["summary"].casefold()
            for one in account
            for entry in one.log
            if entry.type == "acknowledge_log_entry"
        )
        for who, times in acked.items():
            assert times <= self.pressed[who] + self.outside_acts[f"acknowledge by {who}"], (acked, self.pressed, logs)

    def end_all(self) -> None:
        self.settle()
        self.play(("end", "dee"))
        self.settle()


@contextmanager
def begun(built: Duty, first: str, *, hears: bool) -> Iterator[PagedStory]:
    """An incident declared and settled; all of it is rolled back afterwards."""
    with test_late_laws.begun(built, first) as story:
        story.duty.account.add_subscription(secret=SIGNED)
        made = PagedStory(story.duty, story.incident, story.late, story.other, hears=hears)
        made.settle()
        yield made


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    hears=st.booleans(),
    first=st.sampled_from(["major", "major", "security"]),
    taken=st.lists(steps, min_size=2, max_size=8),
)
@example(hears=False, first="major", taken=[UNANSWERED, ("end", "dee"), ("settle",)])
@example(hears=True, first="major", taken=[UNANSWERED, ("end", "dee"), ("settle",)])
@example(hears=False, first="major", taken=[UNANSWERED, ("outside", "max", "resolve"), ("settle",)])
@example(hears=True, first="major", taken=[UNANSWERED, ("outside", "max", "resolve"), ("settle",)])
@example(hears=True, first="major", taken=[UNANSWERED, ("outside", "max", "resolve"), ("end", "dee"), ("settle",)])
def test_a_page_that_ended_is_opened_again_by_no_acknowledgement_that_people_are_not_told_of(
    built_duty: Duty, db: None, *, hears: bool, first: str, taken: list[Step]
) -> None:
    with begun(built_duty, first, hears=hears) as story:
        for step in taken:
            story.play(step)
            event(step[0])
        story.end_all()
