"""Who is in and why, one person at a time: how a stay began, what a rule says now, and who is offered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incidents.policies.policy import OneOf
from workflows.planning import participation
from workflows.planning.facts import Facts, Stay
from workflows.planning.invitee import Invitee
from workflows.planning.pages import ACKNOWLEDGED, Paged, RequestedPage
from workflows.planning.participation import Standing
from workflows.tests.shipped_facts import POLICIES, callees, facts, groups, someone

DEE, ZOE, ANN, EVE = someone("dee"), someone("zoe"), someone("ann"), someone("eve", "on call for Engineering")
ROLE = "Platform leadership"


def standing(facts: Facts, who: Invitee = ZOE) -> Standing:
    return participation.of(facts).standings[who.person_id]


def with_stay(*stays: Stay, type: str = "internal", **given: object) -> Facts:
    return replace(facts(type), stays=stays, declarer=None, **given)  # type: ignore[arg-type]  # a table of facts


@pytest.mark.parametrize(
    ("stay", "why"),
    [
        (Stay(ZOE, "picked", by="Dee"), "brought in by Dee"),
        (Stay(ZOE, "picked"), "brought in"),
        (Stay(ZOE, "picked", detail="acknowledged the page", by="Dee"), "acknowledged the page"),
        (Stay(ZOE, "let-in", by="Dee"), "let in by Dee"),
        (Stay(ZOE, "let-in", detail="@security"), "let in"),
        (Stay(ZOE, "joined", by="Dee"), "invited by Dee"),
        (Stay(ZOE, "joined"), "joined the channel"),
        (Stay(ZOE, "glass", by="Dee"), "broke glass"),
        (Stay(ZOE, "retyped"), "retyped it"),
    ],
)
def test_a_stay_that_began_by_hand_holds_while_it_lasts(stay: Stay, why: str) -> None:
    found = standing(with_stay(stay))
    assert (found.reasons, found.why, found.is_needed, found.wanted, found.here) == ((why,), why, True, True, True)
    assert found.entry == ("", ""), "no rule brings in who came by hand"
    gone = standing(with_stay(replace(stay, here=False, went=True)))
    assert (gone.wanted, gone.here, gone.went) == (False, False, True)
    shut_out = standing(with_stay(replace(stay, here=False)))
    assert (shut_out.reasons, shut_out.is_needed, shut_out.wanted) == ((), False, False)


@pytest.mark.parametrize(
    ("came", "detail", "why"),
    [
        ("declared", "", "declared it"),
        ("lead", "", "led before"),
        ("role", "Scribe", "was Scribe before"),
        ("group", "support", "came with @support"),
        ("one-of", ROLE, f"was {ROLE} before"),
        ("paged", "", "was paged before"),
        ("unheard-of", "", ""),
    ],
)
def test_a_reason_that_ended_says_how_they_came_and_asks_for_nobody(came: str, detail: str, why: str) -> None:
    found = standing(with_stay(Stay(ZOE, came, detail)))
    assert (found.why, found.former, found.is_needed, found.wanted) == (why, why, False, False)
    assert found.who.why == why
    assert standing(with_stay(Stay(ZOE, came, detail, named=True))).wanted, "who came by the plan of this type stays in"
    assert standing(with_stay(Stay(ZOE, came, detail), is_closed=True)).wanted, "nobody falls out of a closed circle"


def test_every_reason_is_said_once_in_the_order_of_their_weight() -> None:
    known = with_stay(Stay(ANN, "picked", by="Dee"), type="ambiguous", lead=ANN, roles=(("Scribe", ANN),))
    known = replace(known, declarer=ANN)
    found = standing(known, ANN)
    assert found.why == "leads, Scribe, declared it, brought in by Dee, @incident-response"
    assert found.who.why == found.why
    assert found.entry == ("group", "incident-response")


def test_nobody_is_named_by_rules_once_it_ended_and_who_is_in_is_still_named() -> None:
    known = replace(with_stay(Stay(ZOE, "group", "support", named=True), type="ambiguous", lead=DEE), active=False)
    found = participation.of(known)
    assert {one.who.name: (one.why, one.wanted) for one in found.standings.values()} == {
        "Zoe": ("came with @support", False),
        "Dee": ("leads", True),
    }
    assert (found.gaps, found.offers, found.chosen) == ((), (), {})


@pytest.mark.parametrize("active", [True, False])
def test_whoever_declared_it_belongs_to_it_until_shut_out(active: bool) -> None:
    known = replace(with_stay(Stay(DEE, "declared"), Stay(ZOE, "joined")), declarer=DEE, active=active)
    assert standing(known, DEE).reasons == ("declared it",)
    assert "declared it" not in standing(known).reasons
    shut = replace(known, stays=(Stay(DEE, "declared", here=False),))
    assert standing(shut, DEE).reasons == ()


def test_who_comes_is_written_with_what_names_them_and_a_role_outweighs_a_group() -> None:
    pat = someone("pat")
    known = replace(facts("security"), groups=groups({"security": "pat sam", "platform-leadership": "pat"}))
    coming = {one.who.name: one.entry for one in participation.of(known).coming}
    assert coming == {"Pat": ("one-of", ROLE), "Sam": ("group", "security")}
    assert standing(known, pat).why == "@security, the one of @platform-leadership"
    paged = facts("ambiguous", pager=True)
    assert standing(paged, EVE).entry == ("paged", "on call for Engineering")
    assert standing(paged, EVE).reasons == ("on call for Engineering",)


def test_whom_a_page_reaches_without_a_word_is_said_to_be_paged() -> None:
    silent = {"Engineering": replace(callees()["Engineering"], people=(ZOE,))}  # type: ignore[type-var]  # it is one
    found = standing(replace(facts("ambiguous", pager=True), callees=silent))
    assert (found.why, found.entry, found.former) == ("paged", ("paged", ""), "")


def test_whom_several_rules_name_comes_in_by_the_first() -> None:
    assert standing(facts("time-bomb", pager=True), EVE).entry == ("group", "engineering-oncall")
    crowded = replace(facts("ambiguous"), groups=groups({"incident-response": "zoe", "leadership-oncall": "zoe"}))
    assert standing(crowded).entry == ("group", "incident-response")


def test_who_was_shut_out_says_nothing_about_those_after_them() -> None:
    stays = (Stay(ZOE, "picked", here=False), Stay(ANN, "picked"), Stay(DEE, "declared"))
    known = replace(facts("internal"), stays=stays)
    assert {name: standing(known, one).reasons for name, one in (("Ann", ANN), ("Dee", DEE), ("Zoe", ZOE))} == {
        "Ann": ("brought in",),
        "Dee": ("declared it",),
        "Zoe": (),
    }


def test_no_pages_stand_without_a_pager_nor_after_the_end() -> None:
    assert participation.pages_of(facts("ambiguous", pager=True))
    assert not participation.pages_of(facts("ambiguous"))
    assert not participation.pages_of(replace(facts("ambiguous", pager=True), active=False))


def test_a_page_by_hand_in_a_room_that_was_left_stays_open_and_brings_nobody() -> None:
    callee = callees()["Security"]
    assert callee is not None
    for room, comes in ((1, True), (2, False)):
        known = replace(facts("internal", pager=True), asked=(RequestedPage(callee, room=room),))
        assert [one.key for one in participation.pages_of(known)] == ["page/policy/PS"]
        assert ("Sid" in {one.who.name for one in participation.of(known).standings.values()}) == comes


# offers in a closed incident


def closed(**given: object) -> Facts:
    known = facts("security", pager=True)
    known = replace(
        known, private=True, is_closed=True, groups=groups({"security": "sam", "platform-leadership": "pia"})
    )
    known = replace(known, callees={}, on_call={ROLE: (someone("pat"),)})
    return replace(known, **given)  # type: ignore[arg-type]  # a table of facts


def offered(known: Facts) -> dict[str, tuple[str, str]]:
    return {one.who.name: (one.rule, one.role) for one in participation.of(known).offers}


def test_whom_rules_name_who_are_not_in_is_offered_and_not_let_in() -> None:
    known = closed()
    assert offered(known) == {"Pat": (f"on call for {ROLE}", ROLE), "Sam": ("@security", "")}
    assert not participation.of(known).coming
    says = {one.who.name: one.says for one in participation.of(known).offers}
    assert "no one has the role" in says["Pat"]
    assert "@security" in says["Sam"]
    assert known.policy.name in says["Sam"]


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({"is_closed": False}, set()),
        ({"turned_away": frozenset({(someone("sam").person_id, "@security")})}, {"Pat"}),
        ({"turned_away": frozenset({(someone("sam").person_id, "@support")})}, {"Pat", "Sam"}),
        ({"turned_away": frozenset({(someone("pat").person_id, f"on call for {ROLE}")})}, {"Sam"}),
        ({"stays": (Stay(someone("sam"), "picked"),)}, {"Pat"}),
        ({"stays": (Stay(someone("sam"), "picked", here=False),)}, {"Pat", "Sam"}),
        ({"stays": (Stay(someone("sam"), "picked", here=False, went=True),)}, {"Pat"}),
        ({"pager": False}, {"Sam"}),
        ({"on_call": {ROLE: ()}}, {"Sam"}),
        ({"on_call": {ROLE: None}}, {"Sam"}),
        ({"groups": {"security": None}}, {"Pat"}),
        ({"roles": ((ROLE, someone("leo")),)}, {"Sam"}),
        ({"active": False}, set()),
    ],
)
def test_nobody_is_offered_who_is_in_or_was_turned_away_or_went(given: dict[str, object], left: set[str]) -> None:
    assert set(offered(closed(**given))) == left


def test_a_role_of_someone_else_is_offered_to_be_handed_over_once_to_the_first_by_name() -> None:
    pia = someone("pia")
    known = closed(stays=(Stay(pia, "one-of", ROLE),), chosen={ROLE: pia})
    known = replace(known, on_call={ROLE: (someone("pat"), someone("ada"))})
    offers = [one for one in participation.of(known).offers if one.role]
    assert [(one.who.name, one.role) for one in offers] == [("Ada", ROLE)]
    assert f"Pia has the role {ROLE}" in offers[0].says
    assert not [one for one in participation.of(replace(known, chosen={ROLE: someone("pat")})).offers if one.role]


def test_whoever_is_in_may_take_over_a_role_and_is_offered_once_for_all_rules() -> None:
    pat, pia = someone("pat"), someone("pia")
    known = closed(stays=(Stay(pia, "one-of"), Stay(pat, "picked")), chosen={ROLE: pia})
    assert offered(known)["Pat"] == (f"on call for {ROLE}", ROLE)
    both = closed(on_call={ROLE: (someone("sam"),)})
    assert [one.who.name for one in participation.of(both).offers] == ["Sam"]
    assert offered(both)["Sam"] == (f"on call for {ROLE}", ROLE)


def test_someone_who_answered_a_page_keeps_it_open_without_coming_in_by_it() -> None:
    page = Paged("page/policy/PS", "policy/PS", "Security", "S2", ACKNOWLEDGED, (ZOE,))
    known = replace(facts("internal", pager=True), paged=(page,))
    assert [one.key for one in participation.pages_of(known)] == ["page/policy/PS"]
    assert ZOE.person_id not in participation.of(known).standings


def test_a_role_whose_schedule_nobody_is_on_leaves_the_next_to_be_offered() -> None:
    roles = (OneOf("First", schedule="Nights"), OneOf("Second", schedule="Days"))
    known = closed(policy=replace(POLICIES["security"], one_of=roles, invite=()))
    known = replace(known, on_call={"Nights": (), "Days": (someone("pat"),)})
    assert offered(known) == {"Pat": ("on call for Days", "Second")}
