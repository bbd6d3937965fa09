"""What a plan was computed from, and what of it has changed since a form was opened."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workflows.planning.facts import Facts
from workflows.planning.wording import basis
from workflows.tests.shipped_facts import POLICIES, facts, someone

EVE, FAY = someone("eve"), someone("fay")


def of(known: Facts, **given: object) -> basis.Basis:
    """The basis of a plan to retype to Major."""
    after = known.retyped(POLICIES["major"], staying=(), bring=())
    return basis.of(known, replace(after, **given), alerts=0)  # type: ignore[arg-type]  # a table of facts


@pytest.mark.parametrize(
    ("was", "is_now", "says"),
    [
        ({"groups": {"support": (EVE,)}}, {"groups": {"support": (EVE, FAY)}}, ["The group @support changed."]),
        ({"groups": {"support": (EVE,)}}, {"groups": {"support": None}}, ["The group @support changed."]),
        ({"groups": {"support": (EVE, FAY)}}, {"groups": {"support": (FAY, EVE)}}, []),
        ({"on_call": {"Web": (EVE,)}}, {"on_call": {"Web": ()}}, ["Who is on call in the schedule Web changed."]),
        ({"groups": {}}, {"groups": {"support": (EVE,)}}, []),
    ],
)
def test_each_part_is_named_when_it_changed_and_not_when_it_did_not(
    was: dict[str, object], is_now: dict[str, object], says: list[str]
) -> None:
    known = facts("ambiguous")
    assert basis.changed(basis.kept(of(known, **was)), of(known, **is_now)) == says


def test_a_form_holds_no_names_and_one_without_a_basis_accuses_nothing() -> None:
    found = of(facts("ambiguous"), groups={"support": (EVE,)})
    assert "support" not in basis.kept(found)
    assert basis.changed("", found) == basis.changed("x y-", found) == []
