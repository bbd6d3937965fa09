"""Who belongs in a group: tables, and the law that an empty group is never written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.usergroups import groups
from workflows.usergroups.groups import Belonging, Candidate, Subject

NINE = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)


def minutes(n: float) -> datetime:
    return NINE + timedelta(minutes=n)


@dataclass(frozen=True, slots=True)
class Turn:
    user: str
    start: float | None = None  # minutes after nine
    end: float | None = None
    subject: str = "S"
    level: int = 0

    @property
    def start_at(self) -> datetime | None:
        return None if self.start is None else minutes(self.start)

    @property
    def end_at(self) -> datetime | None:
        return None if self.end is None else minutes(self.end)


PEOPLE = {
    "ANN": Candidate("Ann", "UANN"),
    "BEN": Candidate("Ben", "UBEN"),
    "CAT": Candidate("Cat", "UCAT"),
    "GUS": Candidate("Gus", "UGUS", "is a guest"),
    "NEW": Candidate("Newcomer", why_not="is not matched to anyone in Slack"),
}
PERM = Candidate("Pia", "UPIA")
ROTA = (Turn("ANN", -60, 0), Turn("BEN", 0, 10), Turn("CAT", 10, 60), Turn("BEN", 60))  # an override from ten past


def at(
    n: float, *turns: Turn, sources: tuple[Subject, ...] = (("S", 0),), permanent: tuple[Candidate, ...] = ()
) -> Belonging:
    return groups.belonging(turns, sources=sources, people=PEOPLE, permanent=permanent, at=minutes(n))


@pytest.mark.parametrize(
    ("when", "who", "until"),
    [(-0.5, "UANN", 0), (0, "UBEN", 10), (0.5, "UBEN", 10), (9.99, "UBEN", 10), (10, "UCAT", 60), (10.5, "UCAT", 60)],
)
def test_a_hand_over_happens_at_its_moment(when: float, who: str, until: float) -> None:
    assert at(when, *ROTA) == Belonging(frozenset({who}), (), minutes(until))


def test_the_last_known_turn_has_no_end() -> None:
    assert at(61, *ROTA).until is None


def test_several_people_levels_and_permanent_ones_are_one_set() -> None:
    turns = (Turn("ANN"), Turn("BEN"), Turn("CAT", subject="P", level=2), Turn("GUS", subject="P", level=1))
    found = at(0, *turns, sources=(("S", 0), ("P", 2)), permanent=(PERM,))
    assert found.members == {"UANN", "UBEN", "UCAT", "UPIA"}
    assert found.left_out == (), "nobody of a level that was not asked for"


def test_turns_of_the_same_person_one_after_the_other_are_no_hand_over() -> None:
    assert at(0, Turn("ANN", -60, 30), Turn("ANN", 30, 90), Turn("BEN", 90)).until == minutes(90)


def test_what_ends_where_our_knowledge_does_is_no_hand_over() -> None:
    turns = [Turn("ANN", -60, 30)]
    found = groups.belonging(turns, sources=[("S", 0)], people=PEOPLE, at=NINE, known_until=minutes(30))
    assert found.until is None


def test_who_cannot_be_a_member_is_named_with_the_reason() -> None:
    found = at(0, Turn("GUS"), Turn("NEW"), Turn("XXX"), Turn("ANN"))
    assert found.members == {"UANN"}
    assert [(one.name, one.why_not) for one in found.left_out] == [
        ("Gus", "is a guest"),
        ("Newcomer", "is not matched to anyone in Slack"),
        ("XXX", "PagerDuty mentions them but does not list them"),
    ]


def test_a_group_is_never_emptied_and_says_who_could_not_be_in_it() -> None:
    found = groups.verdict(at(0, Turn("GUS")), handle="web", here={"UANN"})
    assert (found.state, found.write) == ("waiting", frozenset())
    assert "Gus is a guest" in found.says


@pytest.mark.parametrize(
    ("here", "unsure", "state", "writes"),
    [
        (None, "", "failed", set()),
        ({"UANN"}, "", "true", set()),
        ({"UBEN"}, "", "true", {"UANN"}),
        (set(), "", "true", {"UANN"}),
        ({"UBEN"}, "PagerDuty has never been read.", "waiting", set()),
    ],
)
def test_only_a_group_that_differs_is_written(here: set[str] | None, unsure: str, state: str, writes: set[str]) -> None:
    found = groups.verdict(at(0, Turn("ANN")), handle="web", here=here, unsure=unsure)
    assert (found.state, set(found.write)) == (state, writes)


def test_the_next_hand_over_comes_with_who_belongs_in_it_then() -> None:
    found = at(0, *ROTA, permanent=(PERM,))
    assert found.then is not None
    assert found.until == minutes(10)
    assert found.then.members == {"UCAT", "UPIA"}
    assert at(61, *ROTA).then is None


@pytest.mark.parametrize(("known_until", "until"), [(None, 30), (31, 30), (30, None), (29, None)])
def test_only_what_changes_within_our_knowledge_is_a_hand_over(known_until: int | None, until: int | None) -> None:
    given = None if known_until is None else minutes(known_until)
    turns = [Turn("ANN", -60, 30), Turn("BEN", 30)]
    found = groups.belonging(turns, sources=[("S", 0)], people=PEOPLE, at=NINE, known_until=given)
    assert found.until == (None if until is None else minutes(until))


@pytest.mark.parametrize(
    ("before", "after", "joins", "leaves"),
    [
        ("", "", (), ()),
        ("b a", "a b", (), ()),
        ("", "c a", ("a", "c"), ()),
        ("c a", "", (), ("a", "c")),
        ("a b", "b c", ("c",), ("a",)),
    ],
)
def test_the_difference_names_who_joins_and_who_leaves(
    before: str, after: str, joins: tuple[str, ...], leaves: tuple[str, ...]
) -> None:
    found = groups.difference(before.split(), after.split())
    assert (found.joins, found.leaves) == (joins, leaves)
    assert bool(found) == bool(joins or leaves)


@pytest.mark.parametrize(
    ("turns", "here", "unsure", "says"),
    [
        ((Turn("ANN"),), None, "", ["no user group @web"]),
        ((Turn("ANN"),), set(), "It was never read.", ["It was never read."]),
        ((), set(), "", ["No one is on call and no one is permanent", "never emptied"]),
        ((Turn("GUS"), Turn("NEW")), set(), "", ["Gus is a guest, Newcomer is not matched", "never emptied"]),
    ],
)
def test_what_stands_in_the_way_of_a_group_is_said(
    turns: tuple[Turn, ...], here: set[str] | None, unsure: str, says: list[str]
) -> None:
    found = groups.verdict(at(0, *turns), handle="web", here=here, unsure=unsure)
    assert all(one in found.says for one in says)
    assert not found.write
    assert groups.verdict(at(0, Turn("ANN")), handle="web", here=set()).says == ""


TURNS = st.lists(
    st.builds(
        Turn,
        user=st.sampled_from([*PEOPLE, "XXX"]),
        start=st.none() | st.integers(-90, 90),
        end=st.none() | st.integers(-90, 90),
        subject=st.sampled_from("SPQ"),
        level=st.integers(0, 2),
    ),
    max_size=12,
)
SOURCES = st.sets(st.tuples(st.sampled_from("SPQ"), st.integers(0, 2)), max_size=4)
IDS = st.sets(st.sampled_from(["UANN", "UBEN", "UCAT", "UGUS", "UPIA", "UOUT"]))


@given(turns=TURNS, sources=SOURCES, permanent=st.booleans(), here=IDS, when=st.integers(-100, 100))
def test_what_is_written_is_those_on_call_and_the_permanent_ones_and_never_nobody(
    turns: list[Turn], sources: set[Subject], permanent: bool, here: set[str], when: int
) -> None:
    always = (PERM,) if permanent else ()
    found = at(when, *turns, sources=tuple(sources), permanent=always)
    on = {one.user for one in turns if (one.subject, one.level) in sources and _holds(one, when)}
    expected = {PEOPLE[user].chat_id for user in on if user in PEOPLE and not PEOPLE[user].why_not}
    expected |= {one.chat_id for one in always}
    assert found.members == expected
    assert found.until is None or found.until > minutes(when)
    write = groups.verdict(found, handle="web", here=here).write
    assert write in (frozenset(), expected)
    assert bool(write) == (bool(expected) and expected != here)


@given(turns=TURNS, when=st.integers(-100, 100), later=st.integers(1, 200))
def test_nothing_changes_before_the_next_hand_over(turns: list[Turn], when: int, later: int) -> None:
    now, then = at(when, *turns), at(when + later, *turns)
    if now.until is None or minutes(when + later) < now.until:
        assert (then.members, then.left_out) == (now.members, now.left_out)
    elif minutes(when + later) == now.until:
        assert (then.members, then.left_out) != (now.members, now.left_out)


def _holds(turn: Turn, when: int) -> bool:
    return (turn.start is None or turn.start <= when) and (turn.end is None or turn.end > when)
