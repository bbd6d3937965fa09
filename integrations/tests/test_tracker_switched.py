"""Tickets that are forgotten, or not connected any more: withdrawn when possible, without touching a stranger's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.conf import settings
from django.utils import timezone

from incidents import lifecycle
from integrations.tests.ticket_desk import Desk, desk
from integrations.trackers.fake.board import BoardTicket
from integrations.trackers.tests.board import VENDORS
from workflows import ports
from workflows.effects.failing import failures
from workflows.models import Effect
from workflows.reconcile import sweep

STRANGERS = "Somebody's own"
OWED = ["edit", "withdrawal"]
MEANWHILE = ["waiting", "unsure", "failed"]


@contextmanager
def switched(at: Desk, kind: str) -> Iterator[Desk]:
    """Connect another tracker, or another project in the same one, in which others' tickets have the same numbers."""
    board, tracker = VENDORS[kind](at.now)
    for private in (False, True):
        there = tracker.place(private=private).partition(":")[2]
        tracker._projects[private] = another = f"{there}X"  # type: ignore[attr-defined]
        board.projects = (*board.projects, another)
        for one in at.board.tickets:
            board.tickets.append(BoardTicket(one.n, another, STRANGERS, id=one.id, updated_at=at.now()))
    before = at.board, at.tracker
    with ports.using(tracker=tracker):
        at.board, at.tracker = board, tracker
        yield at
    at.board, at.tracker = before


def open_without_answer(at: Desk, how: str) -> BoardTicket:
    """Open a ticket whose answer is lost, so that its step is unsure or failed; return the ticket."""
    at.board.faults.add("lost", times=99)
    with patch.object(failures, "ATTEMPTS", 1 if how == "failed" else failures.ATTEMPTS):
        at.add("Rotate the leaked keys")
        at.work()
    at.board.faults.clear()
    (public,) = at.board.tickets
    return public


def owe(at: Desk, what: str, how: str) -> None:
    """Leave an edit or a withdrawal undone when the processes are restarted."""
    at.add("Rotate the leaked keys")
    at.settle()
    if what == "edit":
        lifecycle.edit(at.incident, n=at.row().entry_n, text="Rotate all keys", by=at.people[0], at=at.now())
    else:
        at.turn_private()
    at.board.faults.add("down" if how == "waiting" else "lost", times=99)
    attempts = failures.ATTEMPTS
    failures.ATTEMPTS = 1 if how == "failed" else attempts
    at.work()
    failures.ATTEMPTS = attempts
    at.board.faults.clear()
    assert Effect.objects.filter(thing="ticket/1", verb="change").exclude(state="done").exists()


@pytest.mark.parametrize("how", MEANWHILE)
@pytest.mark.parametrize("what", OWED)
@pytest.mark.parametrize(("kind", "another"), [("github", "gitlab"), ("jira", "jira")])
def test_what_was_owed_in_one_is_done_to_no_ticket_of_another(
    db: None, kind: str, another: str, what: str, how: str
) -> None:
    with desk(kind) as at:
        owe(at, what, how)
        with switched(at, another) as there:
            strangers = list(there.board.tickets)
            with patch("integrations.tests.ticket_desk.reconcile.reconcile"):
                there.work()  # what a worker finds when it starts, before anything is planned again
            for effect in Effect.objects.filter(state="failed"):
                failures.retry(effect, at=at.now())
            there.settle()
            assert {(one.title, one.state) for one in strangers} == {(STRANGERS, "open")}
            assert at.row().text != STRANGERS
            said = [one.text for one in at.incident.events.filter(kind="gap")]
            assert len([one for one in said if "by hand" in one]) == (what == "withdrawal")
        for _ in range(2):
            at.settle()
        if what == "withdrawal":
            assert "keys" not in at.ticket().title, "connected again, it is withdrawn"
            assert at.incident.events.filter(kind="gap_closed").exists()


def test_without_a_tracker_it_is_said_what_stays_and_withdrawn_once_there_is_one(db: None) -> None:
    with desk() as at:
        at.add("Rotate the leaked keys")
        at.settle()
        with ports.using(tracker=None):
            at.turn_private()
            lifecycle.resolve(at.incident, by=at.people[0], at=at.now(), text="Rotated")
            at.work()
            (said,) = [one.text for one in at.incident.events.filter(kind="gap") if "by hand" in one.text]
            assert "acme/ops" in said
        assert at.incident.pk in sweep.unplanned(at=timezone.now() + timedelta(minutes=2)), "also once it is over"
        at.settle()
        assert "keys" not in at.ticket().title


@pytest.mark.parametrize("how", ["unsure", "failed"])
def test_without_a_tracker_one_that_may_have_been_opened_is_told_of_as_well(db: None, how: str) -> None:
    with desk() as at:
        public = open_without_answer(at, how)
        with ports.using(tracker=None):
            at.turn_private()
            for _ in range(2):
                at.work()
            (said,) = [one.text for one in at.incident.events.filter(kind="gap") if "by hand" in one.text]
            assert "may have been opened in acme/ops" in said
        at.settle()
        assert "keys" not in public.title
        assert at.incident.events.filter(kind="gap_closed").exists()


def test_a_project_with_a_long_name_is_said_to_be_left_as_well(db: None) -> None:
    with desk("gitlab") as at:
        long = "acme/" + "/".join(["of-a-group-in-a-group"] * 5)
        at.tracker._projects[False] = long  # type: ignore[attr-defined]
        at.board.projects = (*at.board.projects, long)
        at.add("Rotate the leaked keys")
        at.settle()
        with ports.using(tracker=None):
            at.turn_private()
            at.work()
        assert [one.text for one in at.incident.events.filter(kind="gap") if long in one.text]


def test_one_is_found_after_secret_key_was_changed(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with desk() as at:
        open_without_answer(at, "unsure")
        assert Effect.objects.get(thing="ticket/1", state="waiting").unsure
        monkeypatch.setattr(settings, "SECRET_KEY", "another " * 10)
        at.settle()
        assert len(at.board.tickets) == 1


def test_one_that_was_opened_all_the_same_is_withdrawn(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "ATTEMPTS", 1)
    with desk() as at:
        public = open_without_answer(at, "failed")
        assert Effect.objects.get(thing="ticket/1", state="failed").unsure
        at.turn_private()
        at.settle()
        assert "keys" not in public.title


@pytest.mark.parametrize("turns", ["before", "after"])
@pytest.mark.parametrize("how", ["unsure", "failed"])
def test_one_that_may_have_been_opened_is_told_of_and_withdrawn_once_its_project_is_connected_again(
    db: None, how: str, turns: str
) -> None:
    """It becomes private before, or after, another project was set and the follow-up may have got a ticket there."""
    with desk() as at:
        public = open_without_answer(at, how)
        if turns == "before":
            at.turn_private()
        with switched(at, "gitlab") as there:
            there.settle()
            assert at.incident.events.filter(kind="gap").exists() == (turns == "before")
            if turns == "after":
                assert how == "failed" or there.ticket().title == "Rotate the leaked keys", "it goes where they go now"
                there.turn_private()
                there.settle()
            (said,) = [one.text for one in at.incident.events.filter(kind="gap") if "by hand" in one.text]
            assert "may have been opened in acme/ops" in said
            assert at.incident.pk in sweep.unplanned(at=timezone.now() + timedelta(minutes=2))
        at.settle()
        assert "keys" not in public.title
        assert at.incident.events.filter(kind="gap_closed").exists()
