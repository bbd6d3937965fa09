"""Laws of the second manager, over random stories of what managers and others do, in any order."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person, Proposal
from incidents.models.people import Role
from incidents.people import roles
from incidents.policies import types
from incidents.policies.type_changes import AddType, AdoptPolicy, EditType, RestoreType
from incidents.second_manager import proposals, seconding
from incidents.tests.conftest import someone
from workflows.models import GroupRule, PagerUser
from workflows.oncall import people
from workflows.usergroups import group_rules
from workflows.usergroups.changes import AddGroup, EditGroup, GroupSources, MatchPager, ResumeGroup

CAST = {"Ada": Role.MANAGER, "Grace": Role.MANAGER, "Hana": Role.MANAGER, "Eve": Role.RESPONDER, "Aud": Role.AUDITOR}
HANDLES = ("security", "platform-leadership", "support")
SLUGS = ("security", "leak")
Doors = Mapping[str, Any]


def doors() -> dict[str, Any]:
    """Everything in force that decides who may come into private incidents."""
    rules = GroupRule.objects.filter(active=True, handle__in=HANDLES).prefetch_related("permanent")
    ours = IncidentType.objects.filter(slug__in=SLUGS).select_related("current")
    return {
        **{f"@{one.handle}": sorted(person.pk for person in one.permanent.all()) for one in rules},
        **{one.slug: "public" for one in ours if not one.policy.private},
        **{one.slug: one.policy for one in ours if one.policy.private and one.archived_at is None},
        **{one.pager_id: one.person_id for one in PagerUser.objects.exclude(person=None)},
        **{f"/{one.pk}": one.policy_version_id for one in Incident.objects.filter(private=True)},
    }


def opened(before: Doors, after: Doors) -> set[str]:
    """Return what is in force now and was not before; something that only closed does not count."""
    return {key for key in after if after[key] != before.get(key)}


@dataclass(slots=True)
class Story:
    """A workspace in which anyone tries anything."""

    chance: random.Random
    cast: list[Person]
    secret: Incident
    agreed: set[tuple[int, int]] = field(default_factory=set)

    def anyone(self) -> Person:
        """Any person, in their current state."""
        return Person.objects.select_related("user").get(pk=self.chance.choice(self.cast).pk)

    def change(self) -> proposals.ProposedChange | None:
        """Something to ask for."""
        asked = GroupSources.of([], self.chance.sample(self.cast, 2))
        rule = GroupRule.objects.order_by("?").first()
        type = IncidentType.objects.select_related("current").get(slug="security")
        private = self.chance.random() < 0.8
        policy = replace(type.policy, invite=(self.chance.choice("abc"), "security"), private=private)
        leak = IncidentType.objects.select_related("current").filter(slug="leak").first()
        assert type.current is not None
        user = PagerUser.objects.get()
        found: list[proposals.ProposedChange] = [
            AddGroup(self.chance.choice(HANDLES), asked),
            EditType("security", type.current.number, policy.as_dict()),
            RestoreType("security", type.current.number),
            MatchPager(user.pk, self.chance.choice(self.cast).pk, user.person_id),
            AdoptPolicy(self.secret.pk, type.current.number),
        ]
        if rule is not None:
            found += [EditGroup.of(rule, asked), ResumeGroup.of(rule)]
        if leak is None:
            found.append(AddType(replace(policy, slug="leak", name="Leak", private=True).as_dict()))
        return self.chance.choice(found)

    def ask(self, by: Person) -> None:
        """Ask for something at the door."""
        if change := self.change():
            proposals.make(change, by=by, at=timezone.now())

    def force(self, by: Person) -> None:
        """Call a verb directly, with no one, oneself or a non-manager as the second."""
        others = [one for one in Person.objects.all() if not roles.may(one, "second")]
        second = self.chance.choice([None, by, *others])
        if change := self.change():
            change.carry_out(by=by, second=second, at=timezone.now())

    def decide(self, by: Person) -> None:
        """Decide a proposal, in any state and by any author."""
        proposal = Proposal.objects.order_by("?").first()
        if proposal is not None:
            verb = self.chance.choice([proposals.confirm, proposals.confirm, proposals.turn_down, proposals.withdraw])
            decided = verb(proposal, by=by, at=timezone.now())
            if decided.state == Proposal.State.CONFIRMED:
                self.agreed.add((decided.by_id, by.pk))

    def close(self, by: Person) -> None:
        """Pause, delete, archive or unlink: what lets no one in."""
        rule, type, user = GroupRule.objects.order_by("?").first(), self._type(), PagerUser.objects.get()
        acts: list[Callable[[], object]] = [
            lambda: types.archive(type, by=by, at=timezone.now()),
            lambda: people.part(user, by=by, at=timezone.now()),
        ]
        if rule is not None:
            acts += [lambda: group_rules.pause(rule, by=by, at=timezone.now())] * 2
            acts.append(lambda: group_rules.remove(rule, by=by, at=timezone.now()))
        self.chance.choice(acts)()

    def turn(self, by: Person) -> None:
        """Give or remove a role, or join or leave: the managers change, too."""
        whom = self.anyone()
        if self.chance.random() < 0.3:
            Person.objects.filter(pk=whom.pk).update(deactivated=not whom.deactivated)
        elif roles.may(by, "roles"):
            roles.give(whom, role=self.chance.choice([Role.MANAGER, Role.MANAGER, Role.RESPONDER]), by=by)

    def _type(self) -> IncidentType:
        return IncidentType.objects.select_related("current").get(slug="security")


@pytest.mark.parametrize("seed", range(8))
def test_no_door_opens_that_two_managers_did_not_agree_to_while_there_are_two(
    seed: int, shipped: dict[str, IncidentType]
) -> None:
    cast = [someone(name, role=role) for name, role in CAST.items()]
    secret = lifecycle.declare("Keys", by=cast[0], at=timezone.now(), type=shipped["security"])
    lifecycle.bring_in(secret, people=[cast[1], cast[3]], by=cast[0], at=timezone.now())
    PagerUser.objects.create(pager_id="PZOE", name="Zoe")
    story = Story(random.Random(seed), cast, secret)
    steps = [story.ask, story.ask, story.decide, story.decide, story.force, story.close, story.turn]
    for _ in range(40):
        by, step = story.anyone(), story.chance.choice(steps)
        before, others = doors(), {one.pk for one in seconding.others(by)}
        inside = {one.pk for one in seconding.others(by, incident=secret)}
        story.agreed.clear()
        try:
            with transaction.atomic():
                step(by)
        except (lifecycle.Refused, lifecycle.NotThere):
            assert doors() == before
        for door in opened(before, doors()):
            could = inside if door.startswith("/") else others
            two = [pair for pair in story.agreed if len(set(pair)) == 2]
            assert two or not could, f"{by} opened {door} by {step.__name__} alone, while {could} could confirm"
            managed = [roles.may(Person.objects.get(pk=one), "second") for pair in two for one in pair]
            assert all(managed), door
