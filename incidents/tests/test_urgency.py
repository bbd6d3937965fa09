"""Which of two active incidents comes first in the list."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.policies.policy import Policy
from incidents.views.lists import urgency

MAJOR = Policy("major", "Major", "", customer_facing=True, update_every_min=30)
AMBIGUOUS = Policy("ambiguous", "Ambiguous", "", update_every_min=60)
TIME_BOMB = Policy("time-bomb", "Time bomb", "", internal=True, update_every_min=120)
INTERNAL = Policy("internal", "Internal", "", internal=True)

Rank = tuple[bool, bool, int, int, bool, bool]
SECURITY = Policy("security", "Security", "", private=True)
ISOLATED = Policy("isolated", "Isolated", "", customer_facing=True, update_every_min=60)


def rank(policy: Policy, *said: str) -> Rank:
    status = "mitigated" if "mitigated" in said else "open"
    return urgency.rank(
        policy,
        status=status,
        is_overdue="overdue" in said,
        is_unanswered="page" in said,
        has_lead="no lead" not in said,
    )


FIRST_TO_LAST = (
    rank(MAJOR, "overdue", "page", "no lead"),
    rank(MAJOR, "overdue", "page"),
    rank(MAJOR, "page", "no lead"),
    rank(MAJOR, "page"),
    rank(SECURITY, "page"),
    rank(INTERNAL, "page"),
    rank(MAJOR, "overdue", "no lead"),
    rank(ISOLATED, "overdue"),
    rank(MAJOR, "no lead"),
    rank(MAJOR),
    rank(TIME_BOMB, "overdue"),
    rank(AMBIGUOUS, "no lead"),
    rank(TIME_BOMB),
    rank(INTERNAL, "no lead"),
    rank(INTERNAL),
    rank(INTERNAL, "mitigated", "page"),
    rank(MAJOR, "mitigated", "overdue"),
    rank(MAJOR, "mitigated"),
    rank(AMBIGUOUS, "mitigated", "no lead"),
    rank(INTERNAL, "mitigated", "no lead"),
)


@pytest.mark.parametrize(("sooner", "later"), [*pairwise(FIRST_TO_LAST)])
def test_what_hurts_most_comes_first(sooner: Rank, later: Rank) -> None:
    assert sooner < later


SAID = st.sets(st.sampled_from(["overdue", "page", "no lead"]))
POLICIES = st.sampled_from([MAJOR, AMBIGUOUS, TIME_BOMB, INTERNAL, SECURITY, ISOLATED])


@given(POLICIES, POLICIES, SAID, SAID)
def test_whatever_is_mitigated_comes_after_all_that_is_open(
    one: Policy, other: Policy, said: set[str], more: set[str]
) -> None:
    assert rank(one, *said) < rank(other, "mitigated", *more)


@given(POLICIES, POLICIES, SAID, SAID, st.booleans())
def test_a_page_that_no_one_acknowledged_comes_before_whatever_else_is_missing_anywhere(
    one: Policy, other: Policy, said: set[str], more: set[str], are_mitigated: bool
) -> None:
    state = {"mitigated"} if are_mitigated else set()
    assert rank(one, *said, "page", *state) < rank(other, *(more - {"page"}), *state)


@given(POLICIES, SAID)
def test_what_waits_for_someone_never_makes_it_less_urgent(policy: Policy, said: set[str]) -> None:
    assert all(rank(policy, *said, more) <= rank(policy, *said) for more in ("overdue", "page", "no lead"))
