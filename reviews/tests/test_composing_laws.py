"""What Firekind composes for a review: each sentence follows from standing entries that it names, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reviews.composing import document, reached, story, to_do
from reviews.composing.document import SECTIONS
from reviews.composing.passage import ReviewSentence
from reviews.composing.story import ReviewStory, StoryEntry

AT = datetime(2026, 11, 20, 3, 0, tzinfo=UTC)
NAMES = st.sampled_from(["Ada", "Ben", ""])
WORDS = st.sampled_from(["carts fail", "the card\nservice times out"])
TYPES = st.sampled_from(["Ambiguous", "Major"])
DATA: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "retyped": st.fixed_dictionaries({"from_name": TYPES, "to_name": TYPES, "to": st.just("major")}),
    "led": st.fixed_dictionaries({"name": NAMES}),
    "role": st.fixed_dictionaries({"name": NAMES, "role": st.just("Scribe")}),
    "evidence": st.fixed_dictionaries({"n": st.integers(1, 4), "says": st.just("62 % in `rotate`")}),
    "claimed": st.fixed_dictionaries({"n": st.integers(1, 4)}),
    "judged": st.fixed_dictionaries(
        {
            "n": st.integers(1, 4),
            "claim": st.just("a deploy"),
            "round": st.integers(1, 3),
            "verdict": st.sampled_from(["open", "refuted", "root_cause"]),
            "was": st.sampled_from(["open", "refuted"]),
            "for": st.lists(st.integers(1, 4), max_size=2),
            "against": st.lists(st.integers(1, 4), max_size=2),
        }
    ),
    **{
        kind: st.fixed_dictionaries({"followup": st.integers(1, 3), "word": st.just("task"), "name": NAMES})
        for kind in (*to_do.MADE, *to_do.BECAME)
    },
    "paged": st.fixed_dictionaries({"name": st.just("Support"), "target": st.just("policy/A")}),
    "page": st.fixed_dictionaries(
        {"page": st.sampled_from(["page/policy/A", "page/policy/B"])},
        optional={"news": st.sampled_from(["escalated", "acknowledged"]), "over": st.booleans()},
    ),
    "let_in": st.fixed_dictionaries({"name": st.just("Eve")}),
    "admitted": st.fixed_dictionaries({"closing": st.booleans()}),
    "opened_up": st.fixed_dictionaries({"codename": st.just("red-fox")}),
    "did": st.fixed_dictionaries({}, optional={"effect": st.just("invite/1#1")}),
    "chosen": st.fixed_dictionaries({"why": st.sampled_from(["on call for Platform", "in @platform"])}),
}


@st.composite
def timelines(draw: st.DrawFn) -> tuple[StoryEntry, ...]:
    """Return any entries, recorded in any order, some of them edited or retracted."""
    first = StoryEntry(1, "declared", AT, "Ada", "Checkout is slow", {"type": "ambiguous", "type_name": "Ambiguous"})
    said = [first]
    kinds = st.sampled_from([kind for kind in document.KINDS if kind != "declared"])
    for n, kind in enumerate(draw(st.lists(kinds, max_size=25)), 2):
        data, at = draw(DATA.get(kind, st.just({}))), AT + timedelta(minutes=draw(st.integers(-5, 90)))
        edits = tuple((draw(st.integers(n, 60)), draw(WORDS)) for _ in range(draw(st.integers(0, 2))))
        entry = StoryEntry(n, kind, at, draw(NAMES), draw(WORDS), data, edits, draw(st.booleans()))
        said.append(entry)
    return tuple(said)


def told(entries: tuple[StoryEntry, ...], n: int = 99) -> list[list[ReviewSentence]]:
    """Return the sentences of each section."""
    whole = story.as_of(entries, n, pages={})
    return [list(document.sentences(one.compose(whole))) for one in SECTIONS]


@settings(max_examples=50)
@given(timelines())
def test_each_sentence_is_said_of_the_entries_that_it_names_and_of_no_others(entries: tuple[StoryEntry, ...]) -> None:
    standing = {one.n for one in entries if one.stands}
    for kind, sentences in zip(SECTIONS, told(entries), strict=True):
        for one in sentences:
            assert one.backed_by, kind.key
            assert standing >= set(one.backed_by), f"{kind.key} rests on what was taken back"
            alone = tuple(entry for entry in entries if entry.n in one.backed_by)
            assert one in told(alone)[SECTIONS.index(kind)], kind.key


@settings(max_examples=50)
@given(st.lists(st.tuples(NAMES, DATA["judged"]), min_size=2, max_size=12))
def test_a_measurement_counts_once_for_a_hypothesis_however_often_each_person_judged_it(
    rounds: list[tuple[str, dict[str, Any]]],
) -> None:
    measured = [StoryEntry(n, "evidence", AT, "Ada", f"profile {n}", {"n": n}) for n in range(1, 5)]
    judged = [StoryEntry(n, "judged", AT, by, "", data) for n, (by, data) in enumerate(rounds, 5)]
    claims = {one.n: one.data["n"] for one in judged}
    kind = next(one for one in SECTIONS if one.key == "evidence")
    for passage in kind.compose(story.as_of((*measured, *judged), 99, pages={})):
        counted = [one for one in passage.sentences if one.text.startswith("counted it")]
        said = [(one.by, one.text.split("“")[0], claims[one.backed_by[1]]) for one in counted]
        assert len(said) == len(set(said))


@settings(max_examples=50)
@given(timelines(), st.integers(1, 30))
def test_a_section_says_what_it_said_whatever_is_recorded_later(entries: tuple[StoryEntry, ...], n: int) -> None:
    """Except for what is retracted, which is never shown again."""
    until = tuple(
        StoryEntry(
            one.n, one.kind, one.at, one.by, one.text, one.data, tuple(e for e in one.edits if e[0] <= n), one.stands
        )
        for one in entries
        if one.n <= n
    )
    assert told(entries, n) == told(until)


@settings(max_examples=50)
@given(timelines(), st.integers(1, 30))
def test_the_changes_lead_from_what_it_says_to_what_it_would_say(entries: tuple[StoryEntry, ...], n: int) -> None:
    for kind in SECTIONS:
        was, now = (kind.compose(story.as_of(entries, upto, pages={})) for upto in (n, 99))
        found = document.changes(was, now)
        kept = [one for one in document.sentences(was) if one not in found.gone]
        assert {*kept, *found.added} == {*document.sentences(now)}
        assert bool(found) == ({*document.sentences(was)} != {*document.sentences(now)})


def test_phases_follow_the_types_and_end_with_the_incident() -> None:
    entries = (
        StoryEntry(1, "declared", AT, "Ada", "Slow", {"type": "ambiguous", "type_name": "Ambiguous"}),
        StoryEntry(2, "updated", AT + timedelta(minutes=5), "Ada", "looking"),
        StoryEntry(3, "retyped", AT + timedelta(minutes=9), "Ben", "half fail", DATA_MAJOR),
        StoryEntry(4, "captured", AT - timedelta(minutes=2), "Ada", "odd graph", {"author": "Eve"}),
        StoryEntry(5, "resolved", AT + timedelta(minutes=60), "Ben", "rolled back"),
        StoryEntry(6, "noted", AT + timedelta(minutes=70), "Ben", "write to the vendor"),
        StoryEntry(7, "reopened", AT + timedelta(minutes=90), "Ben", "it is back"),
    )
    narrative = next(one for one in SECTIONS if one.key == "narrative")
    passages = narrative.compose(ReviewStory(story.as_of(entries, 7, pages={}).said))
    labels = [one.label for one in passages]
    assert labels == ["Before it was declared", "Ambiguous", "Major", "After it ended", "Major, reopened"]
    assert [(one.ends_at - one.starts_at).seconds for one in passages if one.starts_at and one.ends_at] == [540, 3060]
    assert [one.sentences[0].by for one in passages] == ["Eve", "Ada", "Ben", "Ben", "Ben"]


DATA_MAJOR = {"from_name": "Ambiguous", "to_name": "Major", "to": "major"}


def test_an_invitation_is_not_said_to_be_by_the_type_alone() -> None:
    entry = StoryEntry(2, "did", AT, text="invited Ada, Ben", data={"effect": "invite/1"})
    (passage,) = reached.people(story.as_of([entry], 2, pages={}))
    assert passage.label == reached.INVITED
    assert "type" not in passage.label, "it also names who declared it"
