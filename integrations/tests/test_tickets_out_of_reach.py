"""Tickets that are not ours to change: in a project that is no longer configured, or lost by the database."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from incidents import lifecycle
from incidents.models import IncidentType
from integrations.tests.losing import lost
from integrations.tests.ticket_desk import Desk
from workflows.models import Effect
from workflows.reconcile import retyping
from workflows.tickets import ticket_effects


def test_a_ticket_in_a_project_that_is_not_set_any_more_is_said_to_stay(office: Desk) -> None:
    office.add("Rotate the leaked keys")
    office.settle()
    office.tracker._projects[False] = "acme/elsewhere"  # type: ignore[attr-defined]
    plan = retyping.preview(office.incident, to=IncidentType.objects.get(slug="security"), by=office.people[0])
    assert not [line.text for line in plan.lines if line.text.startswith("withdraw the ticket")]
    (said,) = [
        note.text for note in plan.notes if "ticket" in note.text and "title" in note.text and "by hand" in note.text
    ]
    assert office.ticket().project in said
    office.turn_private()
    office.settle()
    assert not Effect.objects.filter(state="failed").exists()


@pytest.mark.parametrize("commands", [(), ("restored",)], ids=["nobody-says-so", "restored"])
def test_a_ticket_of_what_the_database_lost_is_not_taken_for_ours(office: Desk, commands: tuple[str, ...]) -> None:
    """Lost numbers are issued again, and the answer that would show it is lost."""
    about, by, first = office.incident.type, office.people[0], office.incident
    with lost():
        office.incident = lifecycle.declare("Payments fail", type=about, by=by, at=office.now())
        office.add("Tell the bank")
        office.settle()
        office.incident = first
    for one in commands:
        call_command(one)
    office.incident = lifecycle.declare("Checkout is slow", type=about, by=by, at=office.now())
    office.add("Rotate the keys")
    office.board.faults.add("down", times=1)
    office.settle()
    assert office.ticket().title == "Rotate the keys"
    assert {one.title for one in office.board.tickets} == {"Tell the bank", "Rotate the keys"}


def test_a_ticket_of_a_followup_that_was_lost_is_not_that_of_the_one_with_its_number(office: Desk) -> None:
    with lost():
        office.add("Tell the bank")
        office.settle()
    office.add("Rotate the keys")
    office.board.faults.add("down", times=1)
    office.settle()
    assert office.ticket().title == "Rotate the keys"
    assert {one.title for one in office.board.tickets} == {"Tell the bank", "Rotate the keys"}


def test_one_that_an_older_process_opened_in_an_upgrade_is_found(office: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    office.board.faults.add("lost", times=99)
    office.add("Rotate the leaked keys")
    with monkeypatch.context() as older:
        older.setattr(ticket_effects, "mark", ticket_effects._older_mark)
        office.work()
    office.board.faults.clear()
    office.settle()
    assert len(office.board.tickets) == 1
