"""Messages have buttons for what they ask for: filling a role, and resolving an incident whose page was resolved."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.tests.conftest import LayOut
from integrations.slack.tests.door import Door
from workflows.usergroups import workspace_cache

GAP = "firekind:fill"


@pytest.fixture(scope="module")
def lay_out() -> LayOut:
    """Declare a security incident while no one from platform leadership is available."""
    return declared_alone


def declared_alone(door: Door) -> Incident:
    guest = door.slack.add_person("guy", is_restricted=True)
    door.slack.group("platform-leadership").members[:] = [guest.id]
    workspace_cache.refresh(everybody=True)
    return door.declared("a token leaked", type="security", by="sam")


@pytest.fixture
def secret(incident: Incident) -> Incident:
    """The security incident."""
    return incident


def test_whoever_is_missing_is_chosen_where_it_is_said(door: Door, secret: Incident) -> None:
    channel = door.house.channel(secret)
    door.press("sam", GAP, channel=channel)
    assert "Platform leadership" in door.reads(door.modal("sam"))
    door.submit("sam", person="pat")
    assert door.slack.modal("sam") is None
    secret = door.house.settle(secret)
    assert secret.role_holder_id("Platform leadership") == door.house.person("pat").pk
    assert secret.events.latest("n").kind in {"gap_closed", "did", "role"}
    assert secret.events.filter(kind="gap_closed").exists()


def test_a_role_that_somebody_has_by_now_is_not_given_twice(door: Door, secret: Incident) -> None:
    channel = door.house.channel(secret)
    for user in ("sam", "sia"):
        door.press(user, GAP, channel=channel)
    door.submit("sam", person="pat")
    assert "Pat is already Platform leadership" in str(door.submit("sia", person="pia"))
    secret.refresh_from_db()
    assert secret.role_holder_id("Platform leadership") == door.house.person("pat").pk


def test_a_page_that_was_resolved_there_asks_for_the_end_here(door: Door) -> None:
    incident = door.declared()
    text = "Eve resolved the page to Major incidents. Is the incident over?"
    data = {"ask": "resolve", "url": "https://pager.example/incidents/P1"}
    lifecycle.remark(incident, "page", by=None, at=timezone.now(), text=text, data=data)
    door.house.settle(incident)
    channel = door.house.channel(incident)
    posted = door.slack.messages(channel)[-1]
    assert "https://pager.example/incidents/P1" in str([posted.blocks, posted.attachments])
    door.press("ann", "firekind:resolve", channel=channel)
    door.submit("ann", text="it was the cache")
    incident.refresh_from_db()
    assert incident.status == "resolved"
