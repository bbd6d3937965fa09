"""Slack carries out late a change of a user group: it ends as its rule says, and no one is blamed for that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from incidents.models import Person
from integrations.tests.duty import Duty
from integrations.tests.late_house import NEVER, LateHouse, Silence, late_house
from integrations.tests.late_vendor import Killed
from integrations.tests.test_people_laws import built_duty
from workflows import ports
from workflows.models import GroupChange, GroupRule, PagerRead, PagerTarget, PagerUser, Shift
from workflows.usergroups import group_rules, history, late_changes, sync, workspace_cache

__all__ = ["built_duty"]  # the fixture of this module

Step = tuple[Any, ...]
HANDLE: Final = "support"
WHO: Final = ("ann", "ben", "sue", "lea", "leo")
METHODS: Final = ("usergroups.users.update", "usergroups.*")

people = st.sampled_from(WHO)
waits = st.tuples(st.just("wait"), st.sampled_from([1, 5, 12, 31, 45]))
acts = st.one_of(
    st.tuples(st.just("turn"), people),
    st.tuples(st.just("turn"), people),
    st.tuples(st.just("edit"), people),
    st.tuples(st.just("pause")),
    st.tuples(st.just("resume")),
    st.tuples(st.just("by_hand"), st.lists(people, min_size=1, max_size=2, unique=True)),
    st.tuples(st.just("guest"), people),
    st.tuples(st.just("look")),
)
silences = st.tuples(
    st.just("silent"),
    st.tuples(st.sampled_from(METHODS), st.sampled_from([0, 5, 16, 31, 44, NEVER]), st.sampled_from([1, 2, 99])),
    acts,
    st.sampled_from([False, False, True]),
)
steps = st.one_of(silences, acts, waits)


@dataclass
class GroupStory:
    """One user group and its rule, in a workspace that carries out late what it never answered."""

    duty: Duty
    late: LateHouse
    edits: int = 0  # by hand

    def play(self, step: Step) -> None:
        verb, *given = step
        getattr(self, verb)(*given)
        self.late.vendors.now += timedelta(seconds=1)

    @property
    def now(self) -> datetime:
        return self.late.vendors.now

    @property
    def rule(self) -> GroupRule:
        return GroupRule.objects.get(handle=HANDLE)

    def person(self, handle: str) -> Person:
        return self.duty.house.person(handle)

    def inside(self) -> set[str]:
        return {*self.duty.house.slack.group(HANDLE).members}

    def turn(self, who: str) -> None:
        """Put somebody on call."""
        Shift.objects.filter(subject="SCHED").update(user=who)
        PagerRead.objects.update(shifts_at=self.now, directory_at=self.now)
        self.work()

    def edit(self, who: str) -> None:
        """Add somebody to those who are always in it, or take them off."""
        rule, person = self.rule, self.person(who)
        always = {*rule.permanent.all()} ^ {person}
        group_rules.edit(rule, sources=[("SCHED", 0)], permanent=always, by=self.person("dee"), at=self.now)
        self.work()

    def pause(self) -> None:
        group_rules.pause(self.rule, by=self.person("dee"), at=self.now)

    def resume(self) -> None:
        group_rules.resume(self.rule, by=self.person("dee"), at=self.now)
        self.work()

    def by_hand(self, members: list[str]) -> None:
        self.edits += 1
        self.duty.house.slack.acts.set_group(HANDLE, members)
        workspace_cache.mark_stale()  # as its event says
        self.work()

    def guest(self, who: str) -> None:
        person = self.duty.house.slack.person(who)
        person.is_restricted = not person.is_restricted
        with self.heard():  # by its event
            workspace_cache.refresh(at=self.now, everybody=True)
        self.work()

    @contextmanager
    def heard(self) -> Iterator[None]:
        silences, self.late.vendors.silences = self.late.vendors.silences, []
        yield
        self.late.vendors.silences = silences

    def look(self) -> None:
        workspace_cache.mark_stale()
        self.work()

    def silent(self, about: tuple[str, int, int], act: Step, kills: bool) -> None:
        self.late.vendors.silences.append(Silence(*about, kills))
        self.play(act)
        self.work()
        self.late.vendors.silences.clear()

    def work(self) -> None:
        """Read the workspace if that is due, and write the group if it differs."""
        with suppress(Killed):
            if workspace_cache.is_old(at=self.now):
                with suppress(ports.VendorError):
                    workspace_cache.refresh(at=self.now)
            PagerRead.objects.update(shifts_at=self.now, directory_at=self.now)
            if sync.due(at=self.now):
                sync.sync(at=self.now)

    def wait(self, seconds: int) -> None:
        until = self.now + timedelta(seconds=seconds)
        while self.now < until:
            self.late.vendors.now += timedelta(seconds=min(4.0, (until - self.now).total_seconds()))
            self.late.vendors.arrive()
            self.work()

    def settle(self) -> None:
        self.wait(200)
        assert not self.late.vendors.held

    def check(self) -> None:
        """Check that the group is as its rule says, and that its history blames no one for what was ours."""
        rule = self.rule
        if not rule.active:
            return
        [look] = sync.look(GroupRule.objects.all(), at=self.now)
        said = list(GroupChange.objects.filter(rule=rule).order_by("pk").values_list("says", flat=True))
        if look.belonging.members:
            assert self.inside() == look.belonging.members, said
            assert (rule.state, rule.begun) == ("true", None), (rule.says, rule.begun)
        assert said.count(history.RESTORED) <= self.edits, said
        if not self.edits:
            assert history.CONTESTED not in said, said
            assert not [one for one in said if "someone changed it" in one], said
        event("carried out late" if late_changes.LATE in said else "in time")


@contextmanager
def begun(built: Duty) -> Iterator[GroupStory]:
    """A group whose rule was never looked at; all of it is rolled back afterwards."""
    with transaction.atomic():
        with late_house(built) as late:
            duty, at = late.duty, late.vendors.now
            PagerTarget.objects.create(pager_id="SCHED", kind="schedule", name="Platform")
            for handle in WHO:
                person = duty.house.person(handle)
                PagerUser.objects.filter(person=person).delete()
                PagerUser.objects.create(pager_id=handle, name=handle, person=person)
            Shift.objects.create(subject="SCHED", user="ann")
            values = {"shifts_at": at, "directory_at": at, "shifts_until": at + timedelta(days=14)}
            PagerRead.objects.update_or_create(pk=1, defaults=values)
            workspace_cache.refresh(at=at)
            sources = [{"subject": "SCHED", "level": 0}]
            GroupRule.objects.create(handle=HANDLE, sources=sources, created_at=at, edited_at=at)
            yield GroupStory(duty, late)
        transaction.set_rollback(True)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(taken=st.lists(steps, min_size=1, max_size=9))
@example(taken=[("silent", ("usergroups.users.update", 44, 1), ("turn", "ann"), False), ("wait", 31), ("turn", "ben")])
@example(taken=[("silent", ("usergroups.users.update", 16, 1), ("turn", "ann"), True), ("edit", "ben")])
def test_a_group_ends_as_its_rule_says_and_nobody_is_blamed_for_a_late_change_of_ours(
    built_duty: Duty, db: None, taken: list[Step]
) -> None:
    with begun(built_duty) as story:
        for step in taken:
            story.play(step)
            event(step[0])
        story.settle()
        story.check()
