"""A page joined someone else's open incident: that is said, theirs is left alone, and people can be paged again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.pagerduty import fake
from integrations.pagerduty.fake.records import Incident as TheirIncident
from integrations.tests.duty import Duty, duty
from workflows.models import Page
from workflows.paging import note_found, paging, poll_pages


@pytest.fixture
def grouped(db: None) -> Iterator[Duty]:
    """A fallback that leads to a service which groups alerts by time."""
    with duty() as made:
        made.account.add_integration("Firekind", key=fake.ROUTING_KEY)
        made.account.service("Firekind").grouping = "time"
        made.pager.targets()
        yield made


@pytest.fixture
def theirs(grouped: Duty) -> TheirIncident:
    """What monitoring opened there before."""
    return grouped.account.acts.trigger("Firekind", "Disk is full on db-3")


@pytest.fixture
def incident(grouped: Duty, theirs: TheirIncident) -> Incident:
    """An incident whose pages were sent while the REST API was down."""
    grouped.pager.rest.is_down = True
    made = grouped.house.declare("Someone has our keys", type="ambiguous")
    paging.ask(made, target="policy/PEMAJORINCIDENTS", by=grouped.house.person("dee"), at=timezone.now())
    made = grouped.house.settle(made)
    grouped.pager.rest.is_down = False
    poll_pages.look_again(at=timezone.now() + timedelta(minutes=2))
    return grouped.house.settle(made)


def texts(incident: Incident) -> list[str]:
    """Return the timeline's texts about pages."""
    return list(incident.events.filter(kind="page").order_by("n").values_list("text", flat=True))


def test_it_is_said_which_incident_was_joined_and_that_nobody_was_paged(
    grouped: Duty, incident: Incident, theirs: TheirIncident
) -> None:
    page = Page.objects.get(incident=incident, target="policy/PEMAJORINCIDENTS")
    said = [text for text in texts(incident) if "joined an open incident of" in text]
    where = f"Firekind (#{theirs.number})"
    assert said == [note_found.JOINED.format(page=page.name, joined=where)]
    assert (page.pager_id, page.is_open) == ("", True)
    assert paging.said(page) == f"joined an open incident of {where}"
    assert any("joined an open incident" in text for text in grouped.house.slack.texts(grouped.house.channel(incident)))
    for minutes in (4, 6):
        poll_pages.look_again(at=timezone.now() + timedelta(minutes=minutes))
    assert len([text for text in texts(incident) if "joined an open incident of" in text]) == 1


def test_theirs_keeps_its_name_and_goes_on_when_ours_turns_private_and_ends(
    grouped: Duty, incident: Incident, theirs: TheirIncident
) -> None:
    moved = grouped.house.retype(incident, "security")
    lifecycle.resolve(moved, text="", by=grouped.house.person("dee"), at=timezone.now(), source="web")
    grouped.house.settle(moved)
    assert (theirs.title, theirs.is_open) == ("Disk is full on db-3", True)
    ours = {page.dedup_key for page in Page.objects.filter(incident=incident)}
    assert {alert.key in ours: alert.status for alert in theirs.alerts} == {False: "triggered", True: "resolved"}


def test_who_was_not_paged_can_be_paged_again(grouped: Duty, incident: Incident) -> None:
    rang = grouped.times_rung("max")
    paging.ask(incident, target="policy/PEMAJORINCIDENTS", by=grouped.house.person("dee"), at=timezone.now())
    grouped.house.settle(incident)
    assert grouped.times_rung("max") == rang + 1
