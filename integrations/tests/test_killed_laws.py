"""Processes are killed at any statement or request: in the end everything is as if they had lived."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Event, Incident, Participant
from integrations.pagerduty.fake.server.answers import NotPossible
from integrations.tests import duty as standing_by
from integrations.tests.duty import Duty
from integrations.tests.mortal import Process, mortal
from integrations.tests.test_people_laws import Story, anybody, built_duty, types
from workflows.models import Effect, Page
from workflows.paging import acknowledging, poll_pages
from workflows.usergroups import workspace_cache

__all__ = ["built_duty"]  # the fixture of this module

Step = tuple[Any, ...]
WORK: Final[Step] = ("work",)
TIMES: Final = re.compile(r"\d{1,2}:\d{2}|\d{9,}(\.\d+)?")
# What a vendor tells again if no one confirms that it was heard, and what a worker takes up again.
REPEATED: Final = {"leave", "invite", "group", "poll", "work"}

steps = st.one_of(
    st.just(WORK),
    st.tuples(st.just("retype"), anybody, types),
    st.tuples(st.just("lead"), anybody, anybody),
    st.tuples(st.just("role"), anybody, anybody),
    st.tuples(st.just("bring"), anybody, anybody),
    st.tuples(st.just("update"), anybody),
    st.tuples(st.just("leave"), anybody),
    st.tuples(st.just("invite"), anybody, anybody),
    st.tuples(st.just("group"), st.sampled_from(["security", "support", "incident-response"]), anybody),
    st.tuples(st.just("poll"), st.sampled_from(["acknowledge", "resolve"])),
    st.tuples(st.just("ask"), st.sampled_from(["max", "sid"])),
    st.tuples(st.just("end"), anybody),
    st.tuples(st.just("reopen"), anybody),
)
# Each followed by a worker, most of the time.
stories = st.lists(st.tuples(steps, st.sampled_from([True, True, False])), min_size=1, max_size=5).map(
    lambda taken: [one for step, works in taken for one in ((step, WORK) if works else (step,))]
)


@dataclass
class MortalStory(Story):
    """A story in which processes die; ``deaths`` are their moments, each as the share of its step that is done.

    With ``lengths``, the moments of each step in the story in which no one dies; that one is without.
    """

    patch: pytest.MonkeyPatch
    deaths: dict[int, float]
    lengths: list[int] | None = None
    took: list[int] = field(default_factory=list)
    moved: bool = False
    polls: int = 0

    def take(self, n: int, step: Step) -> bool:
        """Take a step, in a process that may die in it; return whether it died. What was not recorded is sent again."""
        verb, *given = step
        length = self.lengths[n] if self.lengths and n in self.deaths else 0
        at = 1 + int(self.deaths[n] * length) if length else 0
        outside: Callable[..., object] = getattr(self, f"{verb}_outside", lambda *_: None)
        outside(*given)
        before = self.recorded()
        with mortal(self.patch, Process(at)) as process:
            self.play(step)
        self.took.append(process.moments)
        if process.is_dead and (verb in REPEATED or self.recorded() == before):
            self.play(step)
        if n in self.deaths or step is WORK:  # the other story settles there, too
            self.settle()
        return process.is_dead

    def recorded(self) -> tuple[int, ...]:
        """Return what tells whether a verb was recorded."""
        revision = Incident.objects.get(pk=self.incident.pk).revision
        return Event.objects.count(), Participant.objects.count(), revision

    def retype(self, by: str, to: str) -> None:  # type: ignore[override]  # by one door, and carried out later
        if self.sees(by):
            self.duty.house.confirm(self.incident, to, by=by)

    def update(self, by: str) -> None:
        if self.sees(by):
            lifecycle.update(self.incident, text="Looking at it", by=self.person(by), at=self.duty.house.now())

    def ask(self, by: str) -> None:
        """Acknowledge the newest page from here."""
        page = Page.objects.filter(incident=self.incident).order_by("pk").last()
        if page is not None:
            acknowledging.ask(self.incident, page=page.pk, by=self.person(by), at=self.duty.house.now())

    def leave_outside(self, who: str) -> None:
        self.moved = who in self.inside()
        if self.moved:
            self.duty.house.slack.acts.leave(who, self.channel())

    def leave(self, who: str) -> None:
        if self.moved:
            self.hear("left", who)

    def invite_outside(self, by: str, who: str) -> None:
        self.moved = by in self.inside() and who not in self.inside()
        if self.moved:
            self.duty.house.slack.acts.invite(by, self.channel(), [who])

    def invite(self, _by: str, who: str) -> None:
        if self.moved:
            self.hear("joined", who)

    def group_outside(self, handle: str, who: str) -> None:
        slack = self.duty.house.slack
        here = {slack.workspace.people[one].handle for one in slack.group(handle).members}
        slack.acts.set_group(handle, sorted(here ^ {who} or here))

    def group(self, _handle: str, _who: str) -> None:
        workspace_cache.refresh()

    def poll_outside(self, act: str) -> None:
        page = Page.objects.filter(incident=self.incident, number__isnull=False).order_by("pk").last()
        if page and page.is_open:
            with suppress(NotPossible):  # they have done so already
                getattr(self.duty.account.acts, act)("max", page.number)

    def poll(self, _act: str) -> None:
        self.polls += 1
        poll_pages.look_again(at=timezone.now() + timedelta(minutes=5 * self.polls))


def outcome(story: MortalStory) -> dict[str, Any]:
    """Return what everyone ends up with."""
    incident, slack = story.incident, story.duty.house.slack.workspace
    rooms = {one.external["id"]: one.key for one in incident.resources.filter(key__startswith="channel/")}
    named = {slack.channels[id].name: key for id, key in rooms.items()} | {incident.codename: "codename"}

    def plain(text: str) -> str:
        for name in sorted(named, key=len, reverse=True):
            text = text.replace(name, named[name])
        return TIMES.sub("0", text)

    found: dict[str, Any] = {}
    for one in slack.channels.values():
        said = [message for message in one.messages.values() if not message.subtype]
        found[plain(one.name)] = {
            "kind": (one.kind, one.is_archived, plain(one.topic.value), len(one.pins)),
            "members": sorted(one.members),
            "bookmarks": sorted(plain(str(bookmark["title"])) for bookmark in one.bookmarks),
            "messages": Counter((message.is_reply, plain(message.text)) for message in said),
        }
    return found | {
        "pages": Counter(story.duty.opened(incident)),
        "paged": Counter(one.user for one in story.duty.account.rang),
        "timeline": Counter((one.kind, plain(one.text)) for one in Event.objects.all()),
        "numbers": sorted(Event.objects.values_list("n", flat=True)) == list(range(1, incident.last_n + 1)),
        "not done": Counter(Effect.objects.exclude(state="done").values_list("thing", "state")),
        "inside": sorted(Participant.objects.filter(left_at=None).values_list("person__name", flat=True)),
    }


@contextmanager
def begun(built: Duty, first: str, deaths: dict[int, float], lengths: list[int] | None = None) -> Iterator[MortalStory]:
    """An incident declared and nothing of it carried out yet; all of it is rolled back afterwards."""
    with standing_by.copied(built) as duty, transaction.atomic(), pytest.MonkeyPatch.context() as patch:
        house = duty.house
        by, about = house.person("dee"), house.type(first)
        declared = lifecycle.declare("Keys leaked", by=by, at=house.now(), type=about)
        yield MortalStory(duty, declared, patch, deaths, lengths)
        transaction.set_rollback(True)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    first=types,
    taken=stories,
    deaths=st.dictionaries(st.integers(0, 10), st.floats(0, 1, exclude_max=True), min_size=2, max_size=4),
)
@example(first="major", taken=[("retype", "dee", "security"), WORK], deaths={2: 0.75})  # ended in the pager only
def test_what_was_begun_is_ended_as_if_no_one_had_died(
    built_duty: Duty, db: None, first: str, taken: list[Step], deaths: dict[int, float]
) -> None:
    taken = [WORK, *taken]
    with begun(built_duty, first, deaths) as lived:
        for n, step in enumerate(taken):
            lived.take(n, step)
        lived.settle()
        expected = outcome(lived)
    with begun(built_duty, first, deaths, lived.took) as died:
        count = sum(died.take(n, step) for n, step in enumerate(taken))
        died.settle()
        event(f"{count} died")
        assert outcome(died) == expected
