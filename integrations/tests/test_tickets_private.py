"""Tickets of something redacted or private: none of its words stays where others can read it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.conf import LazySettings

from incidents import lifecycle
from incidents.followups import followup_lists
from incidents.models import IncidentType
from integrations.tests.ticket_desk import Desk, desk
from integrations.trackers.tests.board import TrackerSetup
from workflows.reconcile import retyping


def test_redacted_words_leave_the_ticket(office: Desk) -> None:
    office.add("Ana Ruiz lost the keys")
    office.settle()
    lifecycle.redact(office.incident, n=office.row().entry_n, by=office.people[0], at=office.now())
    office.settle()
    assert "Ruiz" not in office.board.tickets[0].title
    assert "Ruiz" not in str(list(office.incident.resources.values()))


def test_turning_private_withdraws_it_and_the_plan_says_so(office: Desk) -> None:
    office.add("Rotate the leaked keys", owner=office.people[0])
    office.settle()
    public = office.ticket()
    plan = retyping.preview(office.incident, to=IncidentType.objects.get(slug="security"), by=office.people[0])
    assert "withdraw the ticket of follow-up 1 and close it" in {line.text for line in plan.lines}
    assert any("GitHub Issues" in note.text for note in plan.notes)
    office.turn_private()
    office.settle()
    assert "keys" not in public.title + public.body
    assert (public.state, public.owner) == ("dropped", "")
    assert office.ticket(private=True).project == "acme/private"
    office.board.edit(public, title="Somebody goes on here", state="open")
    office.settle()
    assert office.row().text == "Rotate the leaked keys"
    assert office.row().ticket == "acme/private#1"


def test_without_a_private_project_nothing_of_a_private_incident_goes_out(db: None) -> None:
    with desk(type="security") as at:
        at.tracker._projects[True] = ""  # type: ignore[attr-defined]
        at.add()
        at.settle()
        assert not at.board.tickets
        assert not at.board.writes()


@pytest.mark.parametrize("private_project", ["", "acme/private"])
def test_lists_say_of_what_is_private_that_it_stays_here(
    office: Desk, private_project: str, settings: LazySettings
) -> None:
    tracker: Any = TrackerSetup("github", "acme/ops", private_project)
    settings.FIREKIND = replace(settings.FIREKIND, tracker=tracker)
    assert not followup_lists.stays_here(office.incident)
    office.incident.private = True
    assert followup_lists.stays_here(office.incident) == (not private_project)
