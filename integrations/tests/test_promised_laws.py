"""What a plan says matches the stand-ins' logs afterwards, in both directions, for types that ask for odd things.

Someone looks at the plan, something happens, and the same person or someone else confirms it: either they are shown a
new plan, or exactly what it said is done. Types have groups that are empty or do not exist, several that page the same,
or none; channels are archived and deleted by hand, people leave for good. Slack and PagerDuty refuse some requests, and
later accept them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoDbBlocker

from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.policies import types
from incidents.policies.policy import Policy
from integrations.tests import duty as standing_by
from integrations.tests import once
from integrations.tests.duty import Duty
from integrations.tests.house import GROUPS, organisation
from integrations.tests.test_people_laws import HANDLES, Story, named
from workflows.channels import rooms
from workflows.loading import load_facts
from workflows.planning import participation
from workflows.planning.actions import CREATE, Action
from workflows.planning.desired import desired_state
from workflows.planning.plan import Plan, plan
from workflows.reconcile import retyping
from workflows.usergroups import workspace_cache

EVERYBODY: Final = sorted({*HANDLES, *(one for some in GROUPS.values() for one in some)})
INVITE: Final = "conversations.invite"
ODD: Final = ("odd-1", "odd-2", "odd-3")
# The beginnings of a plan's lines with small steps, and the call that carries out each.
SMALL: Final = {
    "pin the": "pins.add",
    "bookmark": "bookmarks.add",
    "remove": "bookmarks.remove",
    "update the bookmark": "bookmarks.edit",
    "set": "conversations.setTopic",
    "update the": "conversations.setTopic",
    "clear": "conversations.setTopic",
}
CALLS: Final = {
    ("+", "channel"): "conversations.create",
    ("~", "channel"): "conversations.create",
    ("~", "closed"): "admin.conversations.convertToPrivate",
    ("-", "archived"): "conversations.archive",
    ("+", "post"): "chat.postMessage",
    ("~", "post"): "chat.update",
}

anybody = st.sampled_from(HANDLES)
roles = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["Boss", "Scribe"]),
        "group": st.sampled_from(["platform-leadership", "support", "nobody", "missing"]),
        "schedule": st.sampled_from(["", "Platform leadership"]),
        "otherwise": st.sampled_from(["", "eve"]),
    }
)
odd = st.fixed_dictionaries(
    {
        "private": st.booleans(),
        "announce": st.booleans(),
        "invite": st.lists(st.sampled_from(["security", "support", "nobody", "missing"]), unique=True, max_size=2),
        "one_of": st.lists(roles, max_size=2, unique_by=lambda one: one["role"]),
        "pages": st.lists(st.sampled_from(["Security", "Engineering", "Nowhere"]), unique=True, max_size=2),
    }
)
happens = st.one_of(
    st.tuples(st.sampled_from(["lead", "role", "bring", "invite"]), anybody, anybody),
    st.tuples(st.sampled_from(["leave", "end", "reopen", "say", "gone"]), anybody),
    st.tuples(st.just("group"), st.sampled_from(["security", "support", "incident-response"]), anybody),
    # From among people who are not paged: the pager's own rota stays, and pages the people on it.
    st.tuples(st.just("shift"), st.just("Platform leadership"), anybody),
    st.tuples(st.sampled_from(["archived", "unarchived", "deleted"])),
    st.tuples(st.just("another"), anybody),
)
refused = st.sampled_from(["conversations.create", INVITE, "chat.postMessage", "pins.add", "pager"])
fails = st.tuples(st.just("fails"), refused)
slugs = st.sampled_from([*ODD, "ambiguous", "security", "major"])
# Usually the person who looked confirms it: someone else is shown another plan, because they come along themselves.
by_chance = st.sampled_from([True, True, True, False])  # `one_of` would draw each item of `happens` as often as a look
who_looks = by_chance.flatmap(lambda same: anybody.map(lambda one: (one, one)) if same else st.tuples(anybody, anybody))
nothing_else = by_chance.flatmap(lambda calm: st.none() if calm else happens)
looked_at = st.builds(
    lambda who, *rest: ("look", *who, *rest),
    who_looks, slugs, st.lists(anybody, max_size=2, unique=True), st.booleans(), nothing_else,
)  # fmt: skip
stories = st.lists(st.tuples(st.lists(fails | happens, max_size=2), looked_at), min_size=1, max_size=4).map(
    lambda parts: [step for before, look in parts for step in (*before, look)]
)


@dataclass
class Promised(Story):
    """A story in which people look at plans, and others confirm them."""

    def fails(self, what: str) -> None:
        """Make something be refused for good until someone looks at a plan."""
        refuse(self.duty, what)

    def mended(self) -> None:
        self.duty.account.faults.clear()
        self.duty.house.slack.faults.clear()

    def say(self, by: str) -> None:
        lifecycle.update(self.incident, text="half are back", by=self.person(by), at=self.duty.house.now())

    def gone(self, who: str) -> None:
        """Let a person leave the workspace for good."""
        self.duty.house.slack.person(who).deleted = True
        workspace_cache.refresh(everybody=True)

    def stays(self, who: str) -> bool:
        return not self.duty.house.slack.person(who).deleted

    def leave(self, who: str) -> None:
        if self.stays(who) and not self.closed():
            super().leave(who)

    def invite(self, by: str, who: str) -> None:
        if self.stays(by) and self.stays(who) and not self.closed():
            super().invite(by, who)

    def group(self, handle: str, who: str) -> None:
        if self.stays(who) and all(self.stays(one) for one in GROUPS[handle]):
            super().group(handle, who)

    def closed(self) -> bool:
        name = self.channel()
        return not name or self.duty.house.slack.channel(name).is_archived

    def archived(self) -> None:
        self.by_hand("archive", unless=self.closed())

    def unarchived(self) -> None:
        self.by_hand("unarchive", unless=not self.channel() or not self.closed())

    def deleted(self) -> None:
        self.by_hand("delete_channel", unless=not self.channel())

    def by_hand(self, act: str, *, unless: bool) -> None:
        able = [one for one in self.inside() if self.stays(one)]
        if unless or not able:
            return
        slack, at = self.duty.house.slack, self.duty.house.now()
        channel = slack.channel(self.channel())
        slack.person(able[0]).is_admin = True
        getattr(slack.acts, act)(able[0], channel.name)
        if act == "delete_channel":
            rooms.deleted(channel.id, at=at)
        else:
            rooms.archived_by_hand(channel.id, archived=act == "archive", at=at)

    def another(self, by: str) -> None:
        rooms.open_another(self.incident, by=self.person(by), at=self.duty.house.now())

    def channel(self) -> str:
        found = self.incident.resources.filter(key=f"channel/{self.incident.room}", state="there").first()
        return str(found.external["name"]) if found else ""

    def look(self, who: str, by: str, to: str, bring: list[str], come: bool, meanwhile: Any) -> None:
        """Someone looks, something may happen, and someone confirms what was looked at."""
        self.settle()
        self.mended()
        house, type = self.duty.house, self.duty.house.type(to)
        asked: dict[str, Any] = {"to": type, "come": come}
        if not (self.sees(who) and self.incident.is_active and type.pk != self.incident.type_id):
            return
        people = [self.person(one) for one in bring]
        shown = retyping.preview(self.incident, by=self.person(who), bring=people, **asked)
        if meanwhile is not None:
            self.play(meanwhile)
            self.settle()
        if not self.sees(by):
            return
        people = list(Person.objects.filter(pk__in=[one.pk for one in people]))
        pages, last, owed = self.pages(), self.incident.last_n, self.owed()
        house.slack.calls.clear()
        try:
            retyping.confirm(
                self.incident, by=self.person(by), bring=people, at=house.now(), digest=shown.digest, **asked
            )
        except retyping.PlanChanged:
            event("another plan is shown")
            return
        event("what failed is tried again" if shown.retries else "nothing had failed")
        event(f"confirmed{'' if meanwhile is None else ' though something happened'}")
        self.incident = Incident.objects.select_related("type", "policy_version", "lead").get(pk=self.incident.pk)
        self.is_planned_so(shown)
        self.settle()
        self.is_done(shown, pages=pages, last=last, owed=owed)

    def owed(self) -> Counter[str]:
        """Return what already waits, by the call it takes: for example, for a channel that could not be opened."""
        return Counter(self.incident.effects.filter(state="waiting").values_list("method", flat=True))

    def pages(self) -> dict[str, str]:
        return {id: one.status for id, one in self.duty.account.account.incidents.items()}

    def is_planned_so(self, shown: Plan) -> None:
        """Check that the incident's plan now equals the one that was shown in advance."""
        known = load_facts.one(self.incident)
        now = plan(desired_state(known.facts), known.observed)
        again = {key.rpartition("#")[0] for key in shown.retries}  # with its current words
        then, since = ([one for one in some if one.thing not in again] for some in (shown.actions, now.actions))
        assert steps(then) == steps(since)
        assert {gap.key for gap in now.gaps} <= {gap.key for gap in shown.gaps}
        assert not participation.of(known.facts).coming, "whom the plan named came in as it was confirmed"

    def is_done(self, shown: Plan, *, pages: dict[str, str], last: int, owed: Counter[str]) -> None:
        """Check that the requests to Slack and PagerDuty are exactly what the lines say.

        What is missing, paged, or asked of people inside is also said in the channel, in words of its own. What was
        ``owed`` before may be done by now.
        """
        lines = "\n".join(map(str, shown.lines))
        calls = [call for call in self.duty.house.slack.calls if call.ok and call.writes and not is_direct(call.args)]
        ids = {one for call in calls if call.method == INVITE for one in str(call.args["users"]).split(",")}
        invited = {self.duty.house.slack.person(one).handle for one in ids}
        assert named(line.text for line in shown.lines if line.sign == "+") == invited, lines
        since = Counter(self.incident.events.filter(n__gt=last).values_list("kind", flat=True))
        spare = {
            "chat.postMessage": since["gap"] + since["page"] + since["offered"],
            "chat.update": since["request_over"],
        }
        did, said = Counter(call.method for call in calls if call.method != INVITE), Counter(promised(shown))
        for method in did | said:
            assert 0 <= did[method] - said[method] <= spare.get(method, 0) + owed[method], (method, did, said, lines)
        now = self.pages()
        ended = sum(now[id] == "resolved" != status for id, status in pages.items())
        assert len(now) - len(pages) == count(shown, "+", "page"), lines
        assert ended == count(shown, "-", "page"), lines


def refuse(duty: Duty, what: str) -> None:
    if what == "pager":
        duty.account.faults.add("forbidden", method="*", path="*")
    else:
        duty.house.slack.faults.add("error", method=what, error="restricted_action")


def steps(actions: Iterable[Action]) -> Counter[tuple[object, ...]]:
    """Return the actions without their words, or the numbers of entries and rooms that were not known yet."""
    found: Counter[tuple[object, ...]] = Counter()
    for one in actions:
        if one.kind == "member":
            found.update((one.kind, one.room, person) for person in one.spec["people"])
        else:
            is_new = one.thing.startswith("told/") and one.verb == CREATE
            found[one.kind, one.verb, one.room if is_new else one.thing] += 1
    return found


def promised(shown: Plan) -> Iterator[str]:
    """Yield the calls that a plan's lines stand for, except invitations."""
    for line in shown.lines:
        if line.key == "small":
            for text in line.text.split(", "):
                yield next(call for begins, call in SMALL.items() if text.startswith(begins))
        elif call := CALLS.get((line.sign, line.key)):
            yield from [call] * line.count


def count(shown: Plan, sign: str, key: str) -> int:
    return sum(line.count for line in shown.lines if (line.sign, line.key) == (sign, key))


def is_direct(args: Any) -> bool:
    return str(args.get("channel", "")).startswith(("U", "D"))


@pytest.fixture(scope="module")
def built_duty(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Duty]:
    """A house with a pager, two more people, and an empty group. Built once for all stories."""

    @contextmanager
    def laid() -> Iterator[Duty]:
        with standing_by.duty(others=("sid", "max")) as made:
            made.house.slack.add_group("nobody", members=[])
            workspace_cache.refresh(everybody=True)
            yield made

    with once.laid(django_db_blocker, laid) as made:
        yield made


ONE_BOSS: Final = {"one_of": [{"role": "Boss", "schedule": "Platform leadership"}]}


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    asked=st.lists(odd, min_size=3, max_size=3),
    first=slugs,
    converts=st.booleans(),
    at_first=st.none() | refused,
    story=stories,
)
@example(
    asked=[ONE_BOSS] * 3,
    first="odd-1",
    converts=False,
    at_first=None,
    story=[("shift", "Platform leadership", "eve"), ("deleted",), ("look", "dee", "dee", "odd-2", [], True, None)],
)
def test_what_a_plan_says_is_done_and_nothing_else(
    built_duty: Duty,
    db: None,
    *,
    asked: list[dict[str, Any]],
    first: str,
    converts: bool,
    at_first: str | None,
    story: list[Any],
) -> None:
    with transaction.atomic():
        with (
            standing_by.copied(built_duty) as duty,
            organisation(duty.house, pager=duty.pager) if converts else nullcontext(),
        ):
            house = duty.house
            house.clock = timezone.now()  # whatever follows a retype has a later time
            for slug, about in zip(ODD, asked, strict=True):
                body = {"slug": slug, "name": slug.title(), "says": "Odd", **about}
                types.add(Policy.from_dict(body), by=None, at=house.now())
            if at_first is not None:
                refuse(duty, at_first)
            declared = lifecycle.declare("Slow", by=house.person("dee"), at=house.now(), type=house.type(first))
            found = Promised(duty, house.settle(declared))
            for step in story:
                found.play(step)
        transaction.set_rollback(True)
