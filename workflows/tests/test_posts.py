"""What the channel is told: a card a kind of entry, which offers what it asks for and folds what is long."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.planning.facts import ChannelPost, RetypeNews
from workflows.planning.plan import NAMELESS, Plan
from workflows.planning.plan_lines import PlanLine
from workflows.planning.wording import cards, marks, posts
from workflows.planning.wording.card import Card
from workflows.tests.shipped_facts import facts, someone

MANY = tuple(f"+ invite Person {n} (@everybody)" for n in range(120))
LONG = "+ invite " + ", ".join(f"Person {n}" for n in range(130))


def card(kind: str, **given: Any) -> Card:
    return posts.told(ChannelPost(7, kind, "news", "Ann", "did it", given.pop("text", ""), 1, **given), facts())


def retyped(changes: tuple[str, ...] | None, *, back: str = "ambiguous", text: str = "") -> Card:
    return card("retyped", text=text, retype=RetypeNews("Ambiguous", "Major", "red", back, changes))


def verbs(of: Card) -> list[str]:
    return [button.verb for button in of.buttons]


@pytest.mark.parametrize(
    ("kind", "given", "offers"),
    [
        ("due", {}, ["update"]),
        ("gap", {"ask": "fill|Scribe"}, ["fill"]),
        ("gap", {}, []),
        ("failed", {"retry": "3"}, ["retry"]),
        ("failed", {"retry": "3", "by_hand": "Archive it"}, ["retry", "by-hand"]),
        ("page", {"link": "https://pager.test/1", "ask": "resolve"}, ["resolve", "open"]),
        ("page", {"link": "javascript:alert(1)"}, []),
        ("alert", {"link": "https://pager.test/1"}, ["open"]),
        ("evidence", {"evidence": 3}, ["open"]),
        ("judged", {"finding": 1}, ["open"]),
        ("asked_in", {}, ["let-in", "turn-away"]),
        ("offered", {}, ["let-in", "turn-away"]),
        ("asked_in", {"answer": "Ann let Eve in."}, []),
    ],
)
def test_what_needs_something_is_a_card_that_offers_it(kind: str, given: dict[str, Any], offers: list[str]) -> None:
    found = card(kind, **given)
    assert verbs(found) == offers
    assert found.title
    assert found.tone


def test_an_update_says_what_it_states_and_else_that_is_a_card_of_its_own() -> None:
    step = ChannelPost(9, "next_step", "", "Ann", "did it", "roll back", 0, owner=someone("ben"))
    found = card("updated", text="we look", stated=(("Next step", step),))
    assert marks.bare(dict(found.sections)["Next step"]) == "Ben: roll back"
    assert marks.bare(card("next_step", text="roll back", owner=someone("ben")).text) == "Ben: roll back"
    assert card("impact", text="carts fail").title == "Impact from Ann"
    assert (card("next_step").title, card("next_step").text) == ("", "Ann did it")


def test_what_nobody_did_begins_with_a_capital() -> None:
    said = ChannelPost(7, "page", "paged Security: Farah Haddad", "", "paged Security: Farah Haddad", "", 1)
    assert posts.told(said, facts()).text == "Paged Security: Farah Haddad"


def test_a_page_opens_in_the_pager() -> None:
    (button,) = card("page", link="https://pager.test/1").buttons
    assert button.label == "Open in PagerDuty"


def test_a_withdrawn_announcement_says_no_more_than_one_that_its_type_ended() -> None:
    """Read in the channel of all incidents: it points at nothing else, and the reason stays with its people."""
    withdrawn = cards.withdrawn_announcement()
    assert withdrawn.text == cards.ended_announcement(facts()).text
    assert withdrawn.title == "Announcement withdrawn"


def test_the_handover_stays_true_once_the_old_channel_is_archived() -> None:
    said = marks.bare(cards.handover(replace(facts(), room=2)).text)
    assert said.startswith("Earlier messages are in ")
    assert "archived" not in said


def test_what_asks_for_nothing_stays_one_line() -> None:
    for kind in ("led", "role", "duplicated"):
        assert (card(kind).title, card(kind).tone, card(kind).buttons) == ("", "", ())


@pytest.mark.parametrize("way", ["redacted", "retracted"])
def test_what_was_taken_back_leaves_neither_words_nor_colour(way: str) -> None:
    for kind in (*posts.CARDS, "updated", "retyped"):
        news = RetypeNews("Ambiguous", "Major", "red", "ambiguous", ("+ invite Eve",)) if kind == "retyped" else None
        found = card(kind, text="secret", retype=news, **{way: True})
        assert (found.kind, found.tone, found.buttons, found.sections) == ("withdrawn", "", (), ())
        assert "secret" not in str(found)


def test_what_somebody_took_back_says_who() -> None:
    assert card("updated", text="secret", retracted=True, retracted_by="Ann").text == "Ann retracted this message."
    assert card("updated", text="secret", retracted=True).text == "This message was retracted."
    assert card("evidence", evidence=1, retracted=True, retracted_by="Ann").text == "Ann withdrew this evidence."


def test_a_retype_says_between_what_and_why_and_for_whom() -> None:
    found = retyped(("+ invite Eve (@support)", "+ page Major incidents"), text="carts fail")
    assert (found.title, found.tone) == ("Ambiguous → Major", "red")
    assert dict(found.sections)["Why"] == "carts fail"
    assert "invite Eve" in marks.bare(dict(found.sections)["What changes"])
    assert verbs(found) == ["undo-retype"]
    assert dict(retyped(()).sections)["What changes"] == posts.UNCHANGED
    assert dict(retyped(None).sections) == {}


@pytest.mark.parametrize("changes", [MANY, (LONG,)])
def test_a_long_list_folds_behind_a_button(changes: tuple[str, ...]) -> None:
    found = retyped(changes, text="w" * 9_000)
    assert verbs(found) == ["changes", "undo-retype"]
    said = marks.bare(dict(found.sections)["What changes"])
    assert len(said) < (posts.LINES + 1) * (posts.LINE_CHARS + 1)
    assert len(marks.bare(dict(found.sections)["Why"])) == posts.WHY_CHARS


def test_where_something_was_lost_nothing_is_undone() -> None:
    assert verbs(retyped(("~ move the conversation to a new private channel",), back="")) == []


def test_a_card_stays_as_it_is_while_the_incident_goes_on() -> None:
    """Or each change of it would edit every message of the channel."""
    event = ChannelPost(7, "retyped", "", "Ann", "", "", 1, retype=RetypeNews("A", "B", "red", "a", ("+ x",)))
    later = replace(facts("major"), active=False, status="resolved", title="another")
    assert posts.told(event, facts()) == posts.told(event, later)


@given(st.lists(st.sampled_from(["page/a", "member/1/UEVE", "group/a", "channel", "archived", "post"]), max_size=12))
def test_while_a_guest_reads_along_a_retype_names_nobody(keys: list[str]) -> None:
    named = [key for key in keys if key not in NAMELESS]
    lines = tuple(PlanLine("+", f"invite Eve {n}" if key in named else f"do it {n}", key) for n, key in enumerate(keys))
    nameless = tuple(map(str, Plan(lines=lines).without_names().lines))
    news = RetypeNews("Ambiguous", "Major", "red", "ambiguous", tuple(map(str, lines)), nameless=nameless)
    event = ChannelPost(7, "retyped", "", "Ann", "", "", 1, retype=news)
    known = replace(facts(), guests=True)
    assert "Eve" not in str(posts.told(event, known))
    assert ("changes" in verbs(posts.told(event, known))) >= bool(named)
    assert ("Eve" in str(posts.told(event, facts()))) == bool(
        named[: posts.LINES] and "Eve" in str(lines[: posts.LINES])
    )
