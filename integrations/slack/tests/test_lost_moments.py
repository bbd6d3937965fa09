"""The database lost its last moments, but Slack still shows them: a button works on what it names, or on nothing.

Something else now has the number of what was lost.
"""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import AccessRequest, Followup, Incident, Summary
from integrations.slack.fake import Message
from integrations.slack.tests.conftest import LayOut
from integrations.slack.tests.door import Door
from integrations.tests.losing import lost


@pytest.fixture(scope="module")
def lay_out() -> LayOut:
    """Declare a private incident that Sam leads and Sia is in."""
    return Door.led_in_private


def now(incident: Incident) -> Incident:
    return Incident.objects.select_related("type", "policy_version", "lead").get(pk=incident.pk)


def card(door: Door, incident: Incident, action_id: str) -> Message:
    """Return the newest message in its channel with a button."""
    messages = door.slack.messages(door.house.channel(incident))
    return [one for one in messages if action_id in str([one.blocks, one.attachments])][-1]


def told(door: Door, handle: str) -> str:
    return door.slack.ephemerals(handle)[-1].text


def ask(door: Door, incident: Incident, who: str) -> None:
    door.command(who, f"access {incident.codename} because it is my service")
    lifecycle.carry(at=timezone.now())
    door.house.settle(incident)


@pytest.mark.parametrize("action_id", ["firekind:let-in", "firekind:turn-away"])
def test_nobody_is_let_in_by_the_card_of_somebody_elses_request_that_was_lost(
    door: Door, incident: Incident, action_id: str
) -> None:
    with lost():
        ask(door, incident, "eve")
        shown = card(door, incident, action_id)
    ask(door, incident, "out")
    door.press("sam", action_id, channel=door.house.channel(incident), ts=shown.ts)
    assert AccessRequest.objects.get().let_in is None
    assert not visibility.may_see(door.house.person("out"), incident)
    assert "no longer exists" in told(door, "sam")


@pytest.mark.parametrize("action_id", ["firekind:task-done", "firekind:task-reassign"])
def test_no_task_is_done_by_the_card_of_one_that_was_lost(door: Door, incident: Incident, action_id: str) -> None:
    channel = door.house.channel(incident)
    with lost():
        door.command("sam", "task revoke the first key", channel=channel)
        door.house.settle(incident)
        shown = card(door, incident, action_id)
    door.command("sam", "task call the bank", channel=channel)
    door.press("sam", action_id, channel=channel, ts=shown.ts)
    assert Followup.objects.get().is_open
    assert door.slack.modal("sam") is None
    assert "no longer exists" in told(door, "sam")


def test_a_window_that_is_open_changes_no_task_but_the_one_it_shows(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    with lost():
        door.command("sam", "task revoke the first key", channel=channel)
        door.house.settle(incident)
        door.press("sam", "firekind:task-reassign", channel=channel, ts=card(door, incident, "task-reassign").ts)
    door.command("sia", "task call the bank", channel=channel)
    door.submit("sam", owner=door.slack.person("sam").id)
    assert Followup.objects.get().owner is None


def test_only_the_summary_that_was_read_is_published(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)

    def write(text: str) -> None:
        door.command("sia", "open-up", channel=channel)
        door.submit("sia", summary=text)
        door.house.settle(incident)

    with lost():
        write("A token was public.")
        door.press("sam", "firekind:publish", channel=channel)
    write("A token of Ana Ruiz was public.")
    assert "Read it again" in str(door.submit("sam")) + door.reads(door.modal("sam"))
    assert Summary.objects.get().published_at is None


def test_no_retype_is_undone_by_the_card_of_one_that_was_lost(door: Door) -> None:
    incident, action_id = door.declared("slow"), "firekind:undo-retype"
    with lost():
        door.house.retype(incident, "isolated", by="ann")
        shown = card(door, incident, action_id)
    door.house.retype(now(incident), "major", by="ann")
    door.press("ann", action_id, channel=door.house.channel(incident), ts=shown.ts)
    assert door.slack.modal("ann") is None
    assert "no longer exists" in told(door, "ann")


def test_a_button_of_an_incident_that_was_lost_says_that_there_is_none(door: Door) -> None:
    with lost():
        gone = door.declared("Payments fail", by="ann")
        channel = door.house.channel(gone)
    for _ in range(2):
        door.declared("Checkout is slow", by="ann")
    door.press("ann", "firekind:resolve", channel=channel)
    assert "No such incident" in told(door, "ann")
    said = door.command("ann", "update half are back", channel=channel)
    assert "No incident that you can see belongs to this channel, so nothing was done" in said
