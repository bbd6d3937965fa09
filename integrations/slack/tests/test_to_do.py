"""Tasks and follow-ups in Slack: typed, made from a message, finished from their card and from the Home tab."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.utils import timezone

from incidents import event_kinds, lifecycle
from incidents.models import Followup, Incident
from integrations.slack.interaction import due_days
from integrations.slack.tests.door import Door

SUNDAY = date(2026, 11, 22)
SOON, DUE, LATER = (timezone.now().date() + timedelta(days=n) for n in (9, 90, 120))  # a past day is refused


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    return door.house.channel(incident)


@pytest.mark.parametrize(
    ("said", "text", "due"),
    [
        ("roll back", "roll back", None),
        ("roll back by hand", "roll back by hand", None),
        ("write it down by friday", "write it down", date(2026, 11, 27)),
        ("write it down due Sunday.", "write it down", SUNDAY),
        ("call them by tomorrow", "call them", date(2026, 11, 23)),
        ("call them by 2026-12-01", "call them", date(2026, 12, 1)),
        ("by monday", "", date(2026, 11, 23)),
    ],
)
def test_a_day_is_read_off_the_end(said: str, text: str, due: date | None) -> None:
    assert due_days.split(said, today=SUNDAY) == (text, due)


@pytest.mark.parametrize("said", ["x by firday", "x by 2026-13-01", "x by 12/24", "x by 2026-11-21", "x by 1.12.2026"])
def test_what_is_meant_as_a_day_and_is_none_is_said(said: str) -> None:
    with pytest.raises(lifecycle.BadInput, match="by friday"):
        due_days.split(said, today=SUNDAY)


def test_a_task_is_posted_and_its_card_follows_what_becomes_of_it(door: Door, incident: Incident, channel: str) -> None:
    assert "roll back" in door.command("ann", "task @ben roll back the deploy", channel=channel)
    door.house.settle(incident)
    ben, card = door.slack.person("ben").id, str(door.slack.messages(channel)[-1])
    for words in ("Task 1", "roll back the deploy", f"<@{ben}>"):
        assert words in card
    posts = len(door.slack.messages(channel))
    door.press("ann", "firekind:task-reassign", channel=channel, ts=door.slack.messages(channel)[-1].ts)
    door.submit("ann", owner=door.slack.person("ann").id, due="by 2999-01-01")
    door.press("ann", "firekind:task-done", channel=channel, ts=door.slack.messages(channel)[-1].ts)
    door.house.settle(incident)
    assert "Task 1: done" in str(door.slack.messages(channel)[-1])
    assert len(door.slack.messages(channel)) == posts
    assert "No open tasks" in door.command("ann", "tasks", channel=channel)
    door.command("ann", "tasks reopen 1", channel=channel)
    assert "1. roll back the deploy" in door.command("ann", "tasks", channel=channel)


@pytest.mark.parametrize(("sent", "meanwhile"), [("owner", "due"), ("due", "owner"), ("wrong", ""), ("", "owner")])
def test_a_window_changes_what_was_changed_in_it_and_all_or_nothing(
    sent: str, meanwhile: str, door: Door, incident: Incident, channel: str
) -> None:
    ann, ben, eve = (door.house.person(handle) for handle in ("ann", "ben", "eve"))
    door.command("ann", f"task @ben roll back by {DUE}", channel=channel)
    door.house.settle(incident)
    door.press("ann", "firekind:task-reassign", channel=channel, ts=door.slack.messages(channel)[-1].ts)
    now = Followup.objects.get(incident=incident)
    expected = {"owner": ben.pk, "due": DUE}
    if meanwhile == "owner":
        expected["owner"] = lifecycle.assign_followup(incident, n=1, owner=ann, by=ann, at=now.made_at).owner_id
    if meanwhile == "due":
        expected["due"] = lifecycle.schedule_followup(incident, n=1, due_on=None, by=ann, at=now.made_at).due_on
    filled = {"owner": eve.chat_id} if sent in {"owner", "both", "wrong"} else {}
    filled |= {"due": "2999-01-01" if sent == "wrong" else str(LATER)} if sent in {"due", "both", "wrong"} else {}
    expected |= {"owner": eve.pk} if sent in {"owner", "both"} else {}
    expected |= {"due": LATER} if sent in {"due", "both"} else {}
    door.submit("ann", **filled)
    now.refresh_from_db()
    assert {"owner": now.owner_id, "due": now.due_on} == expected


def test_a_message_becomes_a_task_that_leads_back_to_it(door: Door, incident: Incident, channel: str) -> None:
    said = door.slack.acts.say("ben", channel, "somebody should call the bank")
    door.shortcut("ann", "firekind:task-of", channel=channel, ts=said)
    door.submit("ann", owner=door.slack.person("ben").id, due="tomorrow")
    made = Followup.objects.get(incident=incident)
    assert (made.text, made.owner and made.owner.name) == ("somebody should call the bank", "Ben")
    assert made.due_on is not None
    assert made.link.endswith(said)


def test_mine_are_on_my_home_tab_and_done_from_there(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", f"followup @ben write down what happened by {SOON}", channel=channel)
    door.slack.acts.open_home("ben")
    door.deliver()
    home = door.slack.home("ben")
    assert home is not None
    assert "write down what happened" in door.reads(home)
    door.press("ben", "firekind:task-done", home=True)
    assert Followup.objects.get(incident=incident).state == "done"


def test_a_due_date_reads_the_same_wherever_it_stands(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", f"task @ann roll back by {SOON}", channel=channel)
    door.house.settle(incident)
    door.slack.acts.open_home("ann")
    door.deliver()
    home = door.slack.home("ann")
    assert home is not None
    (card,) = (str(said) for said in door.slack.messages(channel) if "Task 1" in str(said))
    listed = door.command("ann", "tasks", channel=channel)
    for said in (door.reads(home), card, listed):
        assert event_kinds.said_day(SOON) in said
        assert str(SOON) not in said
