"""The channel of an incident is deleted in Slack: that is said once, nothing is retried, a new one is offered."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.tests.door import Door
from integrations.tests.test_by_hand import direct
from workflows.channels import membership, rooms
from workflows.models import Effect
from workflows.reconcile import reconcile, retyping, sweep
from workflows.status import missing, progress

TYPES = ["ambiguous", "security", "major"]
NOTICED = [(type, how) for type in TYPES for how in ("event", "call")] + [("security", "poll")]


def deleted(door: Door, incident: Incident, *, noticed: str = "event") -> str:
    """Delete the incident's channel, let us notice, and return its id."""
    owner = door.slack.person("ann")
    owner.is_owner = True
    channel_id = door.slack.channel(door.house.channel(incident)).id
    door.slack.acts.delete_channel("ann", channel_id)
    if noticed == "event":
        door.deliver()
    door.slack.take_deliveries()
    if noticed == "poll":
        membership.poll(at=timezone.now())
    if noticed == "call":
        lifecycle.note(incident, text="we look", by=None, at=timezone.now())
        lifecycle.update(incident, text="still looking", by=None, at=timezone.now())
    return channel_id


def is_at_rest(door: Door, incident: Incident) -> None:
    """Check that nothing waits, fails or is retried, and that another look makes no calls."""
    assert sweep.unsettled() == []
    assert not Effect.objects.filter(incident=incident, state__in=["waiting", "running", "failed"]).exists()
    door.slack.calls.clear()
    reconcile.reconcile(incident.pk, at=timezone.now())
    door.house.settle(incident)
    assert not list(door.slack.calls)


@pytest.mark.parametrize(("type", "noticed"), NOTICED)
def test_a_deleted_channel_is_said_once_and_nothing_is_tried_in_it_any_more(
    door: Door, type: str, noticed: str
) -> None:
    incident = door.declared(type=type)
    lifecycle.set_lead(incident, lead=door.house.person("ann"), by=None, at=timezone.now())
    incident = door.house.settle(incident)
    channel_id = deleted(door, incident, noticed=noticed)
    incident = door.house.settle(incident)
    is_at_rest(door, incident)
    said = [text for kind, text in door.told(incident) if "deleted" in text]
    assert len(said) == 1, said
    assert len([gap for gap in progress.of(incident).gaps if "deleted" in gap.says]) == 1
    assert not [text for kind, text in door.told(incident) if kind == "failed"]
    assert progress.of(incident).channel is None, "no link leads to it"
    assert channel_id not in door.command("ann", "list")
    heard = direct(door.house, "ann")
    assert heard.count("Create a new channel;") == 1, "whoever leads is told where they can be"
    assert incident.title not in heard, "a lock screen shows it"
    for _ in range(3):
        incident = door.house.settle(incident)
        membership.poll(at=timezone.now())
    lifecycle.update(incident, text="and on", by=None, at=timezone.now())
    incident = door.house.settle(incident)
    assert len([text for kind, text in door.told(incident) if "deleted" in text]) == 1
    announced = [m for m in door.slack.messages("incidents") if incident.codename in json.dumps(m.blocks)]
    assert channel_id not in str(announced)
    is_at_rest(door, incident)


@pytest.mark.parametrize("type", TYPES)
def test_another_channel_is_made_once_somebody_asks_for_it(door: Door, type: str) -> None:
    incident = door.declared(type=type)
    inside = door.slack.members(door.house.channel(incident))
    old = deleted(door, incident)
    incident = door.house.settle(incident)
    rooms.open_another(incident, by=door.house.person("ann"), at=timezone.now())
    incident = door.house.settle(incident)
    new = door.slack.channel(door.house.channel(incident))
    assert new.id != old
    assert new.is_private == incident.private
    assert door.slack.members(new.id) == inside
    assert not progress.of(incident).gaps
    with pytest.raises(lifecycle.Refused):
        rooms.open_another(incident, by=door.house.person("ann"), at=timezone.now())
    is_at_rest(door, incident)


@pytest.mark.parametrize("type", TYPES)
def test_the_page_and_the_direct_message_have_a_button_for_it(door: Door, type: str, client: Client) -> None:
    incident = door.declared(type=type)
    ann = door.house.person("ann")
    ann.user = User.objects.create_user("ann")
    ann.save()
    client.force_login(ann.user)
    lifecycle.set_lead(incident, lead=ann, by=None, at=timezone.now())
    deleted(door, incident)
    incident = door.house.settle(incident)
    address = f"{incident.get_absolute_url()}new-channel"
    assert address in client.get(incident.get_absolute_url()).content.decode()
    (im,) = [one for one in door.slack.workspace.channels.values() if one.kind == "im" and ann.chat_id in one.members]
    door.press("ann", "firekind:new-channel", channel=im.id)
    assert door.slack.ephemerals("ann")[-1].text == "A new channel is being created."
    door.press("ann", "firekind:new-channel", channel=im.id)
    assert "has a channel" in door.slack.ephemerals("ann")[-1].text
    incident = door.house.settle(incident)
    assert incident.room == 2
    assert address not in client.get(incident.get_absolute_url()).content.decode()
    deleted(door, incident)
    incident = door.house.settle(incident)
    client.post(address)
    incident = door.house.settle(incident)
    assert door.slack.channel(door.house.channel(incident)).is_private == incident.private
    assert incident.room == 3
    is_at_rest(door, incident)


@pytest.mark.parametrize("types", [("ambiguous", "major"), ("ambiguous", "security"), ("security", "major")])
def test_the_next_retype_makes_another_and_says_so_before(door: Door, types: tuple[str, str]) -> None:
    before, after = types
    incident = door.declared(type=before)
    deleted(door, incident)
    incident = door.house.settle(incident)
    plan = retyping.preview(incident, to=door.house.type(after), by=door.house.person("ann"))
    kind = "private channel" if "security" in types else "channel"
    assert f"~ move the conversation to a new {kind}" in map(str, plan.lines)
    incident = door.house.retype(incident, after, by="ann")
    new = door.slack.channel(door.house.channel(incident))
    assert new.is_private == ("security" in types)
    is_at_rest(door, incident)


@pytest.mark.parametrize("type", TYPES)
def test_a_channel_that_comes_into_sight_again_is_used_again(door: Door, type: str) -> None:
    incident = door.declared(type=type)
    channel = door.slack.channel(door.house.channel(incident))
    channel.kind = "private"
    channel.members.remove(door.slack.bot.id)  # the event was lost, and Slack says there is no such channel
    lifecycle.update(incident, text="still looking", by=None, at=timezone.now())
    incident = door.house.settle(incident)
    (gap,) = progress.of(incident).gaps
    assert "or Firekind is no longer in it" in gap.says
    with pytest.raises(lifecycle.Refused):
        missing.mended(gap.key, incident, by=door.house.person("ann"), at=timezone.now())
    door.slack.acts.invite("ann", channel.id, ["firekind"])
    if type == "security":
        door.deliver()  # the event that the app was invited is enough
    else:
        channel.kind = "public"
        missing.mended(gap.key, incident, by=door.house.person("ann"), at=timezone.now())
    incident = door.house.settle(incident)
    assert not progress.of(incident).gaps
    assert "still looking" in str(door.slack.messages(channel.id))


@pytest.mark.parametrize("types", [("ambiguous", "security")])
def test_an_old_channel_that_is_deleted_is_noted_and_leaves_nothing_to_do(door: Door, types: tuple[str, str]) -> None:
    incident = door.declared(type=types[0])
    old = door.slack.channel(door.house.channel(incident)).id
    door.slack.acts.say("ben", old, "basket sends card numbers")
    incident = door.house.retype(incident, types[1], by="ann")
    door.slack.person("ann").is_owner = True
    door.slack.acts.delete_channel("ann", old)
    door.deliver()
    incident = door.house.settle(incident)
    assert len([text for _, text in door.told(incident) if "deleted" in text]) == 1
    assert not progress.of(incident).gaps
    assert not progress.of(incident).left, "what others posted there is gone, too"
    assert progress.of(incident).channel is not None
    is_at_rest(door, incident)


@pytest.mark.parametrize("type", TYPES)
def test_the_channel_of_an_ended_incident_is_noted_and_no_other_is_offered(door: Door, type: str) -> None:
    incident = door.declared(type=type)
    lifecycle.resolve(incident, by=None, at=timezone.now())
    incident = door.house.settle(incident)
    deleted(door, incident)
    incident = door.house.settle(incident)
    assert len([text for _, text in door.told(incident) if "deleted" in text]) == 1
    assert not progress.of(incident).gaps
    is_at_rest(door, incident)
