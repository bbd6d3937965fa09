"""A vendor carries out late what it never answered: nothing is done twice, forgotten, or left where anyone reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.core.management import call_command
from django.db import transaction
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Event, Followup, Incident, Person
from integrations.tests import losing
from integrations.tests.duty import Duty
from integrations.tests.late_house import NEVER, LateHouse, Silence, late_house
from integrations.tests.test_people_laws import built_duty
from integrations.tests.test_unanswered_laws import ANNOUNCED, SECRET, Unanswered
from integrations.trackers.fake.board import BoardTicket
from integrations.trackers.tests.board import VENDORS
from workflows.channels import came_back, rooms
from workflows.effects.failing import left_to_people
from workflows.models import Effect
from workflows.paging import forgotten
from workflows.reconcile import retyping

__all__ = ["built_duty"]  # the fixture of this module

Step = tuple[Any, ...]
GUEST, GONE = "eli", "leo"  # somebody from outside who may take part; somebody who left the workspace
TYPES: Final = ("security", "security", "major", "internal", "ambiguous")
CHAT, PAGER, TRACKER = (0, 5, 16, 31, 44, NEVER), (0, 16, 44, NEVER), (0, 5, 31, 60, 74, NEVER)
# Requests that may go unanswered, for how long they may be held, and what people do that leads to them.
REQUESTS: Final = (
    ("chat.postMessage", CHAT, ("say", "to", "nothing")),
    ("chat.update", CHAT, ("title", "say", "to", "end")),
    ("chat.*", CHAT, ("title", "say", "to")),
    ("conversations.setTopic", CHAT, ("title", "to", "nothing")),
    ("conversations.*", CHAT, ("to", "nothing", "another")),
    ("POST /incidents", PAGER, ("to", "nothing", "again")),
    ("P* /*", PAGER, ("to", "title", "end", "again", "merge")),
    ("POST tracker", TRACKER, ("add", "to")),
    ("PATCH tracker", TRACKER, ("reword", "finish", "to")),
)
FAULTS: Final = {
    "slack": ("drop", "drop_before", "fatal_error", "server_error", "ratelimited"),
    "account": ("drop", "drop_before", "error_after", "server_error", "ratelimited"),
    "board": ("lost", "refused", "broken", "down", "limited"),
}

anybody = st.sampled_from(["dee", "dee", "dee", "ann", "ann", GUEST, GONE, "out"])
types = st.sampled_from(TYPES)


def act(verb: str) -> st.SearchStrategy[Step]:
    """Return the strategy for anybody doing something."""
    if verb in {"another", "nothing"}:
        return st.tuples(st.just(verb))
    return st.tuples(st.just(verb), anybody, types) if verb == "to" else st.tuples(st.just(verb), anybody)


def silent(name: str, holds: tuple[int, ...], verbs: tuple[str, ...]) -> st.SearchStrategy[Step]:
    """Return the strategy for one sort of requests that go unanswered."""
    about = st.tuples(st.just(name), st.sampled_from(holds), st.sampled_from([1, 2, 99]))
    kills = st.sampled_from([False, False, True])
    return st.tuples(st.just("silent"), about, st.sampled_from(verbs).flatmap(act), kills)


acts = st.one_of(
    st.sampled_from(["say", "title", "add", "reword", "finish", "end", "again", "merge", "close", "another"]).flatmap(
        act
    ),
    act("to"),
    act("to"),
    st.tuples(st.just("both"), anybody, types, anybody, types),
)
silences = st.sampled_from(REQUESTS).flatmap(lambda one: silent(*one))
faults = st.sampled_from(sorted(FAULTS)).flatmap(lambda one: st.tuples(st.just(one), st.sampled_from(FAULTS[one])))
waits = st.tuples(st.just("wait"), st.sampled_from([1, 12, 20, 50]))
steps = st.one_of(
    acts,
    silences,
    waits,
    st.tuples(st.just("settle")),
    st.tuples(st.just("faulty"), faults, acts),
    st.tuples(st.just("lose"), acts, st.booleans()),
    st.tuples(st.just("archive"), st.booleans()),
    st.tuples(st.just("unarchive"), st.booleans()),
)
decisive = st.one_of(
    st.tuples(st.just("to"), st.just("dee"), types),
    st.tuples(st.sampled_from(["end", "again", "title", "finish"]), st.just("dee")),
    steps,
)
# Something goes unanswered, and something decisive happens before it may be carried out.
chapters = st.tuples(silences, st.one_of(waits, st.just(("nothing",))), decisive)
begins = st.sampled_from([[("settle",)], [("settle",), ("add", "dee"), ("settle",)], []])
stories = st.tuples(begins, chapters, st.lists(st.one_of(chapters, st.tuples(steps)), max_size=3)).map(
    lambda parts: [*parts[0], *parts[1], *(step for part in parts[2] for step in part)]
)


@dataclass
class LateStory(Unanswered):
    """A story in which vendors carry out late what they never answered, and anybody may act."""

    late: LateHouse
    other: Incident
    lost: bool = False
    archives: bool = False
    withdrawn: bool = False  # in the time that a restore lost: that stays so

    def play(self, step: Step) -> None:
        """Take one step now, unless the domain refuses it."""
        house, vendors = self.duty.house, self.late.vendors
        house.clock = vendors.now - timedelta(minutes=1)
        try:
            super().play(step)
        finally:
            vendors.now = max(vendors.now, house.clock) + timedelta(seconds=1)

    def work(self) -> None:
        self.late.work(self.incident)

    def wait(self, seconds: int) -> None:
        self.late.pass_to(self.late.vendors.now + timedelta(seconds=seconds), self.incident)

    def settle(self) -> None:
        for _ in range(2):
            self.wait(150)
            self.late.look(self.incident)
        self.wait(150)
        assert not self.late.vendors.held
        self.incident = Incident.objects.select_related("type", "policy_version", "lead").get(pk=self.incident.pk)
        self.check()

    def silent(self, about: tuple[str, int, int], act: Step, kills: bool) -> None:
        """Carry out what follows from an act; a vendor answers none of these requests, and carries them out late."""
        self.play(act)
        self.late.vendors.silences.append(Silence(*about, kills))
        self.work()
        self.late.vendors.silences.clear()

    def faulty(self, about: tuple[str, str], act: Step) -> None:
        """Carry out what follows from an act, while something is wrong with a vendor."""
        vendor, kind = about
        vendors: dict[str, Any] = {"slack": self.slack, "account": self.duty.account, "board": self.late.board}
        faults = vendors[vendor].faults
        self.play(act)
        faults.add(kind, times=99)
        self.work()
        faults.clear()

    def lose(self, act: Step, forgets: bool) -> None:
        """Carry out what follows from an act; then the database is restored to how it was when that was owed.

        With ``forgets``, to how it was before the act.
        """
        self.lost, forgets = True, forgets and act[0] != "add"  # the tickets of such follow-ups stay
        if not forgets:
            self.play(act)
        with losing.lost():
            if forgets:
                self.play(act)
            self.work()
            self.withdrawn = self.withdrawn or self.incident.private
        self.incident.refresh_from_db()
        self.late.vendors.now += timedelta(seconds=1)
        call_command("restored")
        for page in forgotten.find(self.duty.pager, at=self.late.vendors.now):  # as `restored` asks people to do
            self.duty.account.acts.resolve("max", page.number or 0)

    def about(self, by: str) -> dict[str, Any]:
        if not self.sees(by):
            raise lifecycle.NotThere
        return {"by": self.person(by), "at": self.duty.house.now()}

    def say(self, by: str) -> None:
        self.texts += 1
        lifecycle.update(self.incident, text=f"{SECRET} of {self.texts}", **self.about(by))

    def title(self, by: str) -> None:
        self.texts += 1
        lifecycle.rename(self.incident, title=f"{SECRET} leaked {self.texts}", **self.about(by))

    def add(self, by: str) -> None:
        self.texts += 1
        lifecycle.add_followup(self.incident, text=f"{SECRET} to rotate {self.texts}", **self.about(by))

    def reword(self, by: str) -> None:
        one = self.followups().last()
        if one is not None:
            self.texts += 1
            lifecycle.edit(self.incident, n=one.entry_n, text=f"{SECRET} rotated {self.texts}", **self.about(by))

    def finish(self, by: str) -> None:
        one = self.followups().last()
        if one is not None:
            lifecycle.finish_followup(self.incident, n=one.n, **self.about(by))

    def again(self, by: str) -> None:
        lifecycle.reopen(self.incident, **self.about(by))

    def close(self, by: str) -> None:  # type: ignore[override]  # not the announcement channel
        """Archive the channel of an incident that ended."""
        lifecycle.archive_channel(self.incident, **self.about(by))

    def merge(self, by: str) -> None:
        lifecycle.duplicate(self.incident, of=self.other, **self.about(by))

    def to(self, by: str, slug: str) -> None:
        if self.sees(by):
            self.duty.house.confirm(self.incident, slug, by=by)

    def both(self, by: str, slug: str, other: str, another: str) -> None:
        """Two people confirm at the same moment what both were shown before."""
        if not (self.sees(by) and self.sees(other)):
            return
        asked: dict[str, Any] = {"to": self.duty.house.type(another), "by": self.person(other)}
        shown = retyping.preview(self.incident, **asked)
        self.play(("to", by, slug))
        try:
            retyping.confirm(self.incident, **asked, at=self.duty.house.now(), digest=shown.digest)
        except retyping.PlanChanged:  # they read the new one, and confirm that
            self.play(("to", other, another))

    def followups(self) -> Any:
        return Followup.objects.filter(incident=self.incident).order_by("n")

    def check(self) -> None:
        super().check()
        self.check_said()
        self.check_tickets()
        self.check_pages()

    def check_said(self) -> None:
        """Check that the channel in use shows the incident as it is, and that no update is missing in public."""
        channel = self.slack.channel(self.channel()) if self.channel() else None
        is_told = self.incident.resources.filter(key="gap/outside").exists()
        if channel is None or channel.is_archived or is_told or self.withdrawn or not self.incident.is_active:
            return
        heads = [one.text for one in channel.messages.values() if " · Type: " in one.text]
        assert [self.incident.title in text and self.incident.policy.name in text for text in heads] == [True], heads
        assert self.incident.policy.name in channel.topic.value, channel.topic.value
        if self.incident.private or self.archives:
            return
        said = Counter(text for text in texts(channel) if text.startswith("Update from "))
        for one in Event.objects.filter(incident=self.incident, kind="updated"):
            assert [text for text in said if text.endswith(one.text)], (one.text, said)
        told = [text for text in texts(self.slack.channel(ANNOUNCED)) if self.incident.codename in text]
        wanted = self.incident.type.slug != "internal"
        assert (len(told) == 1 and self.incident.title in told[0]) or not wanted, told

    def archive(self, heard: bool) -> None:
        self.archives = True
        super().archive(heard)

    def unarchive(self, heard: bool) -> None:
        channel, chat = self.room(), self.duty.house.chat
        super().unarchive(heard=False)
        row = rooms.channel_row(channel.id) if channel is not None else None
        if heard and row is not None and channel is not None and not channel.is_archived:  # as the listener does
            came_back.enter(chat, row, chat.look(channel.id))
            rooms.archived_by_hand(channel.id, archived=False, at=self.late.vendors.now)

    def check_tickets(self) -> None:
        """Check that each follow-up has one ticket, which says what it should, and that none tells anyone else."""
        ours = [one for one in self.late.board.tickets if self.incident.codename in one.body]
        count = Counter((one.project, one.body, one.title if self.lost else "") for one in ours)
        assert max(count.values(), default=1) == 1, ours
        told = [
            one for one in self.late.board.tickets if one.project == self.late.board.projects[0] and SECRET in one.title
        ]
        assert not (self.incident.private and told), told
        for one in self.followups():
            if one.state == "open":
                assert [it.title for it in ours if it.state == "open" and self.is_of(it, one)] == [one.text], ours
            elif not self.lost:
                assert not [it for it in ours if it.state == "open" and self.is_of(it, one)]

    def is_of(self, ticket: BoardTicket, followup: Followup) -> bool:
        project = self.late.board.projects[self.incident.private]
        return ticket.project == project and f"Follow-up {followup.n} of incident" in ticket.body

    def check_pages(self) -> None:
        """Check that one page is open for each target that is wanted, and that its title tells nobody else."""
        ours = [one for one in self.duty.account.account.incidents.values() if one.key and "firekind" in one.key]
        count = Counter(one.key for one in ours)
        assert self.lost or max(count.values(), default=1) == 1, [(one.key, one.title) for one in ours]
        still = [one for one in ours if one.is_open]
        wanted = self.incident.is_active and self.incident.type.slug in {"major", "security"}
        assert len(still) == int(wanted) or (self.lost and not still), [(one.title, one.status) for one in ours]
        told = [one.title for one in ours if SECRET in one.title]
        assert not (self.incident.private and [one for one in still if SECRET in one.title]), told

    def become_private(self) -> None:
        """Have someone reopen it if it has ended, and retype it to private if it is not."""
        self.settle()
        if not self.incident.is_active:
            self.play(("again", "dee"))
        if not self.incident.private:
            self.play(("to", "dee", "security"))

    def end_all(self) -> None:
        """Become private; then people unarchive what they are told of."""
        self.become_private()
        for _ in range(2):
            self.settle()
            for channel in self.rooms().values():
                self._archived(channel, archived=False, heard=False)
                if "firekind" not in self.slack.members(channel.name):
                    self.slack.acts.invite("dee", channel.name, ["firekind"])
        self.settle()
        assert self.incident.private
        assert not [text for one in self.rooms().values() for text in (*texts(one), one.topic.value) if SECRET in text]
        owed = Effect.objects.filter(incident=self.incident).exclude(state__in=["done", "cancelled"])
        assert not owed.exclude(left_to_people.LEFT_TO_PEOPLE).exists(), list(owed.values())


def texts(channel: Any) -> list[str]:
    return [one.text for one in channel.messages.values() if not one.is_system]


@contextmanager
def begun(built: Duty, first: str, tracker: str = "github") -> Iterator[LateStory]:
    """An incident declared and nothing of it carried out yet; all of it is rolled back afterwards."""
    with transaction.atomic():
        with late_house(built, tracker=tracker) as late:
            duty, vendors = late.duty, late.vendors
            house = duty.house
            house.clock = vendors.now
            by, type = house.person("dee"), house.type(first)
            Person.objects.filter(pk=house.person(GUEST).pk).update(is_guest=True)
            house.slack.acts.deactivate(GONE)
            other = lifecycle.declare("Another", by=by, at=vendors.now, type=house.type("internal"))
            declared = lifecycle.declare(f"{SECRET} leaked", by=by, at=vendors.now, type=type)
            lifecycle.bring_in(declared, people=[house.person(GUEST)], by=by, at=vendors.now)
            vendors.now += timedelta(seconds=1)
            yield LateStory(duty, declared, late, other)
        transaction.set_rollback(True)


def settled(*steps: Step) -> list[Step]:
    """Return a story that begins once everything is settled."""
    return [("settle",), *steps, ("settle",)]


ADDED: Final[Step] = ("add", "dee")
PRIVATE: Final[Step] = ("to", "dee", "security")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.sampled_from(["ambiguous", "major", "internal"]), tracker=st.sampled_from([*VENDORS]), taken=stories)
@example(
    first="major",
    tracker="github",
    taken=settled(("silent", ("PUT /incidents*", 44, 1), ("end", "dee"), False), ("again", "dee")),
)
@example(
    first="ambiguous",
    tracker="github",
    taken=settled(("silent", ("chat.update", 31, 1), ("title", "dee"), False), PRIVATE),
)
@example(
    first="ambiguous",
    tracker="jira",
    taken=settled(ADDED, ("settle",), ("silent", ("PATCH tracker", 60, 1), ("reword", "dee"), True), PRIVATE),
)
@example(first="ambiguous", tracker="linear", taken=settled(("silent", ("POST tracker", 74, 1), ADDED, True), PRIVATE))
@example(first="ambiguous", tracker="github", taken=settled(("lose", ("say", "dee"), True)))
@example(first="internal", tracker="github", taken=settled(("lose", ("to", "dee", "ambiguous"), True)))
def test_what_is_carried_out_late_is_neither_forgotten_nor_done_twice(
    built_duty: Duty, db: None, first: str, tracker: str, taken: list[Step]
) -> None:
    with begun(built_duty, first, tracker) as story:
        for step in taken:
            story.play(step)
            event(step[0])
        story.end_all()
