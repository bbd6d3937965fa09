"""The catch-up: each line follows from the entries it names, and from nothing retracted or redacted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from incidents.reading import catch_up
from incidents.reading.catch_up import CatchUpLine, SaidEntry, StandsNow

AT = datetime(2026, 11, 20, 3, 0, tzinfo=UTC)
NAMES = ("Ada", "Ben", "")
WORDS = st.sampled_from(["", "carts fail", "the card service times out " * 40])
TYPES = st.sampled_from(["Ambiguous", "Major", "Security"])
DATA: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "retyped": st.fixed_dictionaries({"from_name": TYPES, "to_name": TYPES}),
    "led": st.fixed_dictionaries({"name": st.sampled_from(NAMES)}),
    "next_step": st.fixed_dictionaries({}, optional={"name": st.sampled_from(NAMES)}),
    "claimed": st.fixed_dictionaries({"n": st.integers(1, 9)}),
    "judged": st.fixed_dictionaries(
        {"n": st.integers(1, 9), "claim": st.just("a deploy"), "verdict": st.sampled_from(sorted(catch_up.VERDICTS))}
    ),
    "page": st.fixed_dictionaries(
        {"page": st.sampled_from(["page/a", "page/b"])},
        optional={"news": st.sampled_from(["escalated", "acknowledged", "resolved"]), "over": st.booleans()},
    ),
    "gap": st.fixed_dictionaries({"gap": st.sampled_from(["group/a", "group/b"])}),
    "gap_closed": st.fixed_dictionaries({"gap": st.sampled_from(["group/a", "group/b"])}),
    "let_in": st.fixed_dictionaries({"request": st.integers(2, 30)}),
}


@st.composite
def stories(draw: st.DrawFn) -> tuple[SaidEntry, ...]:
    """Return any entries in any order, after a declaration."""
    said = [SaidEntry(1, "declared", AT, "Ada", "Checkout is slow", {"type_name": "Ambiguous"})]
    for n, kind in enumerate(draw(st.lists(st.sampled_from(catch_up.KINDS), max_size=30)), 2):
        if kind == "declared":
            continue
        data, stands = draw(DATA.get(kind, st.just({}))), draw(st.booleans())
        text = draw(WORDS) if stands else ""
        if kind in {"updated", "impact", "claimed"}:
            text = text or ("something" if stands else "")
        said.append(SaidEntry(n, kind, AT + timedelta(minutes=n), draw(st.sampled_from(NAMES)), text, data, stands))
    return tuple(said)


STATES = st.builds(
    StandsNow,
    active=st.booleans(),
    lead=st.sampled_from(NAMES),
    due_at=st.sampled_from([None, AT + timedelta(hours=1)]),
    asks_updates=st.booleans(),
    tasks=st.dictionaries(st.integers(2, 30), st.sampled_from(NAMES), max_size=20),
)


@given(stories(), STATES)
def test_each_line_is_said_of_the_entries_that_it_names_and_of_no_others(
    said: tuple[SaidEntry, ...], now: StandsNow
) -> None:
    for line in catch_up.compose(said, now):
        first, *more = [_alone(n, line.label, said, now) for n in line.backed_by]
        text = f"{first.text}, and {len(more)} more" if more else first.text
        assert line == replace(first, text=text, backed_by=line.backed_by)


def _alone(n: int, label: str, said: tuple[SaidEntry, ...], now: StandsNow) -> CatchUpLine:
    """Return the line that one entry produces by itself."""
    (found,) = [one for one in catch_up.compose([one for one in said if one.n == n], now) if one.label == label]
    assert found.backed_by == (n,)
    return found


@given(stories(), STATES)
def test_what_was_taken_back_is_not_said(said: tuple[SaidEntry, ...], now: StandsNow) -> None:
    left = [one for one in said if one.stands or one.kind not in catch_up.WORDS]
    assert catch_up.compose(said, now) == catch_up.compose(left, now)


@given(stories(), STATES, st.randoms())
def test_the_order_of_reading_changes_nothing(said: tuple[SaidEntry, ...], now: StandsNow, dice: Any) -> None:
    mixed = list(said)
    dice.shuffle(mixed)
    assert catch_up.compose(mixed, now) == catch_up.compose(said, now)


@given(stories(), STATES)
def test_it_fits_a_phone(said: tuple[SaidEntry, ...], now: StandsNow) -> None:
    lines = catch_up.compose(said, now)
    assert lines[0].label == "Type"
    labels = [one.label for one in lines]
    assert max(labels.count(label) for label in labels) <= catch_up.AT_MOST
    assert all(len(one.text) <= catch_up.UPDATE for one in lines)


@given(stories(), STATES)
def test_what_is_not_stated_is_said_to_be_unknown_while_people_respond(
    said: tuple[SaidEntry, ...], now: StandsNow
) -> None:
    lines = {one.label: one for one in catch_up.compose(said, now)}
    stated = [one for one in said if one.kind == "impact" and one.stands]
    steps = [one for one in said if one.kind == "next_step" and one.stands]
    if not now.active:
        assert ("Impact" in lines) == bool(stated)
        return
    assert (lines["Impact"].text == "not set yet") == (not stated)
    assert (lines["Next step"].text == "not set yet") == (not steps)
    assert (lines["Next step"].text == "none") == (bool(steps) and not max(steps, key=lambda one: one.n).text)


@given(stories(), STATES)
def test_who_leads_and_the_latest_update_are_said_once_or_said_to_be_missing(
    said: tuple[SaidEntry, ...], now: StandsNow
) -> None:
    """Whatever name the lead had when they took the lead, and however old the update is."""
    lines = catch_up.compose(said, now)
    leads = [one for one in lines if one.label in {"Lead", "Led by"}]
    updates = [one for one in lines if one.label in {"Latest update", "Last update"}]
    took = [one for one in said if one.kind == "led" and one.data["name"]]
    written = [one for one in said if one.kind == "updated" and one.stands]
    if now.lead:
        assert [(one.text, one.at) for one in leads] == [(now.lead, one.at) for one in took[-1:]]
    else:
        assert [one.text for one in leads] == ["no one yet"] * now.active
    if written:
        assert [(one.text[:100], one.at, one.by) for one in updates] == [
            (written[-1].text[:100], written[-1].at, written[-1].by)
        ]
    else:
        assert [(one.text, one.at) for one in updates] == [("none yet", None)] * now.active


@given(stories(), STATES)
def test_what_a_latecomer_needs_comes_first_and_once(said: tuple[SaidEntry, ...], now: StandsNow) -> None:
    labels = [one.label for one in catch_up.compose(said, now)]
    needed = ("Type", "Status", "Impact", "Lead", "Led by", "Latest update", "Last update", "Next step", "Next update")
    first = [one for one in labels if one in needed]
    assert labels[: len(first)] == first == [one for one in needed if one in labels]


@given(stories(), STATES)
def test_what_is_over_waits_for_nobody(said: tuple[SaidEntry, ...], now: StandsNow) -> None:
    if not now.active:
        labels = {one.label for one in catch_up.compose(said, now)}
        assert not labels & {"Lead", "Next update", "Next step", "Task", "Not acknowledged", "Missing", "Let them in?"}
