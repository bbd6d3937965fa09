"""A tracker refuses part of a ticket: the rest is still written, and people are told its reason."""

from __future__ import annotations

from datetime import timedelta
from itertools import combinations
from typing import Any

import pytest

from integrations.tests.ticket_desk import Desk, desk, edit_here
from integrations.trackers.adapter.ticket_text import NEUTRAL_TITLE
from integrations.trackers.fake.board import Answered, Asked
from integrations.trackers.fake.jira import FakeJira
from workflows.models import Effect

SPARE = ("assignee", "duedate")  # a ticket without these is still a ticket

pytestmark = pytest.mark.django_db


def some(*names: str) -> list[frozenset[str]]:
    """Return every non-empty choice of these."""
    return [frozenset(chosen) for n in range(1, len(names) + 1) for chosen in combinations(names, n)]


def off_screen(at: Desk, fields: frozenset[str]) -> None:
    assert isinstance(at.board, FakeJira)
    at.board.off_screen = fields


@pytest.mark.parametrize("fields", some(*SPARE), ids=sorted)
@pytest.mark.parametrize("lost", [False, True])
def test_fields_that_a_project_does_not_have_are_left_out_and_kept_here(fields: frozenset[str], lost: bool) -> None:
    with desk("jira") as at:
        off_screen(at, fields)
        day = at.clock.date() + timedelta(days=2)
        at.add(owner=at.people[0], due_on=day)
        if lost:
            at.board.faults.add("lost", times=1)
        at.settle()
        for n, edit in enumerate(("due", "own", "text", "done")):
            edit_here(at, edit, n)
            ours = at.ours()
            at.settle()
            assert at.ours() == ours
        (ticket,) = at.board.tickets
        assert (ticket.title, ticket.state) == ("Ours 2", "done")
        assert (ticket.owner == "", ticket.due == "") == ("assignee" in fields, "duedate" in fields)
        assert not Effect.objects.filter(state="failed").exists()


@pytest.mark.parametrize("fields", some(*SPARE, "labels"), ids=sorted)
def test_our_words_leave_a_ticket_whatever_else_cannot_be_set(fields: frozenset[str]) -> None:
    with desk("jira") as at:
        at.add("Rotate the leaked keys", owner=at.people[0])
        at.settle()
        public = at.ticket()
        off_screen(at, fields)
        at.tracker._projects[True] = ""  # type: ignore[attr-defined]  # nothing goes on in a private one
        at.turn_private()
        at.settle()
        assert (public.title, public.state) == (NEUTRAL_TITLE, "dropped")
        assert not Effect.objects.filter(state="failed").exists()


GITHUB = {"message": "Validation Failed", "errors": [{"resource": "Issue", "field": "labels", "code": "invalid"}]}
ARCHIVED, DISABLED = "Repository was archived so is read-only.", "Issues are disabled for this repo"
LINEAR = {"message": "Argument Validation Error", "extensions": {"userPresentableMessage": "Team is full."}}
REASONS: list[tuple[str, int, Any, tuple[str, ...]]] = [
    ("github", 422, GITHUB, ("Validation Failed", "labels")),
    ("github", 403, {"message": ARCHIVED}, (ARCHIVED,)),
    ("github", 410, {"message": DISABLED}, (DISABLED,)),
    ("gitlab", 400, {"message": {"title": ["is too long (maximum is 255 characters)"]}}, ("title", "is too long")),
    ("gitlab", 403, {"message": "403 Forbidden"}, ("403 Forbidden", "TRACKER_TOKEN")),
    ("jira", 400, {"errorMessages": [], "errors": {"customfield_1": "Team is required."}}, ("Team is required.",)),
    ("linear", 200, {"errors": [LINEAR]}, ("Team is full.",)),
]


@pytest.mark.parametrize(("kind", "status", "body", "words"), REASONS)
def test_the_reason_of_a_refusal_reaches_people(
    kind: str, status: int, body: Any, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with desk(kind) as at:
        answer = at.board.answer

        def refusing(asked: Asked) -> Answered:
            return Answered(status, body) if "Rotate" in str(asked.body) else answer(asked)

        monkeypatch.setattr(at.board, "answer", refusing)
        at.add()
        at.work()
        (effect,) = Effect.objects.filter(state="failed")
        assert all(one in effect.error for one in words), effect.error
