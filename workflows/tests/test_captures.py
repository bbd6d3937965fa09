"""Which profiles are captured, when, and which no longer: each a story, and what was planned in the end."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from incidents.policies.policy import Capture
from workflows.planning import captures
from workflows.planning.captures import ASKED, LAG, ProfileSource, Trigger, WantedCapture
from workflows.planning.desired import desired_state
from workflows.planning.observed import Observed
from workflows.planning.plan import plan
from workflows.tests.shipped_facts import DECLARED_AT, POLICIES, SOURCES, facts
from workflows.tests.world import World


def captured(world: World) -> list[str]:
    """What was captured so far, by the timeline entry that asked for it."""
    return [action.thing.removeprefix("capture/") for action in world.done if action.kind == "capture"]


def lines(world: World) -> list[str]:
    return [str(line) for line in world.reconcile().lines if line.key == "capture"]


def test_a_capture_on_declare_is_taken_once() -> None:
    world = World(facts("ambiguous"))
    world.settle()
    assert captured(world) == ["1/checkout-api/cpu"]
    assert world.reconcile().is_empty


def test_taking_the_type_later_is_no_declaration() -> None:
    world = World(facts("internal"))
    world.settle()
    world.retype("ambiguous")
    world.settle()
    assert [key.split("/", 1)[1] for key in captured(world)] == ["checkout-api/heap"]


def test_there_and_back_captures_on_each_retype_and_never_again_on_declare() -> None:
    world = World(facts("ambiguous"))
    world.settle()
    for type in ("internal", "ambiguous", "internal", "ambiguous"):
        world.retype(type)
        world.settle()
    assert [key.split("/", 1)[1] for key in captured(world)] == [
        "checkout-api/cpu",
        "checkout-api/heap",
        "checkout-api/heap",
    ]


def test_what_had_not_begun_is_dropped_when_the_type_no_longer_asks_for_it() -> None:
    world = World(facts("ambiguous"))
    world.reconcile()
    world.retype("internal")
    world.settle()
    assert captured(world) == []


def test_what_had_begun_when_the_type_changed_is_kept() -> None:
    world = World(facts("ambiguous"))
    world.reconcile()
    (capture,) = [action for action in world.ready() if action.kind == "capture"]
    world.begin(capture)
    world.retype("internal")
    assert capture.key in world.reconcile().abandons
    world.settle()
    assert captured(world) == ["1/checkout-api/cpu"]


def test_before_and_after_are_the_same_source_and_kind() -> None:
    world = World(facts("ambiguous"))
    world.settle()
    world.status("mitigated")
    world.settle()
    specs = [action.spec for action in world.done if action.kind == "capture"]
    assert [(one["source"], one["kind"], one["phase"]) for one in specs] == [
        ("checkout-api", "cpu", "during"),
        ("checkout-api", "cpu", "after"),
    ]


def test_what_should_show_the_hurt_is_not_taken_once_it_no_longer_hurts() -> None:
    world = World(facts("ambiguous"))
    world.reconcile()
    world.status("mitigated")
    world.settle()
    assert [action.spec["phase"] for action in world.done if action.kind == "capture"] == ["after"]


def test_what_should_show_the_fix_is_taken_although_it_was_resolved_meanwhile() -> None:
    world = World(facts("ambiguous"))
    world.settle()
    world.status("mitigated")
    world.reconcile()
    world.status("resolved")
    world.settle()
    assert [action.spec["on"] for action in world.done if action.kind == "capture"] == ["declare", "mitigate"]


def test_a_cancelled_incident_captures_nothing_more() -> None:
    world = World(facts("ambiguous"))
    world.reconcile()
    world.status("cancelled")
    world.settle()
    assert captured(world) == []


def test_a_retype_says_which_captures_are_no_longer_taken_and_counts_their_repeats() -> None:
    world = World(facts("internal"))
    world.settle()
    world.retype("major")
    world.reconcile()
    first, *rest = [action for action in world.open.values() if action.kind == "capture"]
    world.perform(first)
    world.retype("internal")
    result = world.reconcile()
    assert {one.key for one in rest} <= set(result.cancels)
    found = [line for line in result.lines if line.key == "capture"]
    assert [(str(line), line.count) for line in found] == [
        ("- no longer capture 30 s of CPU from checkout-api (2 times)", 2)
    ]
    assert "cancels 2 captures" in result.in_short.lower()
    assert lines(world) == [], "said once"


def test_a_capture_under_way_is_not_said_to_be_called_off() -> None:
    world = World(facts("internal"))
    world.settle()
    world.retype("major")
    world.reconcile()
    for action in [one for one in world.open.values() if one.kind == "capture"]:
        world.begin(action)
    world.retype("internal")
    assert lines(world) == []


def test_repeats_are_due_one_after_the_other_and_end_with_the_next_moment() -> None:
    world = World(facts("internal"))
    world.settle()
    world.retype("major")
    assert lines(world) == ["+ capture 30 s of CPU from checkout-api (3 times)"]
    owed = [action for action in world.open.values() if action.kind == "capture"]
    at = world.facts.triggers[-1].at
    assert [action.due_at for action in owed] == [at + timedelta(minutes=5 * turn) for turn in range(3)]
    assert [action.sentence for action in owed][1] == "capture 30 s of CPU from checkout-api (2 of 3)"
    world.perform(owed[0])
    world.status("mitigated")
    world.settle()
    assert [key.split("/", 1)[1] for key in captured(world)] == ["checkout-api/cpu", "fleet/cpu"]


def test_a_source_that_looks_back_is_asked_late_about_what_lies_after_the_fix() -> None:
    world = World(facts("major"))
    world.settle()
    world.status("mitigated")
    world.reconcile()
    (capture,) = [action for action in world.open.values() if action.kind == "capture"]
    until = world.facts.triggers[-1].at + timedelta(seconds=60)
    assert (capture.spec["until"], capture.due_at) == (until.isoformat(), until + LAG)


def test_an_affected_service_brings_the_captures_of_its_sources() -> None:
    world = World(facts("internal"))
    world.serve("payments")
    assert lines(world) == ["+ capture 5 s of CPU from payments"]
    world.settle()
    world.status("mitigated")
    world.settle()
    assert [action.spec["phase"] for action in world.done if action.kind == "capture"] == ["during", "after"]


def test_a_service_that_has_no_source_captures_nothing() -> None:
    world = World(facts("internal"))
    world.serve("checkout")
    assert lines(world) == []


def test_what_somebody_asks_for_is_taken_each_time_and_whatever_the_type() -> None:
    world = World(facts("internal"))
    world.ask("checkout-api")
    world.settle()
    world.retype("security")
    world.ask("checkout-api")
    world.settle()
    asked = [action.spec for action in world.done if action.kind == "capture"]
    assert [(one["on"], one["seconds"], one["phase"]) for one in asked] == [("ask", 10, "during")] * 2


@pytest.mark.parametrize("status", ["mitigated", "resolved"])
def test_what_is_asked_for_afterwards_shows_the_time_after(status: str) -> None:
    world = World(facts("internal"))
    world.status(status)
    world.ask("checkout-api")
    world.settle()
    assert [action.spec["phase"] for action in world.done if action.kind == "capture"] == ["after"]


def test_a_source_that_is_not_listed_is_a_gap_in_words() -> None:
    result = plan(desired_state(facts("major")), Observed())
    assert "source/gone" in [gap.key for gap in result.gaps]
    assert any(line.sign == "!" and "no profile source gone" in line.text for line in result.lines)


def test_captures_need_no_chat() -> None:
    world = World(replace(facts("ambiguous"), chat=False))
    world.settle()
    assert [action.kind for action in world.done] == ["capture"]


def test_the_retype_dialog_shows_what_will_be_captured() -> None:
    world = World(facts("ambiguous"))
    world.settle()
    world.facts = world.facts.retyped(world.facts.policy, staying=(), bring=())
    assert lines(world) == ["+ capture the heap from checkout-api"]
    assert world.facts.triggers[-1].at == DECLARED_AT


def wanted(*asks: Capture, happened: tuple[str, ...] = ("declare",), **given: object) -> list[WantedCapture]:
    """What is wanted after these moments, a minute apart."""
    triggers = tuple(
        Trigger(n, moment.removesuffix("?"), minutes(n), Capture("fleet", "cpu", ASKED, 10) if "?" in moment else None)
        for n, moment in enumerate(happened)
    )
    known = {"sources": SOURCES, "services": (), "status": "open"} | given
    return list(captures.wanted(replace(POLICIES["internal"], captures=asks), triggers=triggers, **known))  # type: ignore[arg-type]  # a table


def minutes(n: int) -> datetime:
    return DECLARED_AT + timedelta(minutes=n)


def test_a_later_moment_ends_the_repeats_of_the_one_before_and_keeps_its_first() -> None:
    asked = Capture("checkout-api", "cpu", "mitigate", 15, repeat=3, every_min=2)
    assert [one.turn for one in wanted(asked, happened=("declare", "mitigate"))] == [1, 2, 3]
    assert [one.turn for one in wanted(asked, happened=("declare", "mitigate", "resolve"))] == [1]


@pytest.mark.parametrize(
    ("happened", "asked_about", "until"),
    [
        ("declare", ("declare", 60), 1),  # the impact is in the time before
        ("mitigate", ("mitigate", 60), 2),  # the fix is in the following minute
        ("mitigate", ("mitigate", 0), 1.25),  # for as long as the source says, which knows no moments
        ("declare", ("declare", 0), 1),
    ],
)
def test_a_source_that_looks_back_is_asked_about_the_time_that_shows_it(
    happened: str, asked_about: tuple[str, int], until: float
) -> None:
    (one,) = wanted(Capture("fleet", "cpu", *asked_about), happened=("", happened))
    assert one.until == DECLARED_AT + timedelta(minutes=until)
    assert one.due_at == one.until + LAG
    assert one.spec["seconds"] > 0


def test_what_somebody_asks_for_there_and_then_is_the_time_before_also_after_the_fix() -> None:
    (one,) = wanted(happened=("declare", "mitigate", f"{ASKED}?"))
    assert (one.until, one.phase, one.trigger.on) == (minutes(2), "after", ASKED)


def test_a_source_that_does_not_look_back_is_asked_at_once_and_about_no_window() -> None:
    (one,) = wanted(Capture("checkout-api", "cpu", "mitigate", 60), happened=("declare", "mitigate"))
    assert (one.until, one.due_at) == (None, minutes(1))
    assert "until" not in one.spec


def test_what_the_policy_says_of_a_source_goes_before_what_the_service_would_bring() -> None:
    found = wanted(Capture("payments", "cpu", "declare", 42), services=("PAYMENTS",))
    assert [(one.capture.source, one.capture.seconds) for one in found] == [("payments", 42)]
    assert [one.capture.seconds for one in wanted(services=("PAYMENTS",))] == [5]


@pytest.mark.parametrize("status", ["cancelled", "duplicate"])
def test_an_incident_that_was_none_captures_nothing_at_all(status: str) -> None:
    assert wanted(Capture("checkout-api", "cpu", "declare", 15), status=status) == []


def test_a_capture_has_the_same_name_and_words_however_often_it_is_planned() -> None:
    asked = Capture("checkout-api", "cpu", "declare", 15, repeat=2, every_min=2)
    first, second = wanted(asked)
    assert [one.key for one in (first, second)] == ["capture/0/checkout-api/cpu", "capture/0/checkout-api/cpu/2"]
    assert first.label == "15 s of CPU from checkout-api"
    assert first.spec == {
        "source": "checkout-api",
        "kind": "cpu",
        "seconds": 15,
        "on": "declare",
        "phase": "during",
        "turn": 1,
        "of": 2,
    }


def test_what_a_source_cannot_give_is_missing_under_a_name_of_its_own() -> None:
    asks = tuple(Capture(*one, "declare", 15) for one in (("gone", "cpu"), ("one", "heap"), ("one", "cpu")))
    policy = replace(POLICIES["internal"], captures=asks)
    missing = dict(captures.missing(policy, {"one": ProfileSource("one", ("cpu", "wall"))}))
    assert list(missing) == ["gone", "one/heap"]
    assert "heap" in missing["one/heap"]
    assert "cpu, wall" in missing["one/heap"]
