"""Exact plans: the words in the table come out."""

from __future__ import annotations

from dataclasses import replace

from workflows.performing.performers import PERFORMERS
from workflows.planning.actions import CREATE, INVITE_AT_MOST, KINDS
from workflows.planning.desired import desired_state
from workflows.planning.facts import Stay
from workflows.planning.observed import GONE, Observed, ObservedThing, Owed
from workflows.planning.pages import ACKNOWLEDGED, RESOLVED, TRIGGERED, Paged, Stranger
from workflows.planning.plan import plan
from workflows.planning.things import Desired, Thing
from workflows.tests.shipped_facts import POLICIES, facts, groups, someone
from workflows.tests.world import World


def lines(world: World) -> list[str]:
    return [str(line) for line in world.reconcile().lines]


def test_a_declaration_in_words() -> None:
    assert lines(World(facts("ambiguous"))) == [
        "+ open #inc-amber-otter",
        "+ invite Ann, Ben (@incident-response)",
        "+ invite Lea (@leadership-oncall)",
        "+ invite Dee (declared it)",
        "+ post the headline",
        "+ post the announcement in #incidents",
        "+ capture 15 s of CPU from checkout-api",
        "+ set the topic, bookmark the incident page, pin the headline",
    ]


def test_an_internal_incident_brings_nobody_in_and_is_not_announced() -> None:
    said = lines(World(facts("internal")))
    assert "+ invite Dee (declared it)" in said
    assert not any("announcement" in line or "@" in line for line in said)


def test_exactly_one_of_a_group_is_chosen_and_stays_chosen() -> None:
    world = World(facts("security"))
    world.settle()
    chosen = desired_state(world.known()).chosen["Platform leadership"]
    assert chosen.name == "Pat"
    world.facts = replace(
        world.facts,
        chosen={"Platform leadership": someone("pia", "the one of @platform-leadership")},
        groups=groups(),
        revision=world.facts.revision + 1,
    )
    assert desired_state(world.known()).chosen["Platform leadership"].name == "Pia"


def test_somebody_who_is_here_anyway_is_the_one() -> None:
    before = facts("security")
    after = replace(before, lead=someone("pia", "leads"))
    assert desired_state(after).chosen["Platform leadership"].name == "Pia"


def test_a_group_that_does_not_exist_is_a_gap_in_words() -> None:
    known = facts("isolated")
    lacking = replace(known, groups={**known.groups, "support": None})
    result = plan(desired_state(lacking), Observed())
    assert [gap.key for gap in result.gaps] == ["group/support"]
    assert any(line.sign == "!" and "@support" in line.text for line in result.lines)


def test_invitations_go_out_at_most_a_hundred_at_a_time() -> None:
    crowd = " ".join(f"p{number:03}" for number in range(250))
    known = replace(facts("internal"), policy=replace(facts("security").policy, private=False, invite=("crowd",)))
    known = replace(known, groups={"crowd": groups({"crowd": crowd})["crowd"], "platform-leadership": ()})
    sizes = [
        len(action.spec["people"])
        for action in plan(desired_state(known), Observed()).actions
        if action.kind == "member"
    ]
    assert sizes == [INVITE_AT_MOST, INVITE_AT_MOST, 51]


def test_nothing_is_planned_where_no_chat_is_connected() -> None:
    assert plan(desired_state(replace(facts("internal"), chat=False)), Observed()).is_empty


def test_an_incident_that_ended_before_its_room_was_opened_opens_none() -> None:
    assert plan(desired_state(replace(facts(), active=False, status="cancelled")), Observed()).is_empty


def test_what_was_owed_and_has_not_begun_is_cancelled_by_a_move_to_private() -> None:
    world = World(facts("ambiguous"))
    world.reconcile()
    world.retype("security")
    result = world.reconcile()
    assert {"channel/1#1", "headline/1#1", "announcement#1"} <= set(result.cancels)
    assert [action.key for action in result.actions if action.kind == "channel"] == ["channel/2#1"]


def test_a_change_waits_for_the_one_that_is_under_way() -> None:
    world = World(facts("ambiguous"))
    world.settle()
    world.retype("major")
    world.reconcile()
    topic = next(action for action in world.open.values() if action.kind == "topic")
    world.begin(topic)
    world.retype("isolated")
    world.reconcile()
    newer = [action for action in world.open.values() if action.kind == "topic" and action.key != topic.key]
    assert [action.after for action in newer] == [(topic.key,)]


def test_every_kind_says_and_does_all_that_it_knows() -> None:
    for name, kind in KINDS.items():
        for verb, says in (("create", kind.create), ("change", kind.change), ("retire", kind.retire)):
            assert ((name, verb) in PERFORMERS) == (says is not None), (name, verb)
            assert (verb in kind.methods) == (says is not None), (name, verb)


def test_a_retype_shows_whom_it_pages_and_which_page_it_ends() -> None:
    world = World(facts("ambiguous", pager=True))
    assert "+ page Engineering (pages Eve)" in lines(world)
    world.settle()
    world.retype("major")
    said = lines(world)
    assert "+ page Major incidents (pages Max)" in said
    assert "- resolve the page to Engineering" in said
    assert "+ invite Max (on call)" in said


def test_a_page_that_somebody_is_on_stays_open_under_a_name_that_says_nothing() -> None:
    world = World(facts("ambiguous", pager=True))
    world.settle()
    world.hear(("acknowledged", 0))
    world.retype("security")
    said = lines(world)
    assert "~ change the title of the page to Engineering" in said
    assert not any("resolve the page" in line for line in said)


def test_there_and_back_again_says_who_is_paged_again_and_who_is_not() -> None:
    world = World(facts("ambiguous", pager=True))
    for slug in ("internal", "ambiguous"):
        world.settle()
        world.retype(slug)
    assert "+ page Engineering (pages Eve) again, because no one acknowledged" in lines(world)
    world.settle()
    world.hear((ACKNOWLEDGED, 1))
    world.hear((RESOLVED, 1))
    for slug in ("internal", "ambiguous"):
        world.settle()
        world.retype(slug)
    assert "= Engineering was already paged and is not paged again: Max answered" in lines(world)


def test_who_is_known_late_comes_in_by_their_page_in_public_and_is_a_gap_in_private() -> None:
    uma, stranger = someone("uma", "on call"), Stranger("PUMA", "Uma Ray", "they were matched since")
    page = Paged("page/policy/PM", "policy/PM", "Major incidents", "S1", TRIGGERED, late=((uma, stranger),))
    public = replace(facts("major", pager=True), paged=(page,))
    dee = Stay(someone("dee"), "declared")
    private = public.retyped(POLICIES["security"], staying=(dee,), bring=())
    brought = public.retyped(POLICIES["security"], staying=(dee, Stay(uma, "picked")), bring=(uma,))
    for known, comes, missing in ((public, True, False), (private, False, True), (brought, True, False)):
        found = desired_state(known)
        assert ("UMA" in {thing.spec.get("person") for thing in found.things if thing.kind == "member"}) == comes
        assert ("callee/PUMA" in {gap.key for gap in found.gaps}) == missing


def test_what_the_pager_does_not_have_is_a_gap() -> None:
    result = plan(desired_state(facts("isolated", pager=True)), Observed())
    assert [gap.key for gap in result.gaps] == ["page/Nobody home"]
    assert "page payments (no one is on call)" in [action.sentence for action in result.actions]


def test_whoever_is_on_call_has_the_role_past_the_end_of_their_shift() -> None:
    before = facts("security", pager=True)
    assert desired_state(before).chosen["Platform leadership"].why == "on call for Platform leadership"
    after = replace(
        before,
        chosen={"Platform leadership": someone("pat", "on call for Platform leadership")},
        on_call={"Platform leadership": (someone("pia", "on call for Platform leadership"),)},
    )
    assert desired_state(after).chosen["Platform leadership"].name == "Pat"


def test_nobody_on_call_is_the_group_then_whom_the_type_names_then_a_gap() -> None:
    known = replace(facts("security", pager=True), on_call={"Platform leadership": ()})
    assert desired_state(known).chosen["Platform leadership"].name == "Pat"  # by the group
    alone = replace(known, groups={**known.groups, "platform-leadership": ()})
    role = replace(alone.policy.one_of[0], otherwise="leo@example.com")
    named = replace(alone, policy=replace(alone.policy, one_of=(role,)), otherwise={"leo@example.com": someone("leo")})
    assert desired_state(named).chosen["Platform leadership"].name == "Leo"
    (gap,) = (gap for gap in desired_state(alone).gaps if gap.key.startswith("one-of"))
    assert gap.key == "one-of/Platform leadership"
    assert "no one is on call for Platform leadership" in gap.says
    filled = replace(alone, roles=(("Platform leadership", someone("zoe")),))
    assert not [gap for gap in desired_state(filled).gaps if gap.key.startswith("one-of")]


def test_what_failed_is_not_tried_again_because_a_channel_that_it_waited_for_is_gone() -> None:
    thing = Thing("announcement", "post", {"card": {"kind": "x"}}, "the announcement")
    owed = Owed("announcement#1", CREATE, thing.spec, started=True, failed=True, needs=("channel/1",))
    seen = {"channel/1": ObservedThing("channel", {}, GONE, 1)}
    found = plan(Desired((thing,)), Observed(seen, {"announcement": (owed,)}))
    assert found.is_empty


def test_what_belongs_to_a_message_that_was_taken_away_is_not_asked_for() -> None:
    """Owed or not: there is nothing to pin, and it would wait forever."""
    pin, headline = "pin/1", Thing("headline/1", "post", {"card": {}}, "the headline", ("channel/1",), 1)
    things = (headline, Thing(pin, "pin", {"post": "headline/1"}, "the headline", ("headline/1",), 1))
    seen = {"channel/1": ObservedThing("channel", {}, room=1), "headline/1": ObservedThing("post", {}, GONE, 1)}
    owed = {pin: (Owed(f"{pin}#1", CREATE, {"post": "headline/1"}, started=False, room=1, needs=("headline/1",)),)}
    assert plan(Desired(things), Observed(seen, {})).actions == ()
    found = plan(Desired(things), Observed(seen, owed))
    assert (found.actions, found.cancels) == ((), (f"{pin}#1",))
    there = {**seen, "headline/1": ObservedThing("post", {"card": {}}, room=1)}
    assert [one.key for one in plan(Desired(things), Observed(there, {})).actions] == [f"{pin}#1"]
    assert plan(Desired(things), Observed(there, owed)).cancels == ()


def test_what_waits_for_a_message_that_never_comes_is_called_off() -> None:
    """After a restore a pin may have been begun, and its message may be unknown, in a room that people archived."""
    pin, headline = "pin/1", Thing("headline/1", "post", {"card": {}}, "the headline", ("channel/1",), 1)
    things = (headline, Thing(pin, "pin", {"post": "headline/1"}, "the headline", ("headline/1",), 1))
    begun = Owed(f"{pin}#1", CREATE, {"post": "headline/1"}, started=True, room=1, needs=("headline/1",))
    post = Owed("headline/1#1", CREATE, {"card": {}}, started=True, room=1, needs=("channel/1",))
    archived = {"channel/1": ObservedThing("channel", {}, room=1), "archived/1": ObservedThing("archived", {}, room=1)}
    assert plan(Desired(things), Observed(archived, {pin: (begun,)})).cancels == (f"{pin}#1",)
    assert plan(Desired(things), Observed(archived, {pin: (begun,), "headline/1": (post,)})).cancels == ()
    found = plan(Desired(things), Observed({"channel/1": archived["channel/1"]}, {pin: (begun,)}))
    assert (found.cancels, [one.key for one in found.actions]) == ((), ["headline/1#1"])
