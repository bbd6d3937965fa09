"""An unarchived public channel contains only the person who unarchived it: responders are invited again, and we join.

https://slack.com/help/articles/213185307-Archive-or-delete-a-channel
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Final

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.lifecycle import ending
from incidents.models import Incident, Participant
from integrations.slack.tests.door import Door
from workflows.channels import membership, room_looks
from workflows.models import Effect, Resource
from workflows.ports import VendorError
from workflows.status import missing, progress

LATER: Final = timedelta(minutes=5)
HEARD: Final[dict[str, Callable[[Door, Incident], object]]] = {
    "an event": lambda door, incident: door.deliver(),
    "a look": lambda door, incident: room_looks.look_again(at=timezone.now()),
    "somebody's word": lambda door, incident: missing.mended(
        "gap/archived", incident, by=door.house.person("ann"), at=timezone.now()
    ),
}


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    """Return its channel, which Ann archived while people responded there."""
    name = door.house.channel(incident)
    door.slack.acts.archive("ann", name)
    door.deliver()
    lifecycle.update(incident, text="It is slow in one region", by=door.house.person("ann"), at=timezone.now())
    door.house.settle(incident)
    return name


def taking_part(incident: Incident) -> set[str]:
    here = Participant.objects.filter(incident=incident, left_at=None)
    return {str(chat_id) for chat_id in here.values_list("person__chat_id", flat=True)}


@pytest.mark.parametrize("polled", [True, False])
@pytest.mark.parametrize("heard", HEARD)
def test_whoever_responds_there_is_in_again_and_nobody_is_said_to_have_left(
    door: Door, incident: Incident, channel: str, heard: str, polled: bool
) -> None:
    before = taking_part(incident)
    assert len(before) > 1
    door.slack.acts.unarchive("ann", channel)
    if polled:
        membership.poll_public(at=timezone.now() + LATER)
    if heard != "an event":
        door.slack.take_deliveries()
    HEARD[heard](door, incident)
    door.house.settle(incident)
    door.deliver()
    incident = door.house.settle(incident)
    membership.poll_public(at=timezone.now() + LATER)
    assert taking_part(incident) == before
    assert {*door.slack.channel(channel).members} == {*before, door.slack.bot.id}
    assert "in one region" in str([(one.text, one.blocks) for one in door.slack.messages(channel)])
    assert not [text for kind, text in door.told(incident) if kind in {"left", "failed"}]
    assert not Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"]).exists()
    assert progress.of(incident).gaps == []


def test_whoever_left_before_it_was_archived_is_not_fetched_back(door: Door, incident: Incident) -> None:
    name = door.house.channel(incident)
    door.slack.acts.leave("lea", name)
    door.slack.acts.archive("ann", name)
    door.slack.acts.unarchive("ann", name)
    door.deliver()
    door.house.settle(incident)
    assert "lea" not in door.slack.members(name)
    assert "ben" in door.slack.members(name)


def test_where_people_removed_the_app_it_does_not_go_back_by_itself(door: Door, incident: Incident) -> None:
    name = door.house.channel(incident)
    door.slack.acts.kick("ann", name, "firekind")
    door.deliver()
    door.slack.acts.archive("ann", name)
    door.slack.acts.unarchive("ann", name)
    door.deliver()
    incident = door.house.settle(incident)
    assert door.slack.bot.id not in door.slack.channel(name).members
    assert [gap for gap in progress.of(incident).gaps if "/invite it again" in gap.says]


@pytest.mark.parametrize("fault", ["error", "server_error", "ratelimited"])
def test_where_it_is_not_let_in_it_says_what_to_do(door: Door, incident: Incident, channel: str, fault: str) -> None:
    how = {"error": "missing_scope"} if fault == "error" else {}
    door.slack.faults.add(fault, method="conversations.join", times=9, **how)
    door.slack.acts.unarchive("ann", channel)
    assert set(door.deliver()) == {200}
    incident = door.house.settle(incident)
    room_looks.look_again(at=timezone.now())
    incident = door.house.settle(incident)
    assert [gap for gap in progress.of(incident).gaps if "/invite it again" in gap.says]
    door.slack.acts.invite("ann", channel, ["firekind"])
    door.deliver()
    incident = door.house.settle(incident)
    assert "ben" in door.slack.members(channel)
    assert progress.of(incident).gaps == []


@pytest.mark.parametrize("looks", [0, 1, 2])
@pytest.mark.parametrize("method", ["conversations.join", "conversations.info"])
@pytest.mark.parametrize("heard", HEARD)
def test_what_kept_it_out_for_a_while_keeps_it_out_no_longer(
    door: Door, incident: Incident, channel: str, heard: str, method: str, looks: int
) -> None:
    """Such as a revoked token, which people replace: nobody removed it, so nobody has to invite it."""
    door.slack.acts.unarchive("ann", channel)
    if heard != "an event":
        door.slack.take_deliveries()
    door.slack.faults.add("error", method=method, error="token_revoked")
    with suppress(VendorError, lifecycle.Refused):
        HEARD[heard](door, incident)
    for _ in range(looks):
        incident = door.house.settle(incident)
        room_looks.look_again(at=timezone.now())
    door.slack.faults.clear()
    for _ in range(2):
        room_looks.look(door.house.chat, door.slack.channel(channel).id, at=timezone.now())
        incident = door.house.settle(incident)
        door.deliver()
    assert door.slack.bot.id in door.slack.channel(channel).members
    assert "ben" in door.slack.members(channel)
    assert progress.of(incident).gaps == []


def test_one_that_ended_brings_nobody_back_in(door: Door, incident: Incident) -> None:
    """One person reads on; the others are done, whatever roles they have and whatever is written later."""
    name = door.house.channel(incident)
    lifecycle.set_lead(incident, lead=door.house.person("ben"), by=None, at=timezone.now())
    lifecycle.bring_in(incident, people=[door.house.person("cat")], by=None, at=timezone.now())
    incident = door.house.settle(incident)
    assert {"ben", "cat"} < {*door.slack.members(name)}
    lifecycle.resolve(incident, by=None, at=timezone.now())
    lifecycle.archive_channel(incident, by=None, at=timezone.now())
    door.house.settle(incident)
    door.deliver()
    door.slack.acts.unarchive("ann", name)
    door.deliver()
    incident = door.house.settle(incident)
    lifecycle.note(incident, text="It was the cache", by=door.house.person("ann"), at=timezone.now())
    lifecycle.rename(incident, title="The cache was slow", by=door.house.person("ann"), at=timezone.now())
    door.house.settle(incident)
    assert {*door.slack.members(name)} == {"ann", "firekind"}
    assert not Resource.objects.filter(incident=incident, key="archived/1", state="there").exists()


@pytest.mark.parametrize("unarchived", [False, True])
def test_nobody_is_said_to_have_left_a_channel_that_was_archived_unheard(
    door: Door, incident: Incident, unarchived: bool
) -> None:
    """Its members are read before its state is, and an archived channel has none."""
    name, before = door.house.channel(incident), taking_part(incident)
    assert len(before) > 1
    door.slack.acts.archive("ann", name)
    door.slack.take_deliveries()
    membership.poll_public(at=timezone.now() + LATER)
    assert taking_part(incident) == before
    assert not [text for kind, text in door.told(incident) if kind == "left"]
    if unarchived:
        door.slack.acts.unarchive("ben", name)
        membership.poll_public(at=timezone.now() + 2 * LATER)
        assert taking_part(incident) == before
        assert not [text for kind, text in door.told(incident) if kind == "left"]


def archived_by_us(door: Door, incident: Incident) -> None:
    lifecycle.archive_channel(incident, by=None, at=timezone.now())
    door.house.settle(incident)


def archived_by_hand(door: Door, incident: Incident) -> None:
    door.slack.acts.archive("ann", door.house.channel(incident))


ARCHIVED: Final[dict[str, Callable[[Door, Incident], None]]] = {"us": archived_by_us, "hand": archived_by_hand}


@pytest.mark.parametrize("by", ARCHIVED)
@pytest.mark.parametrize("heard", ["an event", "a look"])
@pytest.mark.parametrize("when", ["before", "after", "long before"])
@pytest.mark.parametrize("end", [lifecycle.resolve, lifecycle.cancel])
def test_one_that_ended_and_is_reopened_invites_again_whoever_takes_part(
    door: Door, incident: Incident, by: str, heard: str, when: str, end: Callable[..., Incident]
) -> None:
    """Whenever we hear that the channel was unarchived. A person who left on their own stays out."""
    name = door.house.channel(incident)
    door.slack.acts.leave("lea", name)
    door.deliver()
    before = taking_part(incident)
    assert len(before) > 1
    end(incident, by=None, at=timezone.now())
    door.house.settle(incident)
    ARCHIVED[by](door, incident)
    door.deliver()
    door.slack.acts.unarchive("ann", name)
    if heard == "a look":
        door.slack.take_deliveries()

    def hear() -> None:
        HEARD[heard](door, incident)
        door.house.settle(incident)
        door.deliver()

    if when != "after":
        hear()
    if when == "long before":
        membership.poll_public(at=timezone.now() + LATER)
        incident = door.house.settle(incident)
        assert "ben" not in door.slack.members(name)
    if when != "after":
        assert "brings in" in ending.reach_again(incident, by=door.house.person("ann"))
    lifecycle.reopen(incident, by=door.house.person("ann"), at=timezone.now())
    door.house.settle(incident)
    hear()
    membership.poll_public(at=timezone.now() + LATER)
    door.house.settle(incident)
    membership.poll_public(at=timezone.now() + LATER + LATER)
    incident = door.house.settle(incident)
    assert taking_part(incident) == before
    assert {*door.slack.channel(name).members} == {*before, door.slack.bot.id}
    assert len([text for kind, text in door.told(incident) if kind == "left"]) == 1
    assert progress.of(incident).gaps == []


def test_of_a_channel_that_was_archived_and_unarchived_unheard_only_what_is_known_is_said(
    door: Door, incident: Incident
) -> None:
    """Slack shows the same of a channel that people removed the app from."""
    name = door.house.channel(incident)
    door.slack.acts.archive("ann", name)
    door.slack.acts.unarchive("ann", name)
    door.slack.take_deliveries()
    room_looks.look_again(at=timezone.now())
    membership.poll_public(at=timezone.now() + LATER)
    incident = door.house.settle(incident)
    (gap,) = progress.of(incident).gaps
    assert gap.says.startswith(f"Firekind is no longer in #{name}")
    assert "removed" not in gap.says
    door.slack.acts.invite("ann", name, ["firekind"])
    door.deliver()
    assert not progress.of(door.house.settle(incident)).gaps
