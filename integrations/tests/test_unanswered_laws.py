"""Slack does not answer, and people archive the channel before anyone can look: nothing is forgotten or said twice.

What may be readable in public is withdrawn once an incident is private, or people are told where it may stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.core.management import call_command
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.fake import FakeSlack
from integrations.slack.fake.workspace import Channel
from integrations.tests import duty as standing_by
from integrations.tests import losing
from integrations.tests.duty import Duty
from integrations.tests.test_people_laws import Story, built_duty
from workflows import tasks
from workflows.channels import room_looks, rooms
from workflows.effects import effect_queue
from workflows.effects.failing import failures, left_to_people
from workflows.models import Effect
from workflows.planning.wording import cards
from workflows.reconcile import sweep

__all__ = ["built_duty"]  # the fixture of this module

Step = tuple[Any, ...]
Refusal = tuple[str, str]  # of a method, with an error code
SECRET: Final = "Keys"
FAREWELL: Final = str(cards.farewell().text)
ANNOUNCED: Final = "incidents"
POST, TOPIC = "chat.postMessage", "conversations.setTopic"

heard = st.booleans()
acts = st.one_of(
    st.tuples(st.just("update")),
    st.tuples(st.just("rename")),
    st.tuples(st.just("private")),
    st.tuples(st.just("public")),
    st.tuples(st.just("another")),
    st.tuples(st.just("end"), st.just("dee")),
    st.tuples(st.just("reopen"), st.just("dee")),
)
methods = st.sampled_from(
    [POST, POST, TOPIC, "chat.update", "pins.add", "conversations.create", "conversations.invite"]
)
faults = st.sampled_from(["drop", "drop_before", "fatal_error"])
refusals = st.sampled_from([("*", "token_revoked"), (TOPIC, "restricted_action"), ("pins.add", "restricted_action")])


def moves(acts: st.SearchStrategy[Step]) -> st.SearchStrategy[Step]:
    """Draw what goes wrong around people's acts."""
    return st.one_of(
        st.tuples(st.just("unanswered"), methods, faults, acts, st.none() | refusals),
        st.tuples(st.just("refused"), refusals, acts),
        st.tuples(st.just("retry_failed")),
        st.tuples(st.just("settle")),
        st.tuples(st.just("forget"), acts, st.booleans()),
        st.tuples(st.just("archive"), heard),
        st.tuples(st.just("unarchive"), heard),
        st.tuples(st.just("delete")),
        st.tuples(st.just("close")),
        st.tuples(st.just("open")),
    )


steps = st.one_of(acts, moves(acts))
stories = st.lists(steps, min_size=1, max_size=8)


class Unanswered(Story):
    """A story in which answers are lost; people archive the channels in use."""

    texts: int = 0

    @property
    def slack(self) -> FakeSlack:
        return self.duty.house.slack

    def unanswered(self, method: str, fault: str, act: Step, refusal: Refusal | None = None) -> None:
        """Carry out what follows from an act; Slack answers none of these calls, whether it does what they ask.

        It may refuse others, which is reported in a message that it may not answer either.
        """
        self.play(act)
        if refusal is not None:
            self.slack.faults.add("error", method=refusal[0], error=refusal[1], times=99)
        self.slack.faults.add(fault, method=method, times=99)
        self.work()
        self.work()
        self.slack.faults.clear()

    def refused(self, refusal: Refusal, act: Step) -> None:
        """Carry out what follows from an act; Slack refuses what it asks, or everything, as for a revoked token."""
        method, code = refusal
        self.play(act)
        self.slack.faults.add("error", method=method, error=code, times=999)
        super().settle()
        self.slack.faults.clear()

    def retry_failed(self) -> None:
        """Press *Retry* at everything that failed."""
        failures.retry_all(Effect.objects.filter(incident=self.incident, state="failed"), at=timezone.now())

    def forget(self, act: Step, ends: bool) -> None:
        """Carry out what follows from an act; then the database is restored to how it was when that was owed.

        With ``ends``, people archived the channel before that.
        """
        self.play(act)
        with losing.lost():
            super().settle()
            if ends:
                self.archive(heard=True)
        call_command("restored")

    def nothing(self) -> None:
        """Go on with what is owed."""

    def settle(self) -> None:
        super().settle()
        self.look()
        super().settle()
        at = timezone.now()
        assert self.incident.pk not in [*sweep.unplanned(at=at), *sweep.due(at=at, kinds=effect_queue.HASTY)], "endless"
        self.check()

    def update(self) -> None:
        self.texts += 1
        lifecycle.update(
            self.incident, text=f"{SECRET} of {self.texts}", by=self.person("dee"), at=self.duty.house.now()
        )

    def archive(self, heard: bool) -> None:
        self._archived(self.room(), archived=True, heard=heard)

    def unarchive(self, heard: bool) -> None:
        self._archived(self.room(), archived=False, heard=heard)

    def _archived(self, channel: Channel | None, *, archived: bool, heard: bool) -> None:
        if channel is None or channel.is_archived == archived:
            return
        if archived and "dee" not in self.slack.members(channel.name):
            self.slack.acts.join("dee", channel.name)
        (self.slack.acts.archive if archived else self.slack.acts.unarchive)("dee", channel.name)
        if heard:
            rooms.archived_by_hand(channel.id, archived=archived, at=timezone.now())

    def delete(self) -> None:
        channel = self.room()
        if channel is not None:
            self.slack.acts.delete_channel("max", channel.name)
            rooms.deleted(channel.id, at=timezone.now())

    def close(self) -> None:
        if not self.slack.channel(ANNOUNCED).is_archived:
            self.slack.acts.archive("dee", ANNOUNCED)

    def open(self) -> None:
        self.slack.acts.unarchive("dee", ANNOUNCED)

    def another(self) -> None:
        rooms.open_another(self.incident, by=self.person("dee"), at=self.duty.house.now())

    def private(self) -> None:
        self.duty.house.confirm(self.incident, "security")

    def public(self) -> None:
        self.duty.house.confirm(self.incident, "ambiguous")

    def rename(self) -> None:
        self.texts += 1
        lifecycle.rename(
            self.incident, title=f"{SECRET} leaked {self.texts}", by=self.person("dee"), at=self.duty.house.now()
        )

    def is_told(self, what: str, channel: Channel) -> bool:
        numbers = [number for number, one in self.rooms().items() if one is channel]
        return self.incident.resources.filter(key__in=[f"gap/{what}/{number}" for number in numbers]).exists()

    def look(self) -> None:
        """Look at the channels, as some worker does in turn."""
        for id in self.incident.resources.filter(kind="channel").values_list("external_id", flat=True):
            room_looks.look(self.duty.house.chat, id, at=timezone.now())

    def room(self) -> Channel | None:
        """Return the newest of the incident's public channels."""
        found = list(self.rooms().values())
        return found[-1] if found else None

    def rooms(self) -> dict[int | str, Channel]:
        """Return the incident's public channels, by number; one may not be known to us yet."""
        ids = {one.external_id: one.room or 1 for one in self.incident.resources.filter(kind="channel")}
        ours = (one for one in self.slack.workspace.channels.values() if self.incident.codename in one.name)
        return {ids.get(one.id, one.id): one for one in ours if not one.is_private}

    def check(self) -> None:
        """Check that nothing is said twice, and that what anyone can still read of a private incident is told."""
        public = self.rooms()
        announced = self.slack.channel(ANNOUNCED)
        for channel in (*public.values(), announced):
            said = Counter(kind for text in shown(channel) if (kind := what_it_is(text, self.incident)))
            assert not said or max(said.values()) == 1, (channel.name, said)
        if not self.incident.private:
            return
        told = {*self.incident.resources.filter(kind="gap").values_list("key", flat=True)}
        failed = {*Effect.objects.filter(incident=self.incident, state="failed").values_list("room", flat=True)}
        for number, channel in public.items():
            if tells(channel):
                is_failed = not channel.is_archived and number in failed
                says_so = told & {f"gap/kept/{number}", f"gap/outside/{number}"}
                assert says_so or is_failed, (channel.name, shown(channel), told)
        if any(self.incident.codename in text for text in shown(announced)):
            assert None in failed, shown(announced)

    def do_as_told(self) -> None:
        """Unarchive the channels that may say what it is about, and invite the app again."""
        for channel in self.rooms().values():
            if tells(channel) or self.is_told("kept", channel):
                event("unarchived at the end")
                self._archived(channel, archived=False, heard=False)
            if "firekind" not in self.slack.members(channel.name) and self.is_told("outside", channel):
                event("invited at the end")
                self.slack.acts.invite("dee", channel.name, ["firekind"])

    def end_all(self) -> None:
        """Become private; then people do what they are told, and retry what failed."""
        self.settle()
        if not self.incident.is_active:
            self.play(("reopen", "dee"))
        if not self.incident.private:
            self.play(("private",))
        self.settle()
        self.open()
        for _ in range(3):
            self.retry_failed()
            tasks.try_announcements()
            self.settle()
            self.do_as_told()
        self.settle()
        assert not [text for one in self.rooms().values() for text in shown(one) if SECRET in text]
        assert not [one.topic.value for one in self.rooms().values() if SECRET in one.topic.value]
        assert not [text for text in shown(self.slack.channel(ANNOUNCED)) if self.incident.codename in text]
        owed = Effect.objects.filter(incident=self.incident).exclude(state__in=["done", "cancelled"])
        assert not owed.exclude(left_to_people.LEFT_TO_PEOPLE).exists()


def shown(channel: Channel) -> list[str]:
    return [one.text for one in channel.messages.values() if not one.is_system]


def tells(channel: Channel) -> bool:
    """Return whether anyone can read what the incident is about."""
    return SECRET in channel.topic.value or any(SECRET in text for text in shown(channel))


def what_it_is(text: str, incident: Incident) -> str:
    """Return what a message is, if a second one of its sort would be one too many; empty for any other."""
    if (update := re.search(rf"{SECRET} of \d+", text)) and "Type: " not in text:
        return update[0]
    if "Type: " in text:
        return "headline"
    if text == FAREWELL:
        return text
    return "announcement" if incident.codename in text and "Lead" in text else ""


@contextmanager
def begun(built: Duty, first: str) -> Iterator[Unanswered]:
    """An incident declared and nothing of it carried out yet; all of it is rolled back afterwards."""
    with standing_by.copied(built) as duty, transaction.atomic():
        house = duty.house
        declared = lifecycle.declare(f"{SECRET} leaked", by=house.person("dee"), at=house.now(), type=house.type(first))
        duty.house.slack.person("max").is_owner = True
        yield Unanswered(duty, declared)
        transaction.set_rollback(True)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    first=st.sampled_from(["ambiguous", "major", "internal"]),
    method=methods,
    fault=faults,
    refusal=st.none() | refusals,
    taken=stories,
)
@example(
    first="ambiguous", method=POST, fault="drop", refusal=None, taken=[("archive", True), ("settle",), ("private",)]
)
@example(
    first="ambiguous", method=POST, fault="drop", refusal=None, taken=[("archive", False), ("settle",), ("private",)]
)
@example(
    first="ambiguous", method=TOPIC, fault="drop", refusal=None, taken=[("archive", True), ("settle",), ("private",)]
)
@example(
    first="ambiguous",
    method=POST,
    fault="drop",
    refusal=None,
    taken=[("close",), ("settle",), ("delete",), ("another",)],
)
@example(first="ambiguous", method=POST, fault="drop", refusal=None, taken=[("forget", ("private",), False)])
@example(
    first="ambiguous",
    method=POST,
    fault="drop",
    refusal=None,
    taken=[("forget", ("private",), False), ("unarchive", False)],
)
@example(
    first="ambiguous",
    method=POST,
    fault="drop",
    refusal=(TOPIC, "restricted_action"),
    taken=[("archive", True), ("settle",)],
)
@example(
    first="ambiguous",
    method="conversations.create",
    fault="drop",
    refusal=None,
    taken=[("forget", ("nothing",), True), ("refused", ("*", "token_revoked"), ("private",)), ("retry_failed",)],
)
def test_what_went_unanswered_is_neither_forgotten_nor_said_twice(
    built_duty: Duty,
    db: None,
    *,
    first: str,
    method: str,
    fault: str,
    refusal: Refusal | None,
    taken: list[Step],
) -> None:
    with begun(built_duty, first) as story:
        story.play(("unanswered", method, fault, ("nothing",), refusal))
        for step in taken:
            story.play(step)
            event(step[0])
        story.end_all()
