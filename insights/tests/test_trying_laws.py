"""What types are said to have done differently is what playing each incident under both would give."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from incidents.policies.policy import OneOf, Policy
from insights.trying import difference, play
from insights.trying.life import LifeMoment, PastLife
from workflows.planning import participation
from workflows.planning.pages import ACKNOWLEDGED
from workflows.tests.shipped_facts import GROUPS, POLICIES, callees, entered, facts, groups, someone
from workflows.tests.world import World

EXAMPLES = int(os.environ.get("FIREKIND_TRYING_EXAMPLES", "6"))  # of policies and stories; 200 take 20 s
NAMES = sorted(name for name, callee in callees().items() if callee is not None)

SCRIBE = OneOf("Scribe", "incident-response")
TYPES = POLICIES | {
    "ambiguous": replace(POLICIES["ambiguous"], invite=(), pages=("Major incidents",), one_of=(SCRIBE,)),
    "major": replace(POLICIES["major"], invite=("support",), one_of=(SCRIBE,)),
}
PEOPLE = {"dee", "pat", "eve", "max", "sid", *" ".join(GROUPS.values()).split()}

slugs = st.sampled_from(["ambiguous", "major", "security", "time-bomb"])
answers = st.frozensets(st.sampled_from(["policy/PE", "policy/PM", "policy/PS"]), max_size=1)
moments = st.builds(LifeMoment, slugs, answers)
stories = st.lists(moments, min_size=2, max_size=6).map(
    lambda some: [one for place, one in enumerate(some) if not place or one.slug != some[place - 1].slug]
)
edits = st.fixed_dictionaries(
    {},
    optional={
        "invite": st.lists(st.sampled_from(sorted(GROUPS)), unique=True, max_size=3).map(tuple),
        "pages": st.lists(st.sampled_from(NAMES), unique=True, max_size=2).map(tuple),
        "one_of": st.sampled_from([(), (OneOf("Scribe", "leadership"),), (SCRIBE,)]),
        "private": st.booleans(),
    },
)


@dataclass(slots=True)
class Lived(World):
    """A world in which choices for roles are recorded, as reconciling does."""

    def settle(self) -> None:
        """Reconcile until nothing is left, and keep the choices."""
        World.settle(self)
        chosen = participation.of(self.facts).chosen
        self.facts = replace(self.facts, chosen={**self.facts.chosen, **chosen})


def lived(story: list[LifeMoment], policies: Mapping[str, Policy]) -> Lived:
    """Play a story from the start, with a plan and its effects at every moment."""
    first, *rest = story
    policy = policies[first.slug]
    begun = facts(first.slug, pager=True)
    room = replace(begun.rooms[0], private=policy.private)
    world = Lived(entered(replace(begun, policy=policy, private=policy.private, rooms=(room,))), policies=policies)
    world.settle()
    for moment in rest:
        for place, page in enumerate(world.facts.paged):
            if page.is_open and page.ref in moment.answered:
                world.hear((ACKNOWLEDGED, place))
        world.retype(moment.slug)
        world.settle()
    return world


def invited(world: World) -> set[str]:
    """Return everyone who was ever invited."""
    return {person for action in world.done if action.kind == "member" for person in action.spec["people"]}


def paged(world: World) -> Counter[str]:
    """Return how often each target was paged."""
    return Counter(action.spec["name"] for action in world.done if action.kind == "page" and action.verb == "create")


def alike(life: PastLife, story: list[LifeMoment], policies: Mapping[str, Policy]) -> Lived:
    """Play a story, and check that planning it again brings in the same people and pages the same targets."""
    world, played = lived(story, policies), play.play(life, policies)
    chat_ids = {someone(name).person_id: someone(name).chat_id for name in PEOPLE}
    assert {chat_ids[one] for one in played.people} == invited(world)
    assert Counter(act.words[0] for act in played.pages.values()) == paged(world)
    assert bool(played.private) == world.facts.private
    return world


@settings(max_examples=EXAMPLES, deadline=None)
@given(edited=st.dictionaries(slugs, edits, min_size=1, max_size=3), told=st.lists(stories, min_size=1, max_size=3))
def test_the_difference_is_that_of_planning_both_from_scratch(
    edited: dict[str, dict[str, object]], told: list[list[LifeMoment]]
) -> None:
    after = {slug: replace(one, **edited.get(slug, {})) for slug, one in TYPES.items()}  # type: ignore[arg-type]  # fields of a policy
    base = replace(facts(pager=True), groups=groups())
    lives = [PastLife(replace(base, codename=f"case-{n}"), tuple(story)) for n, story in enumerate(told)]
    found = difference.between(lives, TYPES, after)
    pages: Counter[str] = Counter()
    news: dict[str, set[str]] = {}
    for life, story in zip(lives, told, strict=True):
        was, now = (alike(life, story, policies) for policies in (TYPES, after))
        pages.update(paged(now))
        pages.subtract(paged(was))
        name = life.facts.codename
        news[name] = invited(now) - invited(was)
        assert (name in {one for some in found.brought.values() for one in some}) == bool(news[name])
        assert (name in {one for some in found.spared.values() for one in some}) == bool(invited(was) - invited(now))
    said: Counter[str] = Counter()
    for (_, name), count in found.pages.items():
        said[name] += count
    assert {name: count for name, count in said.items() if count} == {name: n for name, n in pages.items() if n}
    for (_, way), names in found.brought.items():
        if way.startswith("@"):
            members = {someone(one).chat_id for one in GROUPS[way.removeprefix("@")].split()}
            assert all(members & news[name] for name in names), way
