"""Laws of drills: whatever a policy asks for and whatever it is retyped to, a drill stays in its own rooms."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from workflows.planning import drills, participation
from workflows.planning.actions import KINDS
from workflows.planning.desired import desired_state
from workflows.planning.facts import Published
from workflows.tests.shipped_facts import GROUPS, facts, someone
from workflows.tests.stories import play, steps, types
from workflows.tests.world import World

PEOPLE = sorted({name for names in GROUPS.values() for name in names.split()} | {"max", "eve", "sid", "pat"})


@settings(max_examples=60, deadline=None)
@given(
    first=types,
    story=st.lists(steps, max_size=20),
    agreed=st.sets(st.sampled_from(PEOPLE)),
    barred=st.sets(st.sampled_from(PEOPLE)),
)
@example("security", [("retype", "ambiguous"), ("lead", "ann")], set(), set())
def test_a_drill_reaches_only_its_rooms_and_who_agreed(
    first: str, story: list[tuple[str, object]], agreed: set[str], barred: set[str]
) -> None:
    ids = frozenset(someone(name).person_id for name in agreed)
    out = frozenset(someone(name).person_id for name in barred)
    world = World(replace(facts(first, pager=True), is_drill=True, agreed=ids, barred=out))
    play(world, story)
    world.settle()
    assert {action.kind for action in world.done} <= drills.OWN
    invited = {one for action in world.done if action.kind == "member" for one in action.spec["people"]}
    came = {stay.who.chat_id for stay in world.facts.stays if stay.came in drills.THEMSELVES}
    assert invited <= {name.upper() for name in agreed} | came | {"DEE"}
    assert not invited & {name.upper() for name in barred}
    for action in world.done:
        if action.kind == "post":
            assert "channel" not in action.spec
            card = action.spec["card"]
            assert drills.WORD in str(card["title"] or card["text"])
        elif action.kind == "topic" and action.spec["text"]:
            assert action.spec["text"].startswith(drills.WORD)
    if world.facts.active:
        who = participation.of(world.facts)
        assert {one.chat_id for one in who.chosen.values()} <= {name.upper() for name in agreed} | came | {"DEE"}


@given(types, st.booleans())
@settings(max_examples=20)
def test_a_summary_of_a_drill_is_published_nowhere_and_what_is_real_stays_as_it_was(first: str, drill: bool) -> None:
    published = Published("calm-heron", "inc-calm-heron", "It is over.", "https://firekind.test/summaries/calm-heron")
    known = replace(facts(first, pager=True), published=published, is_drill=drill)
    kinds = {one.kind for one in desired_state(known).things}
    assert ("outlet" in kinds) is not drill
    assert drill or drills.within_reach(known) is known


def test_what_a_drill_may_make_is_named_kind_by_kind() -> None:
    assert set(KINDS) >= drills.OWN
    assert not drills.OWN & {"page", "capture", "outlet", "title", "direct"}
