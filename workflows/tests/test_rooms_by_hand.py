"""A channel that a person archives, deletes, opens or closes holds up nothing anywhere else."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from workflows.planning.observed import THEIRS, THERE
from workflows.tests.shipped_facts import facts
from workflows.tests.stories import another, by_hand, play, steps, types
from workflows.tests.world import World

# A channel archived, or deleted, before its handover message is posted.
CAME_BETWEEN = [("settle", ""), ("retype", "security"), ("reconcile", ""), *[("perform", 0)] * 3]


@settings(max_examples=500, deadline=None)
@given(first=types, story=st.lists(st.one_of(steps, by_hand, by_hand, another), max_size=25), converts=st.booleans())
@example("ambiguous", [*CAME_BETWEEN, ("archive", 1)], False)
@example("ambiguous", [*CAME_BETWEEN, ("delete", 1)], False)
def test_every_story_settles_whatever_people_do_to_its_channels(
    first: str, story: list[tuple[str, object]], converts: bool
) -> None:
    """Nothing waits for what no one will make: ``settle`` fails if anything is left."""
    world = World(replace(facts(first, pager=True), converts=converts))
    play(world, story)
    world.settle()
    assert world.reconcile().is_empty
    old_rooms_were_left_behind(world)


@settings(max_examples=200, deadline=None)
@given(first=types, story=st.lists(st.one_of(steps, by_hand, another), max_size=25))
@example("ambiguous", [("tell", "updated"), ("reconcile", ""), ("perform", 0), ("begin", 4), ("retype", "security")])
def test_planning_again_from_the_same_facts_owes_nothing_new(first: str, story: list[tuple[str, object]]) -> None:
    world = World(facts(first, pager=True))
    for step in story:
        play(world, [step])
        world.reconcile()
        assert world.reconcile().is_empty


@settings(max_examples=300, deadline=None)
@given(
    first=types,
    story=st.lists(st.one_of(steps, by_hand), max_size=12),
    to=types,
    picks=st.lists(st.integers(0, 3), max_size=60),
)
@example("ambiguous", [("reconcile", ""), ("perform", 0), ("begin", 1)], "security", [0] * 60)
def test_archiving_comes_last_in_whatever_order_the_rest_is_done(
    first: str, story: list[tuple[str, object]], to: str, picks: list[int]
) -> None:
    """What was planned last is done first, now and then with a new plan in between; ``World.perform`` checks."""
    world = World(facts(first, pager=True))
    play(world, story)
    if world.facts.active and to != world.facts.policy.slug:
        world.retype(to)
    world.reconcile()
    for pick in picks:
        if ready := world.ready():
            world.perform(ready[-1 - pick % len(ready)])
        if pick == 3:
            world.reconcile()
    world.settle()


def test_what_was_begun_in_a_room_that_is_open_to_everyone_again_is_looked_for() -> None:
    world = World(replace(facts("ambiguous", pager=True), converts=True))
    world.settle()
    world.retype("security")
    world.tell("updated")
    world.reconcile()
    while not (begun := [one for one in world.ready() if one.kind == "post" and "closed/1" in one.needs]):
        world.perform(world.ready()[0])
    world.begin(begun[0])
    world.convert(0)
    world.settle()


def old_rooms_were_left_behind(world: World) -> None:
    """Each room the conversation left, once its successor existed, got its neutral line and was archived."""
    if f"channel/{world.facts.room}" not in world.seen:
        return
    for number in range(1, world.facts.room):
        if f"channel/{number}" in world.seen and not world.is_gone(number):
            assert world.seen[f"archived/{number}"].state in {THERE, THEIRS}
            assert f"farewell/{number}" in world.seen or world.is_archived(number)
