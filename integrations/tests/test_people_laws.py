"""Who is in, and why: laws over stories of anyone doing anything in any order.

The person who retypes is drawn from everyone, and is rarely the lead. Groups and schedules change between a confirmed
plan and its execution, and workers stop half-way. People come, leave, acknowledge and are removed by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoDbBlocker

from incidents import lifecycle, visibility
from incidents.lifecycle import access
from incidents.models import Incident, Participant, Person
from integrations.tests import duty as standing_by
from integrations.tests import once
from integrations.tests.duty import Duty
from integrations.tests.house import GROUPS, organisation
from workflows import terminal
from workflows.channels import rooms
from workflows.effects import effect_queue
from workflows.loading import load_facts
from workflows.models import PagerTarget, PagerUser, Shift
from workflows.performing import perform
from workflows.planning import actions, participation
from workflows.planning.desired import desired_state
from workflows.planning.plan import plan
from workflows.reconcile import reconcile, retyping
from workflows.usergroups import workspace_cache

HANDLES = ("dee", "ann", "ben", "lea", "sam", "sia", "pat", "pia", "sue", "eve", "sid", "max", "out")
TYPES = ("ambiguous", "internal", "security", "time-bomb", "isolated", "major", "security")
INVITED = re.compile(r"invite (?P<names>.*?)(?: \((?P<why>.*)\))?")
BROUGHT_IN = {f"@{handle}" for handle in GROUPS}

SHOWN = re.compile(r"<span>(invite [^<]*?)\s*</span>")
DIGEST = re.compile(r'name="digest" value="(\w+)"')

anybody, types = st.sampled_from(HANDLES), st.sampled_from(TYPES)
doors = st.sampled_from(["verb", "web", "terminal"])
verbs = st.one_of(
    st.tuples(st.just("retype"), anybody, types, st.lists(anybody, max_size=2), st.booleans(), doors),
    st.tuples(st.just("retype"), anybody, types, st.just([]), st.just(True), doors),
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
agreeing = st.tuples(st.just("agree"), anybody, st.booleans())


@dataclass
class Story:
    """One incident, and people who act on it in turn."""

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

    def retype(self, by: str, to: str, bring: list[str], come: bool, door: str) -> None:
        """Confirm a plan that a door showed; groups and schedules change before any of it is carried out."""
        moves = self.duty.house.type(to).policy.private and not self.incident.private
        before, room = self.inside(), self.incident.room
        promised: set[str] | None = getattr(self, f"by_{door}")(by, to, list(dict.fromkeys(bring)), come)
        if promised is None:
            return  # refused, as for a person who may not see it
        self.incident.refresh_from_db()
        if self.incident.private:  # while people respond in public, groups are followed
            self.group("security", "out")
            self.shift("Platform leadership", "out")
        event(f"retyped {'to private ' if moves else ''}by the {door}")
        self.settle()
        came = self.inside() - (before if self.incident.room == room else set())
        assert came == promised, f"{by} retyped to {to}: the plan named {promised}, and {came} came"

    def by_verb(self, by: str, to: str, bring: list[str], come: bool) -> set[str] | None:
        """Confirm the plan's digest, as every door does."""
        if not self.sees(by):
            return None
        house, brought = self.duty.house, [self.person(one) for one in bring]
        given: dict[str, Any] = {"to": house.type(to), "by": self.person(by), "bring": brought, "come": come}
        shown = retyping.preview(self.incident, **given)
        self.incident = retyping.confirm(self.incident, **given, at=house.now(), digest=shown.digest)
        return named(line.text for line in shown.lines if line.sign == "+")

    def by_terminal(self, by: str, to: str, bring: list[str], come: bool) -> set[str] | None:
        """Type the command, and read the plan that it prints."""
        along = [word for one in bring for word in ("--bring", self.person(one).email)]
        words = [self.incident.codename, to, "--by", self.person(by).email, *along, *([] if come else ["--stay-out"])]
        out = StringIO()
        try:
            call_command("incident", "retype", *words, stdout=out)
        except CommandError:
            return None
        return named(line.removeprefix("+ ") for line in out.getvalue().splitlines() if line.startswith("+ "))

    def by_web(self, by: str, to: str, bring: list[str], come: bool) -> set[str] | None:
        """Look at the page with the plan, and send its form."""
        client, address = Client(), f"/incidents/{self.incident.codename}/retype"
        client.force_login(account(self.person(by)))
        asked: dict[str, Any] = {"to": to, "bring": [self.person(one).pk for one in bring]} | (
            {} if come else {"stay_out": "1"}
        )
        page = client.get(address, asked)
        digest = DIGEST.search(page.content.decode()) if page.status_code == 200 else None
        if digest is None:
            return None
        sent = client.post(address, asked | {"digest": digest[1]})
        return named(SHOWN.findall(page.content.decode())) if sent.status_code == 302 else None

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
        workspace_cache.refresh()

    def shift(self, name: str, who: str) -> None:
        """Put another person on call from now on, in the pager cache."""
        target, person = PagerTarget.objects.get(name=name), self.person(who)
        given = {"pager_id": f"PU{person.pk}", "name": person.name, "matched": PagerUser.Matched.HAND}
        user, _ = PagerUser.objects.get_or_create(person=person, defaults=given)
        Shift.objects.filter(subject=target.pager_id).update(user=user.pager_id)

    def answer(self, by: str, yes: bool) -> None:
        """Answer the oldest access request."""
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

    def agree(self, who: str, agrees: bool) -> None:
        Person.objects.filter(pk=self.person(who).pk).update(agrees_to_drills=agrees)

    def half(self, few: int) -> None:
        """Let a worker plan, and do a little of it."""
        reconcile.reconcile(self.incident.pk, at=timezone.now())
        for work in effect_queue.claim(
            self.incident.pk, at=timezone.now(), limit=few, kinds=actions.of_queue("effects", ports=["chat"])
        ):
            perform.perform(self.duty.house.chat, work, kinds=[])

    def work(self) -> None:
        """Plan, and do what is due, as a worker."""
        reconcile.reconcile(self.incident.pk, at=timezone.now())
        perform.drain(self.incident.pk, side_by_side=False, queue=actions.EVIDENCE)
        perform.drain(self.incident.pk, side_by_side=False)

    def settle(self) -> None:
        self.incident = self.duty.house.settle(self.incident, rounds=20)

    def channel(self) -> str:
        found = self.incident.resources.filter(key=f"channel/{self.incident.room}").first()
        return str(found.external["name"]) if found else ""

    def inside(self) -> set[str]:
        """Return the handles of people in the current channel, without our app."""
        name = self.channel()
        return set(self.duty.house.slack.members(name)) - {"firekind"} if name else set()


def named(lines: Iterable[str]) -> set[str]:
    """Return the handles of people that a plan names as coming in."""
    found = [match["names"] for text in lines if (match := INVITED.fullmatch(unescape(text)))]
    return {name.casefold() for names in found for name in names.split(", ")}


def account(person: Person) -> User:
    """Return a person's web account."""
    user, _ = User.objects.get_or_create(username=person.name)
    Person.objects.filter(pk=person.pk).update(user=user)
    return user


@pytest.fixture(scope="module")
def built_duty(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Duty]:
    """A house with a pager, and two more people. Built once for all stories."""
    with once.laid(django_db_blocker, lambda: standing_by.duty(others=("sid", "max"))) as made:
        yield made


@contextmanager
def story(built: Duty, first: str, declarer: str, *, is_drill: bool = False, converts: bool = False) -> Iterator[Story]:
    """An incident declared and settled; all of it is rolled back afterwards.

    At first everyone agrees to drills; with ``converts``, a room itself can be made private.
    """
    with transaction.atomic():
        with (
            standing_by.copied(built) as duty,
            organisation(duty.house, pager=duty.pager) if converts else nullcontext(),
        ):
            Person.objects.update(agrees_to_drills=is_drill)
            house = duty.house
            declared = lifecycle.declare(
                "Checkout is slow", by=house.person(declarer), at=house.now(), type=house.type(first), is_drill=is_drill
            )
            yield Story(duty, house.settle(declared))
        transaction.set_rollback(True)


def check(found: Story) -> None:
    """Check what must be true of everyone once a story has settled."""
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
    """Return what the plan of no change says about each person already in: why, or nothing if nothing asks for them."""
    known = load_facts.one(found.incident)
    outside = list(found.incident.effects.order_by("pk")), list(found.incident.resources.order_by("pk"))
    about_people = load_facts.of_people(found.incident, *outside)
    assert about_people.observed == known.observed
    assert participation.of(about_people.facts) == participation.of(known.facts)
    said: dict[str, str] = {}
    for line in plan(desired_state(known.facts), known.observed).lines:
        if line.text.startswith("no longer needed"):
            said |= dict.fromkeys(line.text.partition(": ")[2].casefold().split(", "), "")
        elif match := re.fullmatch(r"(?P<names>.*) (is|are) already in \((?P<why>.*)\)", line.text):
            said |= dict.fromkeys(match["names"].casefold().split(", "), match["why"])
    return said


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=types, declarer=anybody, steps=st.lists(verbs, min_size=2, max_size=10))
@example(first="ambiguous", declarer="dee", steps=[("retype", "dee", "security", ["dee"], False, "verb")])
@example(
    first="ambiguous",
    declarer="dee",
    steps=[("retype", "dee", "security", [], True, "verb"), ("shift", "Platform leadership", "dee")],
)
def test_the_plan_keeps_its_word_for_everybody(
    built_duty: Duty, db: None, first: str, declarer: str, steps: list[tuple[object, ...]]
) -> None:
    with story(built_duty, first, declarer) as found:
        for step in steps:
            found.play(step)
        check(found)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.tuples(st.booleans(), st.booleans()),
    first=types,
    declarer=anybody,
    steps=st.lists(st.one_of(verbs, agreeing), min_size=2, max_size=10),
)
def test_the_plan_keeps_its_word_in_drills_and_where_rooms_are_made_private(
    built_duty: Duty, db: None, kind: tuple[bool, bool], first: str, declarer: str, steps: list[tuple[object, ...]]
) -> None:
    is_drill, converts = kind
    with story(built_duty, first, declarer, is_drill=is_drill, converts=converts) as found:
        for step in steps:
            found.play(step)
        check(found)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(verbs, max_size=6), declarer=anybody, who=anybody, handle=st.sampled_from(sorted(GROUPS)))
def test_nobody_comes_into_a_closed_incident_by_a_group_or_a_schedule_alone(
    built_duty: Duty, db: None, steps: list[tuple[object, ...]], declarer: str, who: str, handle: str
) -> None:
    with story(built_duty, "security", declarer) as found:
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
