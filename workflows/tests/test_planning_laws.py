"""Laws of the planner, over random sequences of verbs with effects succeeding at any moment in between."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from workflows.performing.performers import PERFORMERS
from workflows.planning import captures
from workflows.planning.actions import Action
from workflows.planning.observed import GONE, THERE
from workflows.planning.pages import ACKNOWLEDGED, RESOLVED
from workflows.tests.shipped_facts import facts
from workflows.tests.stories import nights, play, steps, types
from workflows.tests.world import World


@settings(max_examples=300, deadline=None)
@given(first=types, story=st.one_of(nights, st.lists(steps, max_size=25)))
def test_every_story_converges_and_nothing_is_done_twice_and_everyone_asked_for_is_paged(
    first: str, story: list[tuple[str, object]]
) -> None:
    """Played once for everything that holds for a story that has settled."""
    world = World(facts(first, pager=True))
    play(world, story)
    world.settle()
    nothing_is_left_to_do_and_nothing_was_done_twice(world)
    who_answered_is_not_paged_twice_and_who_is_asked_for_is_paged(world)
    who_is_paged_is_in_the_channel_or_missing_on_the_plan(world)


def nothing_is_left_to_do_and_nothing_was_done_twice(world: World) -> None:
    assert world.reconcile().is_empty
    keys = [action.key for action in world.done]
    assert len(keys) == len(set(keys))
    for action in world.done:
        assert (action.kind, action.verb) in PERFORMERS
        assert action.sentence
        assert action.sign in "+~-"


def who_answered_is_not_paged_twice_and_who_is_asked_for_is_paged(world: World) -> None:
    """At most one page to a target is open, and none is opened where someone answered: see ``World``."""
    opened = [action.thing for action in world.done if action.kind == "page" and action.verb == "create"]
    assert len(opened) == len(set(opened))
    pages = {one.key: one for one in world.facts.paged}
    states = {key: seen.state for key, seen in world.known_things().items() if seen.kind == "page"}
    if not world.facts.active:
        assert set(states.values()) <= {GONE}
        return
    asked_now = {callee.ref for name in world.facts.policy.pages if (callee := world.facts.callees[name])}
    by_hand = {one.key for one in world.facts.asked}
    paged = {one.ref for one in pages.values() if one.status != RESOLVED or one.answered or not one.withdrawn}
    assert asked_now <= paged, "nobody was paged, and nobody is"
    assert by_hand <= states.keys()
    for key, state in states.items():
        if state == THERE:
            assert pages[key].ref in asked_now or key in by_hand or pages[key].status == ACKNOWLEDGED
        else:
            assert pages[key].status == RESOLVED


def who_is_paged_is_in_the_channel_or_missing_on_the_plan(world: World) -> None:
    """Everyone paged by an open page for this room is invited, or is a gap, exactly once, however many pages there are.

    A page that could not be opened before the incident ended reaches no one.
    """
    result = world.reconcile()
    keys = [gap.key for gap in result.gaps]
    assert len(keys) == len(set(keys))
    if not world.facts.active:
        return
    asked_for = {one.callee.ref for one in world.facts.asked if one.room == world.facts.room}
    asked_for |= {callee.ref for name in world.facts.policy.pages if (callee := world.facts.callees[name])}
    for page in (one for one in world.facts.paged if one.is_open and one.ref in asked_for):
        assert {f"callee/{one.id}" for one in page.strangers} <= set(keys)
        there = {
            f"member/{world.facts.room}/{one.chat_id}" for one in page.people if one.person_id not in world.facts.away
        }
        assert there <= world.seen.keys()
    if not any(one.is_open for one in world.facts.paged):
        assert not [key for key in keys if key.startswith("callee/")]


@settings(max_examples=150, deadline=None)
@given(first=types, story=st.lists(steps, max_size=25))
def test_once_private_nothing_new_is_said_in_public_nor_to_the_pager(
    first: str, story: list[tuple[str, object]]
) -> None:
    """Played once for everything that holds for a story that became private and has settled."""
    world = World(facts(first, pager=True))
    play(world, story)
    if not world.facts.private:
        if not world.facts.active:
            world.status("open")
        world.retype("security")
    before = len(world.done)
    begun = set(world.started)  # calls under way cannot be called off; what they say is withdrawn afterwards
    world.settle()
    since = [action for action in world.done[before:] if action.key not in begun]
    nothing_new_was_said_in_public(world, since)
    no_page_says_what_it_is_about(world, since)
    titles_of_pages_that_ended_were_tried_as_well_and_once(world)


def nothing_new_was_said_in_public(world: World, since: list[Action]) -> None:
    public = {room.number for room in world.facts.rooms if not room.private}
    said = [action for action in since if action.kind == "post" and is_public(action.room, action.thing, public)]
    assert {action.spec["card"]["kind"] for action in said} <= {"withdrawn", "farewell"}
    assert all(action.spec["private"] for action in since if action.kind == "channel")
    assert not [key for key, seen in world.seen.items() if seen.kind == "picture" and seen.room in public]
    posts = {key: seen for key, seen in world.seen.items() if seen.kind == "post"}
    assert not [key for key, seen in posts.items() if is_public(seen.room, key, public) and "secret" in str(seen.spec)]


def no_page_says_what_it_is_about(world: World, since: list[Action]) -> None:
    new = [one for one in since if one.kind == "page" and one.verb != "retire"]
    assert not [one for one in new if world.facts.title in one.spec["title"]]
    still_open = [seen for seen in world.known_things().values() if seen.kind == "page" and seen.state == THERE]
    assert not [seen for seen in still_open if world.facts.title in seen.spec["title"]]


def titles_of_pages_that_ended_were_tried_as_well_and_once(world: World) -> None:
    tried = [one.spec["page"] for one in world.done if one.kind == "title"]
    assert len(tried) == len(set(tried))
    kept = {one.key for one in world.facts.paged if world.facts.title in one.title}
    assert kept <= set(tried)


@settings(max_examples=150, deadline=None)
@given(first=types, story=st.lists(steps, max_size=25), refused=st.booleans())
@example("ambiguous", [("tell", "impact"), ("measure", ""), ("reconcile", ""), ("perform", 0)], False)
def test_a_room_that_is_made_private_itself_hears_nothing_new_before_it_is(
    first: str, story: list[tuple[str, object]], refused: bool
) -> None:
    world = World(replace(facts(first, pager=True), converts=True))
    play(world, story)
    if not world.facts.private:
        if not world.facts.active:
            world.status("open")
        world.retype("security")
    world.reconcile()
    closing = [action for action in world.open.values() if action.kind == "closed"]
    if refused:
        for action in closing:
            world.fail(action)
    before, begun = len(world.done), set(world.started)
    world.settle()
    public = {room.number for room in world.facts.rooms if world.is_public(room.number)}
    for n, action in enumerate(world.done[before:]):
        if action.kind == "closed":
            assert action.room not in public
            assert not [one for one in world.done[before : before + n] if is_new(one, action.room, begun)]
    said = [one for one in world.done[before:] if one.kind == "post" and is_public(one.room, one.thing, public)]
    assert {one.spec["card"]["kind"] for one in said if one.key not in begun} <= {"withdrawn", "farewell"}


def is_new(action: Action, room: int | None, begun: set[str]) -> bool:
    """Return whether something new was said or someone came in, in a room that was not private yet."""
    return action.room == room and action.kind in {"post", "member", "topic"} and action.key not in begun


@settings(max_examples=80, deadline=None)
@given(first=types, story=st.lists(steps, max_size=25))
def test_while_the_private_channel_cannot_be_made_nothing_new_is_public(
    first: str, story: list[tuple[str, object]]
) -> None:
    world = World(facts(first, pager=True))
    play(world, story)
    if world.facts.private:
        return
    if not world.facts.active:
        world.status("open")
    world.retype("security")
    begun = set(world.started)
    before = len(world.done)
    for _ in range(30):
        world.reconcile()
        ready = [one for one in world.ready() if one.key not in world.failed]
        for action in ready:
            (world.fail if action.kind == "channel" else world.perform)(action)
        if not ready:
            break
    new = [one for one in world.done[before:] if one.key not in begun and one.kind in {"post", "member", "archived"}]
    assert {one.spec.get("card", {}).get("kind") for one in new} <= {"withdrawn"}


def is_public(room: int | None, thing: str, public: set[int]) -> bool:
    return room in public or thing == "announcement"


@settings(max_examples=150, deadline=None)
@given(first=types, story=st.lists(steps, max_size=25))
def test_nothing_is_captured_twice_for_the_same_reason_nor_late(first: str, story: list[tuple[str, object]]) -> None:
    world = World(facts(first, pager=True))
    for step in story:
        before = len(world.done)
        hurt = world.facts.status == "open"
        play(world, [step])
        done = [action for action in world.done[before:] if action.kind == "capture"]
        if step[0] == "settle":  # captures that had not begun when the impact ended are not taken as if it went on
            asked = {one.n for one in world.facts.triggers if one.asked}
            late = [one for one in done if one.spec["phase"] == "during" and int(one.thing.split("/")[1]) not in asked]
            assert hurt or not [one for one in late if one.key not in world.started]
    world.settle()
    things = [action.thing for action in world.done if action.kind == "capture"]
    assert len(things) == len(set(things))
    asked = {one.n for one in world.facts.triggers if one.asked}
    if world.facts.status not in captures.ENDED_FOR_NOTHING:
        assert asked <= {int(thing.split("/")[1]) for thing in things}


@settings(max_examples=60, deadline=None)
@given(first=types, path=st.lists(types, min_size=1, max_size=6), answer=st.sampled_from([ACKNOWLEDGED, RESOLVED, ""]))
def test_the_plan_says_on_its_face_who_is_paged_again_and_who_is_not(first: str, path: list[str], answer: str) -> None:
    world = World(facts(first, pager=True))
    world.settle()
    for slug in [*path, *reversed(path)]:
        if slug == world.facts.policy.slug:
            continue
        if answer:
            world.hear((answer, 0))
        over = {one.name for one in world.facts.paged if not one.is_open and not one.is_void}
        world.retype(slug)
        face = [line for line in world.reconcile().lines if line.key.startswith("page") and not line.is_quiet]
        for name in world.facts.policy.pages:
            if world.facts.callees[name]:
                (line,) = [line for line in face if name in line.text and line.sign in "+="]
                assert line.sign == "=" or name not in over
                assert name not in over or "not paged again" in line.text
        world.settle()


@settings(max_examples=60, deadline=None)
@given(first=types, path=st.lists(types, min_size=1, max_size=6))
def test_there_and_back_again_makes_and_invites_nothing_twice(first: str, path: list[str]) -> None:
    world = World(facts(first, pager=True))
    world.settle()
    for slug in [*path, *reversed(path)]:
        if slug != world.facts.policy.slug:
            world.retype(slug)
            world.settle()
    invited = [person for action in world.done if action.kind == "member" for person in action.spec["people"]]
    rooms = {action.room for action in world.done if action.kind == "member"}
    assert len(invited) <= len(set(invited)) * len(rooms)
    assert sum(action.kind == "channel" for action in world.done) == world.facts.room


@settings(max_examples=60, deadline=None)
@given(first=types, to=types)
def test_the_digest_changes_with_what_is_said_and_only_then(first: str, to: str) -> None:
    world = World(facts(first, pager=True))
    world.settle()
    world.retype(to)
    one, two = World(world.facts, dict(world.seen)), World(world.facts, dict(world.seen))
    assert one.reconcile().digest == two.reconcile().digest
    if "zoe".upper() not in str(world.seen):
        two = World(world.facts, dict(world.seen))
        two.lead("zoe")
        assert one.observed() != two.observed() or one.reconcile().digest != two.reconcile().digest


@settings(max_examples=150, deadline=None)
@given(first=types, story=st.lists(steps, max_size=20), to=types)
def test_each_capture_that_a_retype_calls_off_is_counted_on_its_plan(
    first: str, story: list[tuple[str, object]], to: str
) -> None:
    world = World(facts(first))
    play(world, story)
    world.reconcile()
    if not world.facts.active:
        return
    world.retype(to)
    owed = {key: chain for key, chain in world.observed().owed.items() if key.startswith("capture/")}
    result = world.reconcile()
    made = {action.thing for action in result.actions}
    stopped = [one for key, chain in owed.items() if key not in made for one in chain if one.effect in result.cancels]
    said = sum(line.count for line in result.lines if (line.sign, line.key) == ("-", "capture"))
    assert said == sum(not one.failed for one in stopped)
