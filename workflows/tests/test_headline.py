"""The headline: everything in it follows from the facts alone, and nothing in it becomes outdated by itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from workflows.planning.facts import ChannelPost
from workflows.planning.wording import cards, headline, marks
from workflows.tests.shipped_facts import facts, someone

AT = datetime(2026, 11, 20, 3, 4, tzinfo=UTC)
UPDATE = ChannelPost(4, "updated", "the update", "Ann", "", "we roll back", 1, at=AT)


def offered(**changes: Any) -> list[str]:
    return [button.verb for button in headline.headline(replace(facts(), **changes)).buttons]


@pytest.mark.parametrize(
    ("state", "verbs"),
    [
        ({}, ["take-lead", "update", "retype", "mitigate", "resolve"]),
        ({"lead": someone("ann")}, ["update", "retype", "mitigate", "resolve"]),
        ({"lead": someone("ann"), "status": "mitigated"}, ["update", "retype", "resolve"]),
        ({"private": True, "lead": someone("ann")}, ["update", "retype", "mitigate", "resolve"]),
        ({"status": "resolved", "active": False}, ["open", "reopen"]),
        ({"status": "cancelled", "active": False}, ["open", "reopen"]),
        ({"status": "duplicate", "active": False}, ["open", "reopen"]),
    ],
)
def test_only_what_the_state_allows_is_offered(state: dict[str, Any], verbs: list[str]) -> None:
    assert offered(**state) == verbs


def test_what_the_type_means_is_said_of_the_type_and_not_of_the_incident() -> None:
    policy = replace(facts().policy, name="Major", says="Key features are definitely hit.")
    (context,) = headline.headline(replace(facts(), policy=policy)).context
    assert marks.bare(context).endswith(" · Major: Key features are definitely hit.")


def test_the_latest_update_has_an_age_that_the_reader_counts() -> None:
    card = headline.headline(replace(facts(), summary="all carts fail", update=UPDATE))
    assert [label for label, _ in card.sections] == ["Latest update", "Summary"]
    assert marks.ago(AT) in tuple(marks.parts(card.sections[0][1]))
    over = headline.headline(replace(facts(), update=UPDATE, active=False, status="resolved"))
    assert [label for label, _ in over.sections] == ["Last update"]


def test_impact_and_next_step_are_as_last_stated_and_only_the_impact_is_announced() -> None:
    step = replace(UPDATE, kind="next_step", text="roll back", owner=someone("ben"))
    known = replace(facts(), impact=replace(UPDATE, kind="impact", text="carts fail"), next_step=step)
    said = dict(headline.headline(known).sections)
    assert list(said) == ["Impact", "Next step"]
    assert (marks.bare(said["Impact"]), marks.bare(said["Next step"])) == ("carts fail", "Ben: roll back")
    assert "Next step" not in dict(headline.announcement(known).sections)
    assert "Next step" not in dict(headline.headline(replace(known, active=False, status="resolved")).sections)


def test_what_is_due_is_said_while_somebody_responds() -> None:
    due = replace(facts(), due_at=AT + timedelta(hours=1))
    assert "Next update due" in dict(headline.headline(due).fields)
    assert "Next update due" not in dict(headline.headline(replace(due, active=False, status="resolved")).fields)
    assert "Next update due" not in dict(headline.announcement(due).fields)


def test_long_words_are_cut_to_what_a_phone_shows() -> None:
    known = replace(facts(), summary="a" * 9_000, update=replace(UPDATE, text="b" * 9_000))
    for card in (headline.headline(known), headline.announcement(known)):
        assert all(len(marks.bare(said)) < headline.SHOWN_CHARS + 60 for _, said in card.sections)


def test_a_private_one_says_so_whatever_its_type() -> None:
    assert "private" in str(dict(headline.headline(replace(facts(), private=True)).fields)["Type"])
    assert "private" not in str(dict(headline.headline(facts()).fields)["Type"])


def test_nobody_is_awaited_as_the_lead_of_what_is_over() -> None:
    for status in headline.STATUS_WORDS:
        known = replace(facts("major"), lead=None, status=status, active=status in {"open", "mitigated"})
        said = [cards.topic(known), marks.bare(headline.lead(known))]
        assert all(("yet" in one) == known.active for one in said), (status, said)


def test_what_a_withdrawn_announcement_says_stands_by_itself() -> None:
    card = cards.withdrawn_announcement()
    assert "nnouncement" in card.title


def test_the_channel_is_told_who_declared_it_and_everyone_else_only_when() -> None:
    known = replace(facts(), declarer=someone("ann"), declared_at=AT)
    (said,) = headline.headline(known).context
    assert " by Ann · " in marks.bare(said)
    (announced,) = headline.announcement(known).context
    assert "Ann" not in marks.bare(announced)
    (unknown,) = headline.headline(replace(known, declarer=None)).context
    assert " by " not in marks.bare(unknown).partition(known.policy.says)[0]
