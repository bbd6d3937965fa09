"""Tickets that someone moved to another project: we write nothing more there, and a move is not a change."""

from __future__ import annotations

from typing import Any

import pytest

from integrations.tests.ticket_desk import Desk, desk, edit_here
from integrations.trackers.adapter.ticket_text import NEUTRAL_TITLE
from integrations.trackers.fake.board import Answered, BoardTicket
from integrations.trackers.fake.github import FakeGitHub
from integrations.trackers.tests.board import VENDORS
from workflows.effects.failing import manual_checks
from workflows.models import Effect

READ, UNREAD = "acme/elsewhere", "acme/hidden"
EDITS = ("text", "due", "done")
STAYS_THE_SAME = ("jira", "linear")  # trackers whose tickets keep their id when moved

pytestmark = pytest.mark.django_db


def moved(at: Desk, to: str, *, private: bool = False) -> BoardTicket:
    """Move the first follow-up's ticket to a project that the token can read, or to one that it cannot."""
    at.board.projects = (*at.board.projects, READ)
    return at.board.move(at.ticket(private=private), to)


def failed() -> list[Effect]:
    return list(Effect.objects.filter(state="failed"))


@pytest.mark.parametrize("kind", sorted(VENDORS))
@pytest.mark.parametrize(("type", "to"), [("major", READ), ("major", UNREAD), ("security", READ)])
def test_nothing_of_ours_follows_a_ticket_elsewhere_and_a_move_is_no_news_of_the_follow_up(
    kind: str, to: str, type: str
) -> None:
    with desk(kind, type=type) as at:
        at.add(owner=at.people[0])
        at.settle()
        there = moved(at, to, private=type == "security")
        before = (there.title, there.owner, there.due, there.state)
        at.settle()
        assert (at.row().state, at.row().owner) == ("open", at.people[0]), "it was moved, and not done"
        assert not failed()
        for n, edit in enumerate(EDITS):
            edit_here(at, edit, n)
            ours = at.ours()
            at.settle()
            assert at.ours() == ours
            assert (there.title, there.owner, there.due, there.state) == before
        is_known = to == READ or kind not in STAYS_THE_SAME  # a hidden one looks deleted
        assert {("moved" in one.error, "retry" in one.error) for one in failed()} == (
            {(True, True)} if is_known else set()
        )


@pytest.mark.parametrize("kind", sorted(VENDORS))
@pytest.mark.parametrize("to", [READ, UNREAD])
def test_one_that_is_moved_before_we_know_that_it_was_opened_is_no_news_either(
    kind: str, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer that it was opened is lost, and it is searched for where it no longer is, or is closed."""
    with desk(kind) as at:
        at.board.projects = (*at.board.projects, READ)
        serve, there = at.board.serve, list[BoardTicket]()

        def moved_at_once(*args: Any, **more: Any) -> Answered:
            answered = serve(*args, **more)
            if at.board.tickets and not there:
                there.append(at.board.move(at.board.tickets[0], to))
                raise ConnectionResetError("after it was done")
            return answered

        monkeypatch.setattr(at.board, "serve", moved_at_once)
        at.add()
        at.settle()
        assert at.row().state == "open", "it was moved, and not done"
        edit_here(at, "text", 1)
        at.settle()
        assert at.row().state == "open"
        assert there[0].title == "Rotate the keys"
        assert there[0].state == "open"
        if kind == "gitlab":  # the others say nothing of it, or treat it as the same ticket
            assert [one.state for one in at.board.tickets if one.project == there[0].project] == ["open"]
            assert ["moved" in one.error for one in failed()] == [True]


@pytest.mark.parametrize("kind", STAYS_THE_SAME)
def test_one_that_is_moved_back_is_in_step_again(kind: str) -> None:
    with desk(kind) as at:
        at.add()
        at.settle()
        project = at.ticket().project
        there = moved(at, READ)
        edit_here(at, "text", 1)
        at.settle()
        at.board.move(there, project)
        edit_here(at, "done", 2)
        at.settle()
        assert (there.title, there.state) == ("Ours 1", "done")
        at.assert_in_step()


@pytest.mark.parametrize("kind", sorted(VENDORS))
@pytest.mark.parametrize("to", [READ, UNREAD])
def test_when_it_turns_private_the_words_go_or_a_person_is_told_where_they_are(kind: str, to: str) -> None:
    with desk(kind) as at:
        at.add("Rotate the leaked keys")
        at.settle()
        there = moved(at, to)
        at.settle()
        at.turn_private()
        at.settle()
        is_known = to == READ or kind not in STAYS_THE_SAME
        if not is_known:
            return
        if kind in STAYS_THE_SAME:
            assert (there.title, there.state) == (NEUTRAL_TITLE, "dropped")
            assert not failed()
            return
        (effect,) = failed()
        assert "Empty it there" in effect.error
        assert "replace its title" in manual_checks.instruction(effect, at.incident)


def test_what_is_left_of_one_that_was_moved_is_emptied_too() -> None:
    with desk("gitlab") as at:
        at.add("Rotate the leaked keys")
        at.settle()
        left = at.ticket()
        moved(at, READ)
        at.turn_private()
        at.settle()
        assert left.title == NEUTRAL_TITLE


def test_one_that_was_moved_and_opened_again_goes_on_where_it_was() -> None:
    with desk("gitlab") as at:
        at.add()
        at.settle()
        left = at.ticket()
        moved(at, READ)
        at.board.edit(left, state="open", title="Still here")
        edit_here(at, "due", 1)
        at.settle()
        assert at.row().text == "Still here"
        at.assert_in_step()


@pytest.mark.parametrize("private", [False, True])
def test_issues_that_are_switched_off_are_not_deleted(private: bool) -> None:
    with desk("github") as at:
        board: Any = at.board
        assert isinstance(board, FakeGitHub)
        at.add("Rotate the leaked keys")
        at.settle()
        public = at.ticket()
        board.disabled = frozenset({"acme/ops"})
        edit_here(at, "done", 1)
        if private:
            at.turn_private()
        at.settle()
        (effect,) = failed()
        assert "switched off" in effect.error
        board.disabled = frozenset()
        Effect.objects.filter(pk=effect.pk).update(state="waiting")
        at.settle()
        assert public.state != "open"
        assert (public.title == NEUTRAL_TITLE) == private
