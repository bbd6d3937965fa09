"""Anybody acts, in any workspace, while answers are lost: nothing private stays in public or reaches an outsider."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from incidents import lifecycle, visibility
from incidents.models import Person
from integrations.slack.fake.workspace import Channel
from integrations.slack.tests.straight import StraightWire
from integrations.tests import test_unanswered_laws
from integrations.tests.duty import Duty
from integrations.tests.house import organisation
from integrations.tests.test_people_laws import built_duty
from integrations.tests.test_unanswered_laws import SECRET, Step, Unanswered, faults, methods, moves
from workflows.channels import rooms
from workflows.reconcile import retyping
from workflows.usergroups import workspace_cache

__all__ = ["built_duty"]  # the fixture of this module

GUEST, STRANGER, NAMELESS, GONE, OWNER = "gus", "wim", "nem", "leo", "max"
EVERYONE: Final = ("dee", "dee", "ann", "eve", "out", GUEST, STRANGER, NAMELESS, GONE, OWNER)
TEXT: Final = re.compile(rf"{SECRET} (?:of|leaked) (\d+)")
# What a workspace's admins forbid the app, by method and whether it is about a private channel.
FORBIDS: Final[dict[str, dict[tuple[str, bool | None], str]]] = {
    "plain": {},
    "shared": {},
    "organisation": {},
    "organisation, shared": {},
    "no private channels": {("conversations.create", True): "restricted_action"},
    "no channels": {("conversations.create", None): "restricted_action"},
    "no invites": {("conversations.invite", None): "restricted_action"},
    "no topics, archives or deletions": {
        ("conversations.setTopic", None): "restricted_action",
        ("conversations.archive", None): "restricted_action",
        ("chat.delete", None): "restricted_action",
    },
}

anybody = st.sampled_from(EVERYONE)
acts = st.one_of(
    st.tuples(st.just("update"), anybody),
    st.tuples(st.just("rename"), anybody),
    st.tuples(st.just("to"), anybody, st.sampled_from(["security", "security", "ambiguous", "major"])),
    st.tuples(st.just("another"), anybody),
    st.tuples(st.just("end"), anybody),
    st.tuples(st.just("reopen"), anybody),
    st.tuples(st.just("lead"), anybody, anybody),
    st.tuples(st.just("bring"), anybody, anybody),
    st.tuples(st.just("invite"), anybody, anybody),
    st.tuples(st.just("leave"), anybody),
    st.tuples(st.just("deactivate"), anybody),
    st.tuples(st.just("demote"), anybody),
    st.tuples(st.just("comes_back"), anybody),
)
steps = st.one_of(acts, acts, moves(acts))


@dataclass
class Anybody(Unanswered):
    """A story in which anyone acts, in a workspace whose admins forbid the app something."""

    forbids: dict[tuple[str, bool | None], str] = field(default_factory=dict)
    might: dict[int, set[str]] = field(default_factory=dict)  # who might read the text of this number, ever

    def play(self, step: Step) -> None:
        super().play(step)
        self.note_readers()

    def note_readers(self) -> None:
        people = dict(Person.objects.exclude(chat_id=None).values_list("pk", "chat_id"))
        seeing = visibility.who_may_see(self.incident.pk, among=[*people]) if self.incident.private else {*people}
        now = {str(people[pk]) for pk in seeing}
        for n in range(self.texts + 1):
            self.might.setdefault(n, set()).update(now)

    def about(self, by: str) -> dict[str, Any]:
        return {"by": self.person(by), "at": self.duty.house.now()}

    def update(self, by: str = "dee") -> None:
        self.texts += 1
        lifecycle.update(self.incident, text=f"{SECRET} of {self.texts}", **self.about(by))

    def rename(self, by: str = "dee") -> None:
        self.texts += 1
        lifecycle.rename(self.incident, title=f"{SECRET} leaked {self.texts}", **self.about(by))

    def another(self, by: str = "dee") -> None:
        rooms.open_another(self.incident, **self.about(by))

    def to(self, by: str, slug: str) -> None:
        asked: dict[str, Any] = {"to": self.duty.house.type(slug), "by": self.person(by)}
        digest = retyping.preview(self.incident, **asked).digest
        may = self.sees(by)
        try:
            retyping.confirm(self.incident, **asked, at=self.duty.house.now(), digest=digest)
        except lifecycle.NotThere:
            assert not may
            raise
        assert may

    def lead(self, by: str, who: str) -> None:
        lifecycle.set_lead(self.incident, lead=self.person(who), **self.about(by))

    def bring(self, by: str, who: str) -> None:
        lifecycle.bring_in(self.incident, people=[self.person(who)], **self.about(by))

    def end(self, by: str) -> None:
        lifecycle.resolve(self.incident, **self.about(by))

    def reopen(self, by: str) -> None:
        lifecycle.reopen(self.incident, **self.about(by))

    def channel(self) -> str:
        name = super().channel()
        return name if any(one.name == name for one in self.slack.workspace.channels.values()) else ""

    def leave(self, who: str) -> None:
        if not self.slack.person(who).deleted:
            super().leave(who)

    def invite(self, by: str, who: str) -> None:
        if not (self.slack.person(who).deleted or self.slack.person(by).deleted):
            super().invite(by, who)

    def deactivate(self, who: str) -> None:
        if not self.slack.person(who).deleted and who != "dee":
            self.slack.acts.deactivate(who)
            workspace_cache.refresh(everybody=True)

    def demote(self, who: str) -> None:
        if who != "dee":
            self.slack.person(who).is_restricted = True
            workspace_cache.refresh(everybody=True)

    def comes_back(self, who: str) -> None:
        if self.slack.person(who).deleted:
            self.slack.acts.reactivate(who)
            workspace_cache.refresh(everybody=True)

    def check(self) -> None:
        super().check()
        self.note_readers()
        for channel in self.slack.workspace.channels.values():
            if not channel.is_private:
                continue
            said = [int(n) for text in words(channel) for n in TEXT.findall(text)]
            for id in {*channel.members} - {self.slack.bot.id}:
                told = [n for n in said if id not in self.might.get(n, ())]
                assert not told, (channel.name, channel.kind, id, told)

    def end_all(self) -> None:
        self.settle()
        if not self.incident.is_active:
            self.play(("reopen", "dee"))
        if not self.incident.private:
            self.play(("to", "dee", "security"))
        self.settle()
        assert self.incident.private
        self.check_told()
        self.forbids.clear()
        super().end_all()

    def check_told(self) -> None:
        """Check that people are told if there is no private channel, or nobody in it."""
        if len(self.inside()) and self.slack.channel(self.channel()).is_private:
            return
        told = self.incident.resources.filter(kind="gap").exists()
        assert told or self.incident.effects.filter(state="failed").exists()

    def private(self) -> None:
        self.to("dee", "security")


def words(channel: Channel) -> list[str]:
    """Return all that a channel's members can read."""
    return [str([one.text, one.blocks, one.attachments]) for one in channel.messages.values()] + [channel.topic.value]


@contextmanager
def begun(built: Duty, first: str, kind: str) -> Iterator[Anybody]:
    """An incident declared in a workspace of some kind; all of it is rolled back afterwards."""
    with test_unanswered_laws.begun(built, first) as story, pytest.MonkeyPatch.context() as patch:
        duty, slack = story.duty, story.slack
        slack.add_person(GUEST, is_restricted=True)
        slack.add_person(NAMELESS).email = ""
        with organisation(duty.house, pager=duty.pager) if "organisation" in kind else nullcontext():
            if "shared" in kind:
                slack.add_person(STRANGER, team_id="T0OTHER", is_stranger=True)
                slack.channel("incidents").members.append(slack.person(STRANGER).id)
            else:
                slack.add_person(STRANGER, team_id="T0OTHER")
            workspace_cache.refresh(everybody=True)
            slack.acts.deactivate(GONE)
            workspace_cache.refresh(everybody=True)
            found = Anybody(duty, story.incident, forbids=dict(FORBIDS[kind]))
            answered = StraightWire._answered

            def forbidden(wire: StraightWire, method: str, form: dict[str, Any]) -> dict[str, Any]:
                about = bool(form.get("is_private"))
                code = found.forbids.get((method, about)) or found.forbids.get((method, None))
                fault = slack.faults.add("error", method=method, error=code, times=1) if code else None
                try:
                    return answered(wire, method, form)
                finally:
                    if fault is not None:
                        slack.faults.clear(fault.id)

            patch.setattr(StraightWire, "_answered", forbidden)
            lifecycle.bring_in(found.incident, people=[found.person(GUEST)], **found.about("dee"))
            found.incident.refresh_from_db()
            yield found


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    first=st.sampled_from(["ambiguous", "major", "internal"]),
    kind=st.sampled_from(sorted(FORBIDS)),
    method=methods,
    fault=faults,
    taken=st.lists(steps, min_size=1, max_size=9),
)
def test_nothing_private_stays_in_public_or_reaches_an_outsider_whoever_acts_and_whatever_admins_forbid(
    built_duty: Duty, db: None, *, first: str, kind: str, method: str, fault: str, taken: list[Step]
) -> None:
    with begun(built_duty, first, kind) as story:
        story.play(("unanswered", method, fault, ("nothing",)))
        for step in taken:
            story.play(step)
            event(step[0])
        event(kind)
        story.end_all()
