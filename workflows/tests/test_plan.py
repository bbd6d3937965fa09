"""Exact plans: what is in the table comes out in words."""

from __future__ import annotations

from dataclasses import replace

from workflows.actions import INVITE_AT_MOST, KINDS
from workflows.desired import desired_state
from workflows.observed import Observed
from workflows.performers import PERFORMERS
from workflows.plan import plan
from workflows.tests.world import World, facts, groups, someone


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
        "+ set the topic, bookmark the incident page",
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
    after = replace(before, people=(*before.people, someone("pia", "leads")))
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
