"""A channel is archived by hand and nobody tells us: what Slack refuses there is no failure, and follows later."""

from __future__ import annotations

import pytest

from integrations.slack.tests.door import Door
from integrations.slack.tests.test_thrown_out import is_said_once, meanwhile
from workflows.models import Effect
from workflows.status import progress


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
    """Also where Slack does not say at first how the channel stands."""
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
    assert [gap for gap in progress.of(incident).gaps if "before our messages could be withdrawn" in gap.says]
    door.slack.acts.unarchive("ann", name)
    door.deliver()
    door.house.settle(incident)
    assert "slow" not in str([(one.text, one.blocks) for one in door.slack.messages(name)])
