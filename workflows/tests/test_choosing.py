"""Who has each one-of role, and what is missing if no one has it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incidents.policies.policy import OneOf
from workflows.planning import choosing
from workflows.planning.desired import desired_state
from workflows.planning.facts import Facts, Stay
from workflows.planning.invitee import Invitee
from workflows.tests.shipped_facts import POLICIES, facts, someone

ROLE = "Platform leadership"
ALONE = replace(POLICIES["security"], one_of=(OneOf(ROLE, schedule=ROLE),))  # no group may stand in for them


def choose(known: Facts, *present: Invitee) -> tuple[dict[str, str], list[str]]:
    chosen, gaps = choosing.choose(known, present={one.person_id for one in present})
    assert all(gap.key.partition("/")[2] in gap.says for gap in gaps), "a gap says what is missing"
    return {role: f"{one.name}, {one.why}" for role, one in chosen.items()}, [gap.key for gap in gaps]


def roled(*, members: str | None = "pia pat", on_call: str | None = "max", **given: object) -> Facts:
    handles = {"platform-leadership": _all(members)}
    known = replace(facts("security", pager=True), on_call={ROLE: _all(on_call)}, groups=handles)
    return replace(known, **given)  # type: ignore[arg-type]  # a table of facts


def _all(names: str | None) -> tuple[Invitee, ...] | None:
    return None if names is None else tuple(someone(name) for name in names.split())


def stays(name: str) -> tuple[Stay, ...]:
    return (Stay(someone(name), "joined", here=False, went=True),)


@pytest.mark.parametrize(
    ("known", "chosen", "gaps"),
    [
        (roled(), f"Max, on call for {ROLE}", []),
        (roled(pager=False), "Pat, the one of @platform-leadership", []),
        (roled(on_call=""), "Pat, the one of @platform-leadership", []),
        (roled(on_call=None), "Pat, the one of @platform-leadership", [f"schedule/{ROLE}"]),
        (roled(stays=stays("max")), "Pat, the one of @platform-leadership", []),
        (roled(on_call="", members=None), "", ["group/platform-leadership"]),
        (roled(on_call="", members=""), "", [f"one-of/{ROLE}"]),
        (roled(on_call=None, members=None), "", [f"schedule/{ROLE}", "group/platform-leadership"]),
        (roled(is_closed=True), "", [f"one-of/{ROLE}"]),
        (roled(chosen={ROLE: someone("old", "before")}), "Old, before", []),
        (roled(roles=((ROLE, someone("old")),), chosen={ROLE: someone("leo")}), "Old, ", []),
        (roled(chosen={ROLE: someone("max")}, stays=stays("max")), "Pat, the one of @platform-leadership", []),
        (replace(roled(pager=False, groups={}), on_call={}), "", []),  # never read: it may not be missing
        (roled(pager=False, members=""), "", [f"one-of/{ROLE}"]),
        (replace(roled(pager=False, members=""), on_call={}), "", [f"one-of/{ROLE}"]),
        (replace(roled(), on_call={}), "Pat, the one of @platform-leadership", []),  # shifts were never read
    ],
)
def test_who_has_a_role_is_who_had_it_then_who_is_on_call_then_one_of_the_group(
    known: Facts, chosen: str, gaps: list[str]
) -> None:
    assert choose(known) == ({ROLE: chosen} if chosen else {}, gaps)


def test_in_a_closed_incident_only_someone_inside_has_a_role() -> None:
    assert choose(roled(is_closed=True), someone("pia"))[0] == {ROLE: "Pia, the one of @platform-leadership"}


def test_whoever_is_here_anyway_goes_before_the_first_by_name() -> None:
    assert choose(roled(pager=False), someone("pia"))[0] == {ROLE: "Pia, the one of @platform-leadership"}
    assert choose(roled(on_call="max amy"))[0] == {ROLE: f"Amy, on call for {ROLE}"}


def test_one_person_in_two_roles_is_preferred_to_two() -> None:
    first, second = OneOf("First", "security"), OneOf("Second", "platform-leadership")
    known = roled(policy=replace(POLICIES["security"], one_of=(first, second)))
    known = replace(known, groups={"security": _all("sam"), "platform-leadership": _all("ann sam")})
    assert choose(known)[0] == {"First": "Sam, the one of @security", "Second": "Sam, the one of @platform-leadership"}


def test_whom_the_type_names_comes_last_and_needs_no_group() -> None:
    role = OneOf("Speaker", otherwise="leo@example.com")
    known = roled(policy=replace(POLICIES["security"], one_of=(role,)), pager=False)
    assert choose(known) == ({}, ["one-of/Speaker"])
    assert choose(replace(known, otherwise={"leo@example.com": someone("leo")}))[0] == {
        "Speaker": "Leo, named by the type"
    }


@pytest.mark.parametrize(
    ("known", "says"),
    [
        (roled(on_call="", members=""), [f"no one is on call for {ROLE}", "@platform-leadership has no one"]),
        (roled(pager=False, members=""), ["PagerDuty is not connected", "@platform-leadership has no one"]),
        (roled(is_closed=True), ["no one in this incident can take the role. "]),
        (roled(on_call="", policy=ALONE), [f"no one is on call for {ROLE}. "]),
    ],
)
def test_a_role_that_nobody_has_says_where_nobody_was_found(known: Facts, says: list[str]) -> None:
    _, gaps = choosing.choose(known, present=set())
    (gap,) = (gap.says for gap in gaps)
    assert gap.startswith(f"No one is {ROLE}: {' and '.join(says)}")


def test_groups_that_were_never_read_are_one_gap_and_one_that_is_not_there_another() -> None:
    known = facts("ambiguous")
    assert [gap.key for gap in choosing.missing_groups(known)] == []
    assert [gap.key for gap in choosing.missing_groups(replace(known, groups={"leadership-oncall": None}))] == [
        "group/leadership-oncall"
    ]
    (gap,) = choosing.missing_groups(replace(known, groups={}))
    assert gap.key == "groups"
    assert "@incident-response, @leadership-oncall" in gap.says
    assert not list(choosing.missing_groups(replace(facts("internal"), groups={})))
    assert "group/leadership-oncall" in {
        gap.key for gap in desired_state(replace(known, groups={"leadership-oncall": None})).gaps
    }


def test_a_group_nobody_of_which_can_be_invited_is_a_gap_unless_a_drill_left_them_out() -> None:
    known = replace(facts("isolated"), groups={"support": ()})
    (gap,) = choosing.missing_groups(known)
    assert gap.key == "group/support"
    assert gap.says.startswith("@support has no one who can be invited")
    assert list(choosing.missing_groups(replace(known, is_drill=True))) == []
    assert list(choosing.missing_groups(replace(known, groups={"web": ()}))) == [], "it was never looked up"


def test_what_is_missing_for_one_role_does_not_hide_what_is_for_another() -> None:
    roles = tuple(OneOf(name, group) for name, group in (("First", "gone"), ("Second", "lost")))
    known = roled(policy=replace(POLICIES["security"], one_of=roles))
    assert choose(replace(known, groups={"gone": None, "lost": None})) == ({}, ["group/gone", "group/lost"])
