"""Who is in, and why: laws over stories of anybody doing anything in any order.

Whoever retypes is drawn from everybody, and hardly ever leads. Groups and schedules change between a confirmed plan and
its being carried out, workers stop half-way; people come, leave, acknowledge and are removed by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from incidents import lifecycle, visibility
from incidents.lifecycle import access
from incidents.models import Incident, Participant, Person
from integrations.tests import duty as standing_by
from integrations.tests.duty import Duty
from integrations.tests.house import GROUPS
from workflows import actions, directory, effects, gather, perform, reconcile, retyping, rooms, terminal
from workflows.desired import desired_state
from workflows.models import PagerTarget, PagerUser, Shift
from workflows.plan import Plan, plan

HANDLES = ("dee", "ann", "ben", "lea", "sam", "sia", "pat", "pia", "sue", "eve", "sid", "max", "out")
TYPES = ("ambiguous", "internal", "security", "time-bomb", "isolated", "major", "security")
INVITED = re.compile(r"invite (?P<names>.*?)(?: \((?P<why>.*)\))?")
BROUGHT_IN = {f"@{handle}" for handle in GROUPS}

anybody = st.sampled_from(HANDLES)
verbs = st.one_of(
    st.tuples(st.just("retype"), anybody, st.sampled_from(TYPES), st.lists(anybody, max_size=2), st.booleans()),
    st.tuples(st.just("retype"), anybody, st.sampled_from(TYPES), st.just([]), st.just(True)),
    st.tuples(st.just("lead"), anybody, anybody),
    st.tuples(st.just("role"), anybody, anybody),
    st.tuples(st.just("bring"), anybody, anybody),
    st.tuples(st.just("leave"), anybody),
    st.tuples(st.just("invite"), anybody, anybody),
    st.tuples(st.just("group"), st.sampled_from(["security", "support", "incident-response"]), anybody),
    st.tuples(st.just("shift"), st.sampled_from(["Platform leadership", "Security"]), anybody),
    st.tuples(st.just("answer"), anybody, st.booleans()),
    st.tuples(st.just("end"), anybody),
    st.tuples(st.just("reopen"), anybody),
    st.tuples(st.just("half"), st.integers(1, 4)),
    st.tuples(st.just("settle")),
)


@dataclass
class Story:
    """One incident among people who do things to it, by turns."""

    duty: Duty
    incident: Incident

    def play(self, step: tuple[object, ...]) -> None:
        """Take one step, unless the domain refuses it."""
        verb, *given = step
        try:
            getattr(self, str(verb))(*given)
        except (lifecycle.Refused, Incident.DoesNotExist):
            return
        finally:
            self.incident = Incident.objects.select_related("type", "policy_version", "lead").get(pk=self.incident.pk)

    def person(self, handle: str) -> Person:
        return self.duty.house.person(handle)

    def sees(self, handle: str) -> bool:
        return visibility.may_see(self.person(handle), self.incident)

    def retype(self, by: str, to: str, bring: list[str], come: bool) -> None:
        """Confirm a plan that was shown; groups and schedules change before any of it is carried out."""
        house, type = self.duty.house, self.duty.house.type(to)
        if not self.sees(by):
            return
        brought = [self.person(one) for one in dict.fromkeys(bring)]
        shown = retyping.preview(self.incident, to=type, by=self.person(by), bring=brought, come=come)
        moves = type.policy.private and not self.incident.private
        before = set() if moves else self.inside()
        self.incident = retyping.confirm(
            self.incident,
            to=type,
            by=self.person(by),
            at=house.now(),
            bring=brought,
            come=come,
            digest=shown.digest,
        )
        if self.incident.private:  # in public, groups are followed while people respond
            self.group("security", "out")
            self.shift("Platform leadership", "out")
        event("retyped to private" if moves else "retyped")
        self.settle()
        came = self.inside() - before
        assert came == named(shown), f"{by} retyped to {to}: the plan named {named(shown)}, and {came} came"

    def lead(self, by: str, who: str) -> None:
        if self.sees(by):
            at = self.duty.house.now()
            lifecycle.set_lead(self.incident, lead=self.person(who), by=self.person(by), at=at)

    def role(self, by: str, who: str) -> None:
        if self.sees(by):
            at, holder = self.duty.house.now(), self.person(who)
            lifecycle.set_role(self.incident, role="Scribe", holder=holder, by=self.person(by), at=at)

    def bring(self, by: str, who: str) -> None:
        if self.sees(by):
            at = self.duty.house.now()
            lifecycle.bring_in(self.incident, people=[self.person(who)], by=self.person(by), at=at)

    def leave(self, who: str) -> None:
        slack, name = self.duty.house.slack, self.channel()
        if name and who in slack.members(name):
            slack.acts.leave(who, name)
            self.hear("left", who)

    def invite(self, by: str, who: str) -> None:
        slack, name = self.duty.house.slack, self.channel()
        if name and by in slack.members(name) and who not in slack.members(name):
            slack.acts.invite(by, name, [who])
            self.hear("joined", who)

    def hear(self, what: str, who: str) -> None:
        channel_id = self.duty.house.slack.channel(self.channel()).id
        getattr(rooms, what)(self.incident, person=self.person(who), channel_id=channel_id, at=self.duty.house.now())

    def group(self, handle: str, who: str) -> None:
        slack = self.duty.house.slack
        here = {slack.workspace.people[one].handle for one in slack.group(handle).members}
        slack.acts.set_group(handle, sorted(here ^ {who} or here))
        directory.refresh()

    def shift(self, name: str, who: str) -> None:
        """Somebody else is on call from now on, as the cache of the pager has it."""
        target, person = PagerTarget.objects.get(name=name), self.person(who)
        given = {"pager_id": f"PU{person.pk}", "name": person.name, "matched": PagerUser.Matched.HAND}
        user, _ = PagerUser.objects.get_or_create(person=person, defaults=given)
        Shift.objects.filter(subject=target.pager_id).update(user=user.pager_id)

    def answer(self, by: str, yes: bool) -> None:
        """Somebody answers the oldest request there is."""
        waiting = access.waiting(self.incident)
        if waiting and self.sees(by):
            answered = lifecycle.let_in if yes else lifecycle.turn_away
            answered(self.incident, n=waiting[0].n, by=self.person(by), at=self.duty.house.now())

    def end(self, by: str) -> None:
        if self.sees(by):
            lifecycle.resolve(self.incident, by=self.person(by), at=self.duty.house.now())

    def reopen(self, by: str) -> None:
        if self.sees(by):
            lifecycle.reopen(self.incident, by=self.person(by), at=self.duty.house.now())

    def half(self, few: int) -> None:
        """A worker plans and does a little of it."""
        reconcile.reconcile(self.incident.pk, at=timezone.now())
        for work in effects.claim(
            self.incident.pk, at=timezone.now(), limit=few, kinds=actions.of_queue("effects", ports=["chat"])
        ):
            perform.perform(self.duty.house.chat, work, kinds=[])

    def settle(self) -> None:
        self.incident = self.duty.house.settle(self.incident, rounds=20)

    def channel(self) -> str:
        found = self.incident.resources.filter(key=f"channel/{self.incident.room}").first()
        return str(found.external["name"]) if found else ""

    def inside(self) -> set[str]:
        """Handles of those in the channel where people talk now, our app aside."""
        name = self.channel()
        return set(self.duty.house.slack.members(name)) - {"firekind"} if name else set()


def named(shown: Plan) -> set[str]:
    """Handles of those whom a plan names as coming in."""
    lines = [line.text for line in shown.lines if line.sign == "+" and line.key.startswith("invite")]
    found = [match["names"] for text in lines if (match := INVITED.fullmatch(text))]
    return {name.casefold() for names in found for name in names.split(", ")}


@contextmanager
def story(first: str, declarer: str) -> Iterator[Story]:
    """An incident declared and settled; all of it is undone afterwards."""
    with transaction.atomic():
        with standing_by.duty(others=("sid", "max")) as duty:
            yield Story(duty, duty.house.declare(type=first, by=declarer))
        transaction.set_rollback(True)


def check(found: Story) -> None:
    """Hold what is so of everybody once a story has settled."""
    found.settle()
    incident, house, inside = found.incident, found.duty.house, found.inside()
    told = {one["name"].casefold(): one for one in terminal.about(incident, reader=visibility.OPERATOR)["people"]}
    leads = [name for name, one in told.items() if "leads" in one["reasons"]]
    assert leads == ([incident.lead.name.casefold()] if incident.lead else [])
    for handle in HANDLES:
        one = told.get(handle)
        assert (handle in inside) == (one is not None and one["state"] == "in the channel"), (handle, one)
        takes_part = one is not None and one["state"] != "left"
        here = Participant.objects.filter(incident=incident, person=found.person(handle), left_at=None).exists()
        assert takes_part == here, (handle, one)
        if incident.private:
            assert found.sees(handle) == takes_part, (handle, one)
        assert one is None or one["needed"] == bool(one["reasons"]), (handle, one)
        assert one is None or one["why"], handle
    if incident.is_active:
        said = plan_says(found)
        for name, one in told.items():
            if one["state"] == "in the channel":
                assert one["why"] in said[name] if one["needed"] else said[name] == "", (name, one, said)
    calls = len(list(house.slack.calls))
    assert reconcile.reconcile(incident.pk, at=house.now()).is_empty
    assert len(list(house.slack.calls)) == calls


def plan_says(found: Story) -> dict[str, str]:
    """What the plan of no change at all says of each who is in already: why, or nothing where nothing asks for them."""
    known = gather.one(found.incident)
    said: dict[str, str] = {}
    for line in plan(desired_state(known.facts), known.observed).lines:
        if line.text.startswith("no longer needed"):
            said |= dict.fromkeys(line.text.partition(": ")[2].casefold().split(", "), "")
        elif match := re.fullmatch(r"(?P<names>.*) (is|are) in already \((?P<why>.*)\)", line.text):
            said |= dict.fromkeys(match["names"].casefold().split(", "), match["why"])
    return said


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.sampled_from(TYPES), declarer=anybody, steps=st.lists(verbs, min_size=2, max_size=10))
def test_the_plan_keeps_its_word_for_everybody(
    db: None, first: str, declarer: str, steps: list[tuple[object, ...]]
) -> None:
    with story(first, declarer) as found:
        for step in steps:
            found.play(step)
        check(found)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(verbs, max_size=6), declarer=anybody, who=anybody, handle=st.sampled_from(sorted(GROUPS)))
def test_nobody_comes_into_a_closed_incident_by_a_group_or_a_schedule_alone(
    db: None, steps: list[tuple[object, ...]], declarer: str, who: str, handle: str
) -> None:
    with story("security", declarer) as found:
        for step in steps:
            found.play(step)
        found.settle()
        inside = found.inside()
        seen = {one for one in HANDLES if found.sees(one)}
        found.play(("group", handle, who))
        found.play(("shift", "Platform leadership", who))
        found.play(("shift", "Security", who))
        Participant.objects.filter(incident=found.incident).update(since_at=timezone.now() - timedelta(days=1))
        found.settle()
        assert found.inside() == inside
        assert {one for one in HANDLES if found.sees(one)} == seen
