"""What the dialog says before an incident becomes private: what closes, what moves, what cannot be undone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workflows.planning.facts import ChannelPost, Stay
from workflows.planning.pages import RESOLVED, TRIGGERED, Paged
from workflows.planning.tickets.wanted import TrackerNow
from workflows.planning.wording import privacy_notes
from workflows.planning.wording.privacy_notes import CLOSES, EVERYWHERE, MOVES, STAYS
from workflows.tests.shipped_facts import POLICIES, facts, someone

OPENED = ("channel/1", "headline/1", "told/2", "announcement")


def said(*there: str, converts: bool = False, alerts: int = 0, **given: object) -> dict[str, list[str]]:
    """The notes by heading for an incident that becomes private."""
    before = replace(facts("major", pager=True), there=frozenset(there), **given)  # type: ignore[arg-type]  # a table of facts
    stays = (Stay(someone("dee"), "declared"),)
    after = before.retyped(POLICIES["security"], staying=stays, bring=(), converts=converts)
    found: dict[str, list[str]] = {}
    for note in privacy_notes.notes(before, after, alerts=alerts):
        found.setdefault(note.heading, []).append(note.text)
    return found


def has(texts: list[str], *words: str) -> bool:
    return any(all(word in text for word in words) for text in texts)


def told(n: int, room: int = 1) -> ChannelPost:
    return ChannelPost(n, "noted", "a message", "Dee", "noted it", "words", room)


def page(n: int, status: str = TRIGGERED) -> Paged:
    return Paged(f"page/policy/P{n}", f"policy/P{n}", "Web", "S1", status)


def test_what_closes_at_once_is_said_of_every_incident_and_the_rest_where_it_is_there() -> None:
    assert said()[CLOSES] == list(EVERYWHERE)
    opened = said(*OPENED, paged=(page(1), page(2)))[CLOSES]
    assert opened[: len(EVERYWHERE)] == list(EVERYWHERE)
    assert has(opened, "announcement in #incidents")
    assert has(opened, "2 pages", "amber-otter needs you")
    assert has(said(paged=(page(1),))[CLOSES], "1 page in")


def test_that_glass_can_be_broken_stands_below_who_gets_in() -> None:
    closes = said(*OPENED)[CLOSES]
    assert "Only the people named here" in closes[0]
    assert has(closes[1:2], "break glass", "are notified")


def test_a_new_room_is_named_with_what_becomes_of_the_old_one() -> None:
    moves = said(*OPENED, told=(told(2), told(3), told(4, 2)))[MOVES]
    assert has(moves, "moves to a new private channel")
    assert has(moves, "#inc-amber-otter", "2 of our messages are withdrawn")
    assert has(said("channel/1", "headline/1")[MOVES], "1 of our messages is withdrawn")
    unopened = said()[MOVES]
    assert has(unopened, "moves to a new private channel")
    assert not has(unopened, "emptied")
    assert not has(said(chat=False)[MOVES], "channel with")
    for one in (moves, unopened, said(chat=False)[MOVES]):
        assert one[-1] == "Later pages show only the codename."


def test_a_room_that_becomes_private_itself_keeps_its_history() -> None:
    moves = said(*OPENED, converts=True)[MOVES]
    assert has(moves, "#inc-amber-otter becomes private")
    assert not has(moves, "new private channel")
    assert not has(moves, "emptied")


def test_where_rooms_can_be_converted_it_is_said_why_this_one_is_not() -> None:
    before = replace(facts("major"), converts=True)
    for there, why in ((("channel/1",), True), ((), False)):
        known = replace(before, there=frozenset(there))
        after = known.retyped(POLICIES["security"], staying=(), bring=())
        texts = [note.text for note in privacy_notes.notes(known, after) if note.heading == MOVES]
        assert has(texts, "can't become private") == why
        assert has(texts, "moves to a new private channel")


def test_what_cannot_be_undone_counts_what_others_keep() -> None:
    plain = said()[STAYS]
    assert len(plain) == 1
    assert has(plain, "stays private from then on")
    opened = said(*OPENED)[STAYS]
    assert has(opened, "already read it", "#inc-amber-otter")
    assert has(opened, "others posted stay in #inc-amber-otter")
    assert has(opened, "cannot unarchive #inc-amber-otter")
    assert has(opened, "People in Slack can; you'll be notified if they do.")
    converted = said(*OPENED, converts=True)[STAYS]
    assert has(converted, "already read it")
    assert not has(converted, "unarchive")
    assert not has(converted, "others posted")


@pytest.mark.parametrize("converts", [True, False])
def test_what_people_were_told_quietly_is_not_taken_back_and_said_wherever_there_was_a_channel(converts: bool) -> None:
    for there in (OPENED, ("channel/1",)):
        assert has(said(*there, converts=converts)[STAYS], "already read it", "messages only they can see")
    assert not has(said("announcement", converts=converts)[STAYS], "only they can see")


def test_pages_and_alerts_leave_traces_with_the_pager() -> None:
    paged = said(paged=(page(1), page(2, RESOLVED), page(3, RESOLVED)), alerts=1)[STAYS]
    assert has(paged, "2 pages already resolved")
    assert has(paged, "phones")
    assert has(paged, "1 alert that joined", "PagerDuty's own incidents")
    known = facts("major")
    assert not has([note.text for note in privacy_notes.notes(known, replace(known, room=2))], "alert")
    ringing = said(paged=(page(1),), alerts=2)[STAYS]
    assert not has(ringing, "already resolved")
    assert has(ringing, "2 alerts that joined")
    assert not has(said()[STAYS], "alert")
    assert not has(said()[STAYS], "phones")


@pytest.mark.parametrize(
    ("known", "stays", "says"),
    [
        ({"chat": False}, ["announcement"], ["Slack is not connected", "announcement in #incidents stays"]),
        (
            {"chat": False, "announced_in": {"announcement": "outages"}},
            ["announcement"],
            ["Slack is not connected", "#outages"],
        ),
        ({"pager": False, "paged": (page(1), page(2))}, [], ["PagerDuty is not connected", "2 pages stay"]),
        ({"tickets": {"ticket/1": "github:a/b"}}, [], ["1 ticket keeps its title in a/b", "by hand"]),
        (
            {"tracker": TrackerNow("Jira", "jira:NEW", "jira:SEC"), "tickets": {"ticket/1": "github:a/b"}},
            [],
            ["1 ticket keeps its title in a/b", "by hand"],
        ),
    ],
)
def test_what_is_public_and_out_of_reach_is_named_and_not_promised(
    known: dict[str, object], stays: list[str], says: list[str]
) -> None:
    found = said(*stays, **known)  # type: ignore[arg-type]  # a table of facts
    assert has(found[STAYS], *says)
    assert found[CLOSES] == list(EVERYWHERE)


def test_tickets_that_are_withdrawn_or_private_are_not_said_to_stay() -> None:
    tracker = TrackerNow("Jira", "jira:OPS", "jira:SEC")
    kept = {"ticket/1": "jira:OPS", "ticket/1/private": "github:hidden"}
    found = said(tracker=tracker, tickets=kept)
    assert has(found[CLOSES], "1 ticket in Jira is emptied and closed")
    assert not has(found[STAYS], "by hand")


def test_headings_come_in_the_order_of_what_matters() -> None:
    assert list(said(*OPENED)) == [STAYS, CLOSES, MOVES]


@pytest.mark.parametrize(
    ("count", "says"), [(1, "1 duplicate of it no longer names it:"), (2, "2 duplicates of it no")]
)
def test_duplicates_that_name_it_no_more_are_counted_where_there_are_any(count: int, says: str) -> None:
    before = facts("major")
    after = before.retyped(POLICIES["security"], staying=(Stay(someone("dee"), "declared"),), bring=())
    texts = [note.text for note in privacy_notes.notes(before, after, duplicates=count) if note.heading == CLOSES]
    assert has(texts, says)
    assert not has([note.text for note in privacy_notes.notes(before, after)], "duplicate")
