"""A channel is archived by hand without an event: what Slack refuses there is not a failure, and follows later."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle
from integrations.slack.tests.door import Door
from integrations.slack.tests.test_thrown_out import is_said_once, meanwhile
from workflows.channels import room_looks
from workflows.models import Effect, Limit, Resource
from workflows.performing import perform
from workflows.reconcile import reconcile, sweep
from workflows.status import missing, progress


@pytest.mark.parametrize("what", ["update", "lead", "impact", "retype", "resolve"])
@pytest.mark.parametrize(
    ("type", "look"),
    [
        *(("ambiguous", ""), ("security", "")),
        *(("ambiguous", "ratelimited"), ("security", "server_error"), ("ambiguous", "drop")),
    ],
)
def test_what_an_archived_channel_refuses_is_no_failure_and_follows_once_it_is_back(
    door: Door, type: str, what: str, look: str
) -> None:
    """Even if Slack does not say at first what state the channel is in."""
    incident = door.declared(type=type)
    name = door.house.channel(incident)
    door.slack.acts.archive("ann", name)
    unheard = door.slack.take_deliveries()
    if look:
        door.slack.faults.add(look, method="conversations.info", times=1)
    meanwhile(door, incident, what)
    incident = door.house.settle(incident)
    owed = Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"])
    assert not list(owed.values_list("key", "state", "error"))
    assert not [text for kind, text in door.told(incident) if kind == "failed"]
    if what != "resolve":
        assert [gap for gap in progress.of(incident).gaps if "is archived" in gap.says]
    for delivery in unheard:
        door.post(delivery)
    incident = door.house.settle(incident)
    assert not owed.exists()

    door.slack.acts.unarchive("ann", name)
    door.deliver()
    incident = door.house.settle(incident)
    assert not owed.exists()
    is_said_once(door, incident, name)
    told = [one.text for one in door.slack.messages(name)]
    assert len(told) == len(set(told)), told
    assert Effect.objects.filter(incident=incident, thing__startswith="told/", state="done").exists()


def test_the_withdrawal_that_an_archived_channel_refuses_is_named_and_follows(door: Door) -> None:
    incident = door.declared()
    name = door.house.channel(incident)
    door.slack.acts.archive("ann", name)
    door.slack.take_deliveries()
    incident = door.house.retype(incident, "security", by="ann")
    assert not Effect.objects.filter(incident=incident, state__in=["waiting", "running", "failed"]).exists()
    assert [gap for gap in progress.of(incident).gaps if "that our messages there are withdrawn" in gap.says]
    door.slack.acts.unarchive("ann", name)
    door.deliver()
    door.house.settle(incident)
    assert words(door, name) == ""


@pytest.mark.parametrize("by", ["look", "hand"])
@pytest.mark.parametrize("type", ["security", "ambiguous"])
def test_that_it_was_unarchived_need_not_be_heard(door: Door, type: str, by: str) -> None:
    """A former room is looked at as well as the current one, both regularly and on request."""
    incident = door.declared()
    name = door.house.channel(incident)
    door.slack.acts.archive("ann", name)
    door.deliver()
    if type == "security":
        door.house.retype(incident, type, by="ann")
    else:
        lifecycle.update(incident, text="It is slow in one region", by=door.house.person("ann"), at=timezone.now())
    incident = door.house.settle(incident)
    (key,) = Resource.objects.filter(kind="gap", key__regex="archived|kept").values_list("key", flat=True)
    assert room_looks.look_again(at=timezone.now()) == 0
    door.slack.acts.unarchive("ann", name)
    door.slack.take_deliveries()
    if by == "hand":
        assert missing.is_mendable(key)
        missing.mended(key, incident, by=door.house.person("ann"), at=timezone.now())
    else:
        assert room_looks.look_again(at=timezone.now()) == 1
        assert room_looks.look_again(at=timezone.now()) == 0
    door.house.settle(incident)
    assert not Resource.objects.filter(kind="gap", key=key).exists()
    if type == "security":
        assert words(door, name) == ""
        assert [text for _, text in door.told(incident) if "unarchived" in text or by == "hand"]
    else:
        assert "in one region" in str([(one.text, one.blocks) for one in door.slack.messages(name)])


@pytest.mark.parametrize("fault", ["ratelimited", "server_error", "drop"])
def test_a_look_that_fails_is_taken_again(door: Door, fault: str) -> None:
    incident = door.declared()
    name = door.house.channel(incident)
    door.slack.acts.archive("ann", name)
    door.deliver()
    door.house.retype(incident, "security", by="ann")
    door.slack.acts.unarchive("ann", name)
    door.slack.take_deliveries()
    door.slack.faults.add(fault, method="conversations.info", times=1)
    assert room_looks.look_again(at=timezone.now()) == 0
    if fault == "ratelimited":
        assert room_looks.look_again(at=timezone.now()) == 0, "Slack said when to ask again"
        Limit.objects.all().delete()
    assert room_looks.look_again(at=timezone.now()) == 1


def words(door: Door, name: str) -> str:
    """Return what everyone can read in that channel about the incident."""
    said = str([(one.text, one.blocks) for one in door.slack.messages(name)])
    return said if "slow" in said else ""


@pytest.mark.parametrize("private", [False, True])
def test_what_may_have_been_said_in_an_archived_channel_is_shown_once(door: Door, private: bool) -> None:
    incident = door.declared()
    name = door.house.channel(incident)
    lifecycle.update(incident, text="It is slow in one region", by=door.house.person("ann"), at=timezone.now())
    reconcile.reconcile(incident.pk, at=timezone.now())
    door.slack.faults.add("drop", method="chat.postMessage", times=99)
    perform.drain(incident.pk, side_by_side=False)
    door.slack.faults.clear()
    door.slack.acts.archive("ann", name)
    door.deliver()
    if private:
        incident = door.house.retype(incident, "security", by="ann")
    incident = door.house.settle(incident)
    shown = progress.of(incident)
    assert not [one.sentence for one in shown.effects if one.state == "failed"]
    (gap,) = shown.gaps
    assert "Unarchive it in Slack" in gap.says

    door.slack.acts.unarchive("ann", name)
    door.deliver()
    room_looks.look_again(at=timezone.now())
    incident = door.house.settle(incident)
    assert not progress.of(incident).gaps
    assert not Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"]).exists()
    if private:
        assert words(door, name) == ""
    else:
        assert "in one region" in str([(one.text, one.blocks) for one in door.slack.messages(name)])


def test_a_report_of_a_failure_that_is_over_is_not_looked_for_without_end(door: Door) -> None:
    """It may stand in a channel that is archived, where no one can look, and is no longer needed."""
    incident = door.declared()
    name = door.house.channel(incident)
    door.slack.faults.add("error", method="conversations.setTopic", error="restricted_action", times=99)
    door.slack.faults.add("drop", method="chat.postMessage", times=99)
    door.house.confirm(incident, "internal")
    for _ in range(3):
        reconcile.reconcile(incident.pk, at=timezone.now())
        perform.drain(incident.pk, side_by_side=False)
    door.slack.faults.clear()
    door.slack.acts.archive("ann", name)
    door.deliver()
    incident = door.house.settle(incident)
    report = Effect.objects.get(incident=incident, thing=f"told/{incident.events.get(kind='failed').n}")
    assert (report.state, report.unsure) == ("failed", True)
    assert not door.house.owed(incident)
    assert sweep.unplanned(at=timezone.now()) == []
