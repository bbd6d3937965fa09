"""Follow-ups and tickets: created once whatever goes wrong, in sync both ways, and none for a private incident."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import transaction
from hypothesis import example, given
from hypothesis import settings as bounded
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from incidents import lifecycle
from incidents.models import Event, Incident
from integrations.tests.ticket_desk import COURSE, Desk, desk, edit_here
from integrations.trackers.adapter.ticket_text import NEUTRAL_TITLE
from integrations.trackers.fake.board import BoardTicket
from integrations.trackers.tests.board import PEOPLE, VENDORS
from workflows import tasks
from workflows.models import Effect, Limit, Ticket, TrackerRead
from workflows.planning.tickets import wanted
from workflows.ports import VendorError
from workflows.reconcile import reconcile
from workflows.tickets import looks


class Killed(BaseException):
    """Kills the worker at this point."""


THERE = ("title", "assign", "unassign", "day", "close", "open")
EDITS = ("text", "own", "due", "done", "dropped", "reopen", *THERE)
WEATHER = ("work", "work", "look", "lost", "down", "refused", "limited", "killed")
STEPS = st.lists(st.sampled_from(EDITS + WEATHER + COURSE), max_size=9)
PHASES = st.sampled_from(["during", "afterwards"])


def play(at: Desk, steps: list[str]) -> None:
    """Do each step; edits that the verbs refuse are skipped."""
    for n, step in enumerate(steps):
        if step in {"lost", "down", "refused", "limited"}:
            at.board.faults.add(step, times=1)
        elif step in {"work", "look", "killed"}:
            act(at, step)
        elif step == "private":
            with suppress(lifecycle.Refused):  # of one that has ended
                at.turn_private()
        elif step in THERE:
            edit_there(at, step, n)
        else:
            with suppress(lifecycle.Refused):
                edit_here(at, step, n)


def act(at: Desk, step: str) -> None:
    if step == "work":
        at.work()
    elif step == "look":
        looks.look_again(at=at.now())
    else:
        with suppress(Killed), patch("workflows.performing.perform._recorded", side_effect=Killed):
            at.work()


def edit_there(at: Desk, step: str, n: int) -> None:
    for ticket in at.board.tickets:
        fields = {
            "title": {"title": f"Theirs {n}"},
            "assign": {"owner": list(PEOPLE.values())[n % 2]},
            "unassign": {"owner": ""},
            "day": {"due": (at.clock.date() + timedelta(days=n)).isoformat()},
            "close": {"state": "done"},
            "open": {"state": "open"},
        }
        at.board.edit(ticket, **fields[step])


class TestAnyOrder(TestCase):
    @given(st.sampled_from(sorted(VENDORS)), PHASES, STEPS)
    @example("github", "during", ["end", "work", "done"])
    @example("github", "during", ["end", "work", "again", "text"])
    @bounded(max_examples=25)
    def test_made_once_and_equal_at_the_end(self, kind: str, phase: str, steps: list[str]) -> None:
        with desk(kind) as at:
            at.add(phase=phase)
            play(at, steps)
            at.board.faults.clear()
            at.settle()
            row = at.row()
            if not at.board.tickets:
                assert not row.is_open or row.is_task
                return
            assert len(at.board.tickets) == 1
            at.assert_in_step()
            before = [(one.title, one.state, one.owner, one.due, one.updated_at) for one in at.board.tickets]
            at.settle()
            after = [(one.title, one.state, one.owner, one.due, one.updated_at) for one in at.board.tickets]
            assert before == after, "an echo is no news"

    @given(st.sampled_from(sorted(VENDORS)), PHASES, STEPS, STEPS)
    @example("github", "afterwards", ["lost", "work"], ["down", "work"])
    @example("github", "afterwards", ["killed"], ["down", "work"])
    @example("github", "afterwards", [], ["work", "text", "assign"])
    @example("github", "during", ["end", "work", "again"], [])
    @bounded(max_examples=25)
    def test_of_one_that_turned_private_it_stands_for_the_private_one_alone(
        self, kind: str, phase: str, before: list[str], since: list[str]
    ) -> None:
        with desk(kind) as at:
            at.add(phase=phase)
            steps = [*before, "again", "private", *since]
            play(at, steps)
            at.board.faults.clear()
            at.settle()
            assert Incident.objects.get(pk=at.incident.pk).private
            # What someone has written there since is theirs.
            allowed = {NEUTRAL_TITLE, *(f"Theirs {n}" for n in range(len(before) + 2, len(steps)))}
            assert {one.title for one in at.board.there("acme/ops")} <= allowed
            kept = Ticket.objects.filter(incident=at.incident, key=wanted.key(1, private=True)).first()
            if kept is None:
                assert at.row().ticket == ""
                return
            assert len([one for one in at.board.tickets if one.project == "acme/private"]) <= 1
            label = at.incident.resources.get(key=wanted.key(1, private=True)).label
            assert at.row().ticket == label
            at.assert_in_step(private=True)


@pytest.mark.django_db
@pytest.mark.parametrize("kind", sorted(VENDORS))
@pytest.mark.parametrize("step", THERE)
def test_an_edit_before_a_ticket_is_found_whose_answer_was_lost_ends_in_step(kind: str, step: str) -> None:
    with desk(kind) as at:
        at.add(owner=at.people[0], due_on=at.clock.date() + timedelta(days=2))
        at.board.faults.add("lost", times=1)
        at.work()
        assert len(at.board.tickets) == 1
        edit_there(at, step, 1)
        at.board.faults.clear()
        at.settle()
        assert len(at.board.tickets) == 1
        at.assert_in_step()


@pytest.mark.django_db
@pytest.mark.parametrize("lost", [True, False])
@pytest.mark.parametrize("kind", sorted(VENDORS))
def test_an_owner_whom_the_tracker_does_not_take_stays_here_and_is_not_sent_for_ever(
    kind: str, lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def untaken(ticket: BoardTicket, name: str, value: Any) -> None:
        object.__setattr__(ticket, name, "" if name == "owner" else value)

    monkeypatch.setattr(BoardTicket, "__setattr__", untaken)
    with desk(kind) as at:
        at.add(owner=at.people[0])
        if lost:
            at.board.faults.add("lost", times=1)
        at.work()
        at.board.faults.clear()
        at.settle()
        (ticket,) = at.board.tickets
        before = ticket.updated_at
        at.settle()
        assert (ticket.updated_at, ticket.owner, at.row().owner) == (before, "", at.people[0])


def test_a_limit_that_a_look_meets_stops_everyone(office: Desk) -> None:
    office.add()
    office.settle()
    office.board.faults.add("limited", times=1, retry_after_s=600)
    before = len(office.board.calls)
    for _ in range(3):
        looks.look_again(at=office.now())
    assert len(office.board.calls) == before + 1
    assert {one.method for one in Limit.objects.all()} == {"tracker.open", "tracker.change"}


NEWS = ("title", "assign", "close")


@pytest.mark.parametrize("step", NEWS)
def test_what_is_done_there_is_done_here_and_says_where(office: Desk, step: str) -> None:
    office.add()
    office.settle()
    edit_there(office, step, 1)
    office.settle()
    office.assert_in_step()
    said = Event.objects.filter(incident=office.incident).order_by("-n")[0]
    assert step == "title" or said.data["tracker"] == "GitHub Issues"
    assert office.row().ticket == "acme/ops#1"


def test_the_newer_of_two_edits_stands(office: Desk) -> None:
    office.add()
    office.settle()
    edit_here(office, "text", 1)
    edit_there(office, "title", 2)
    office.settle()
    assert office.ours()["title"] == "Ours 1"  # planned after their edit, which we had not read yet
    edit_here(office, "text", 3)
    reconcile.reconcile(office.incident.pk, at=office.now())
    edit_there(office, "title", 4)
    office.settle()
    assert office.ours()["title"] == "Theirs 4"
    office.assert_in_step()


@pytest.mark.parametrize("kind", sorted(VENDORS))
def test_an_edit_of_ours_that_overtakes_a_list_of_what_changed_stands(kind: str, db: None) -> None:
    """The list shows a ticket before our edit reached it, and is compared afterwards."""
    with desk(kind) as at:
        at.add()
        at.settle()
        listed = at.tracker.changed_tickets

        def overtaken(*given: Any, **more: Any) -> Any:
            found = listed(*given, **more)
            edit_here(at, "done", 1)
            at.work()
            return found

        with patch.object(at.tracker, "changed_tickets", overtaken):
            looks.look_again(at=at.now())
        assert at.row().state == "done"
        at.settle()
        at.assert_in_step()
        assert not Event.objects.filter(incident=at.incident, kind="followup_reopened").exists()


@pytest.mark.parametrize("kind", sorted(VENDORS))
def test_one_that_the_tracker_refuses_to_show_holds_up_no_other_and_is_asked_for_again(kind: str, db: None) -> None:
    with desk(kind) as at:
        for text in ("Rotate the keys", "Write a test"):
            at.add(text)
        at.settle()
        for n in (1, 2):
            at.now()
            at.board.edit(at.ticket(n), title=f"Theirs {n}")
        hidden = Ticket.objects.get(incident=at.incident, key=wanted.key(1, private=False)).ref
        look = at.tracker.look_at_ticket

        def hides(ref: str, *, private: bool = False) -> Any:
            if ref == hidden:
                raise VendorError("It is hidden.", code="http_403", method="tracker.look")
            return look(ref, private=private)

        with patch.object(at.tracker, "look_at_ticket", hides):
            for _ in range(2):
                looks.look_again(at=at.now())
        assert [at.row(n).text for n in (1, 2)] == ["Rotate the keys", "Theirs 2"]
        at.clock += timedelta(hours=1)
        at.settle()
        assert at.row(1).text == "Theirs 1"
        at.assert_in_step()


def test_one_that_is_refused_has_no_more_listed_again_than_is_read_at_once(
    office: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tracker lists at most a thousand changes, so later ones would wait for a day."""
    monkeypatch.setattr(looks, "REFUSED_AMONG", 2)
    for text in ("Rotate the keys", "Write a test", "Look at it"):
        office.add(text)
    office.settle()
    for n in (1, 2, 3):
        office.now()
        office.board.edit(office.ticket(n), title=f"Theirs {n}")
    look, refuses = office.tracker.look_at_ticket, Ticket.objects.get(key=wanted.key(1, private=False)).ref

    def hides(ref: str, *, private: bool = False) -> Any:
        if ref == refuses:
            raise VendorError("It is hidden.", code="http_403", method="tracker.look")
        return look(ref, private=private)

    last = office.tracker.changed_tickets(TrackerRead.objects.get().until)[-1]
    with patch.object(office.tracker, "look_at_ticket", hides):
        for _ in range(3):
            looks.look_again(at=office.now())
            reconcile.reconcile(office.incident.pk, at=office.now())
    assert TrackerRead.objects.get().until == last.at
    assert [office.row(n).text for n in (2, 3)] == ["Theirs 2", "Theirs 3"]


def test_what_cannot_be_done_here_is_put_back_there(office: Desk) -> None:
    n = office.add()
    office.settle()
    lifecycle.retract(office.incident, n=office.row(n).entry_n, by=office.people[0], at=office.now())
    office.settle()
    assert office.theirs()["state"] == "dropped"
    edit_there(office, "open", 1)
    office.settle()
    assert office.theirs()["state"] == "dropped"


def test_tasks_and_what_was_done_before_get_none_and_a_deleted_one_is_left_deleted(office: Desk) -> None:
    task = office.add(phase="during")
    office.settle()
    assert not office.board.tickets
    lifecycle.resolve(office.incident, by=office.people[0], at=office.now())
    office.settle()
    office.board.delete(office.ticket(task))
    edit_here(office, "own", 1)
    office.settle()
    assert not office.board.there("acme/ops")
    assert len(office.board.tickets) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("kind", sorted(VENDORS))
def test_one_that_is_deleted_between_our_look_and_our_edit_is_known_to_be_and_fails_nothing(kind: str) -> None:
    with desk(kind) as at:
        at.add()
        at.settle()
        ticket, serve = at.ticket(), at.board.serve

        def deleted_first(method: str, url: str, headers: Any, body: bytes) -> Any:
            if b"Ours" in body and not ticket.deleted:
                at.board.delete(ticket)
            return serve(method, url, headers, body)

        edit_here(at, "text", 1)
        with patch.object(at.board, "serve", deleted_first):
            at.settle()
        assert ticket.deleted
        assert not Effect.objects.filter(state="failed").exists()
        assert len(at.board.tickets) == 1, "a deleted ticket stays deleted"
        assert at.row().state == "open"


def test_a_day_that_nobody_means_is_refused(office: Desk) -> None:
    office.add(due_on=date(office.clock.year + 1, 1, 1))
    about: dict[str, Any] = {"owner": None, "tracker": "Jira", "at": office.now()}
    changes = {"due": f"{office.clock.year + 9}-01-01"}
    with transaction.atomic(), pytest.raises(lifecycle.Refused):
        lifecycle.follow_ticket(office.incident, n=1, changes=changes, **about)


def test_a_ticket_that_an_expired_token_held_up_is_opened_once_the_token_works_again(office: Desk) -> None:
    office.board.token, token = "another", office.board.token
    office.add()
    office.work()
    assert "TRACKER_TOKEN" in Effect.objects.get(state="failed").error
    tasks.recover()
    office.work()
    assert not office.board.tickets

    office.board.token = token
    tasks.recover()
    office.settle()
    assert len(office.board.tickets) == 1


def test_a_project_may_have_a_long_path(db: None) -> None:
    with desk("gitlab") as at:
        long = "acme/" + "/".join(["of-a-group-in-a-group"] * 11)  # GitLab allows 255 characters
        at.tracker._projects[False] = long  # type: ignore[attr-defined]
        at.board.projects = (*at.board.projects, long)
        at.add("Rotate the leaked keys")
        at.settle()
        assert at.ticket().project == long
        assert at.row().ticket.startswith(f"{long}#")
