"""The channel's messages: one card per kind of entry, which offers what it asks for and collapses what is long."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.planning.facts import ChannelPost, RetypeNews, Stay
from workflows.planning.plan import Plan
from workflows.planning.plan_lines import PlanLine
from workflows.planning.wording import cards, marks, posts
from workflows.planning.wording.card import Card
from workflows.planning.wording.nameless import NAMELESS
from workflows.tests.shipped_facts import facts, someone

MANY = tuple(f"+ invite Person {n} (@everybody)" for n in range(120))
LED = replace(facts(), lead=someone("ben"))
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
        ("due", {}, ["update", "take-lead"]),
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
    assert posts.told(said, facts()).title == "Paged Security: Farah Haddad"


@pytest.mark.parametrize(
    ("kind", "sentence", "title", "text"),
    [
        ("page", "acknowledged the page to Security", "Ann acknowledged the page to Security", ""),
        ("page", "paged Web: Eve. Why: disk is full", "Ann paged Web: Eve", "Why: disk is full"),
        ("alert", "All 3 alerts are resolved. Is it over?", "Ann All 3 alerts are resolved", "Is it over?"),
        ("gap", "has no page for it. Create one", "Ann has no page for it", "Create one"),
        ("page", "paged Dr. Who. Why: it fails", "Ann paged Dr. Who", "Why: it fails"),
        ("gap", f"misses {'x' * 300}. Add one.", "Missing", f"Ann misses {'x' * 300}. Add one."),
        ("failed", "could not pin it: Slack is away", "Ann could not pin it: Slack is away", ""),
    ],
)
def test_the_first_line_is_what_happened_and_not_the_name_of_its_kind(
    kind: str, sentence: str, title: str, text: str
) -> None:
    found = posts.told(ChannelPost(7, kind, "news", "Ann", sentence, sentence, 1), facts())
    assert (found.title, found.text) == (title, text)


def test_what_someone_did_to_all_of_it_is_said_once() -> None:
    for kind, title in (("mitigated", "Mitigated"), ("resolved", "Resolved"), ("reopened", "Reopened")):
        found = card(kind, text="we rolled back")
        assert (found.title, found.text) == (f"{title} by Ann", "we rolled back")
    assert card("reviewed").title == "Ann did it"


def test_a_reminder_names_the_lead_and_is_over_once_the_update_came() -> None:
    due = ChannelPost(7, "due", "news", "", "A status update is due: Major asks for one every 30 minutes.", "", 1)
    led = LED
    found = posts.told(due, led)
    assert found.title == "A status update is due"
    assert marks.bare(found.text) == "Ben: please post it. Major asks for one every 30 minutes."
    assert verbs(found) == ["update"]
    assert marks.bare(posts.told(due, facts()).text).startswith("No one leads yet. ")
    came = replace(due, n=8, kind="updated", text="we look")
    for over in (replace(led, told=(due, came)), replace(led, active=False)):
        found = posts.told(due, over)
        assert (found.title, found.tone, found.buttons) == ("A status update was due", "slate", ())
    taken_back = replace(led, told=(due, replace(came, retracted=True)))
    assert verbs(posts.told(due, taken_back)) == ["update"]


def test_a_request_asks_by_name_and_says_the_answer_first_once_there_is_one() -> None:
    found = posts.told(ChannelPost(7, "asked_in", "", "Eve", "requested access: keys", "keys", 1), LED)
    assert (found.title, found.text) == ("Let Eve in?", "They requested access: keys")
    offered = posts.told(ChannelPost(7, "offered", "", "", "Eve is on call now. Let them in?", "", 1), LED)
    assert marks.bare(offered.text) == "Ben: Eve is on call now."
    answered = card("asked_in", answer="Ben let Ann in.")
    assert (answered.title, answered.tone) == ("Ben let Ann in", "slate")


def test_a_button_goes_once_what_it_asks_for_is_so() -> None:
    gap = ChannelPost(7, "gap", "news", "", "no one is Scribe", "", 1, ask="fill|Scribe")
    page = replace(gap, kind="page", ask="resolve")
    assert verbs(posts.told(gap, replace(facts(), roles=(("Scribe", someone("ben")),)))) == []
    assert verbs(posts.told(page, facts())) == ["resolve"]
    for one in (gap, page):
        assert verbs(posts.told(one, replace(facts(), active=False))) == []
    back = ChannelPost(7, "retyped", "", "Ann", "", "", 1, retype=RetypeNews("A", "B", "red", "a", ("+ x",)))
    assert verbs(posts.told(back, replace(facts(), active=False))) == []


def test_whoever_is_given_the_lead_or_a_role_is_mentioned() -> None:
    for sentence in ("made Ben the lead", "made Ben Scribe"):
        led = ChannelPost(7, "led", "news", "Ann", sentence, "", 1, owner=someone("ben"))
        text = posts.told(led, facts()).text
        assert marks.bare(text) == f"Ann {sentence}"
        assert someone("ben").mention[0] in text
    took = ChannelPost(7, "led", "news", "Ann", "took the lead", "", 1)
    assert posts.told(took, facts()).text == "Ann took the lead"


def test_evidence_that_could_not_be_read_says_so_first() -> None:
    found = card("evidence", evidence=3, unread=True)
    assert (found.title, found.tone) == ("Evidence 3 could not be read", "orange")
    assert card("evidence", evidence=3).title == "Evidence 3 from Ann"


def test_a_page_opens_in_the_pager() -> None:
    (button,) = card("page", link="https://pager.test/1").buttons
    assert button.label == "Open in PagerDuty"


def test_a_withdrawn_announcement_says_no_more_than_one_that_its_type_ended() -> None:
    """Posted in the channel of all incidents: it points at nothing else, and the reason stays with participants."""
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
    """Otherwise each change would edit every message of the channel."""
    event = ChannelPost(7, "retyped", "", "Ann", "", "", 1, retype=RetypeNews("A", "B", "red", "a", ("+ x",)))
    later = replace(facts("major"), status="mitigated", title="another")
    assert posts.told(event, facts()) == posts.told(event, later)


@given(st.lists(st.sampled_from(["page/a", "member/1/UEVE", "group/a", "channel", "archived", "post"]), max_size=12))
def test_while_a_guest_reads_along_a_retype_names_nobody(keys: list[str]) -> None:
    named = [key for key in keys if key not in NAMELESS]
    lines = tuple(PlanLine("+", f"invite Eve {n}" if key in named else f"do it {n}", key) for n, key in enumerate(keys))
    nameless = tuple(map(str, Plan(lines=lines).without_names().lines))
    news = RetypeNews("Ambiguous", "Major", "red", "ambiguous", tuple(map(str, lines)), nameless=nameless)
    event = ChannelPost(7, "retyped", "", "Ann", "", "", 1, retype=news)
    known = replace(facts(), stays=(Stay(replace(someone("gus"), is_guest=True), "picked"),))
    assert "Eve" not in str(posts.told(event, known))
    assert ("changes" in verbs(posts.told(event, known))) >= bool(named)
    assert ("Eve" in str(posts.told(event, facts()))) == bool(
        named[: posts.LINES] and "Eve" in str(lines[: posts.LINES])
    )
