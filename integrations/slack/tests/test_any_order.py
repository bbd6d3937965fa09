"""Slack delivers events late, twice and in any order: in the end we know the real state, and report what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count, permutations, product
from typing import Any

import pytest
from django.utils import timezone

from incidents import lifecycle, timeline, visibility
from incidents.models import Incident, Participant
from integrations.slack.fake import PendingDelivery
from integrations.slack.fake.server import shapes
from integrations.slack.tests.door import Door
from workflows.channels import membership
from workflows.models import Resource
from workflows.planning.observed import GONE, THERE
from workflows.reconcile import sweep

Act = Callable[[Door, str], object]
SAID = "customers call"


def by(act: str, who: str, *more: Any, **how: Any) -> Act:
    """Return an act by a person on the channel."""
    return lambda door, channel: getattr(door.slack.acts, act)(who, channel, *more, **how)


def message(act: str, who: str, *more: Any) -> Act:
    """Return an act by a person on the message that was written there."""

    def done(door: Door, channel: str) -> None:
        (ts,) = [one.ts for one in door.slack.messages(channel) if one.user == door.slack.person("ben").id and one.text]
        getattr(door.slack.acts, act)(who, channel, ts, *more)

    return done


def person(**traits: Any) -> Act:
    """Return an act that changes a person's profile."""

    def done(door: Door, _: str) -> None:
        one = door.slack.person("eve")
        for name, value in traits.items():
            setattr(one, name, value)
        door.slack.emit("user_change", user=shapes.person(one))

    return done


PIN, UNPIN = message("react", "ann", "pushpin"), message("unreact", "ann", "pushpin")
STORIES: dict[str, list[Act]] = {
    "archived and back": [by("archive", "ann"), by("unarchive", "ben")],
    "archived, back, and archived": [by("archive", "ann"), by("unarchive", "ben"), by("archive", "ben")],
    "renamed twice": [by("rename", "ann", "inc-one"), by("rename", "ben", "inc-two")],
    "private and public": [by("convert", "ann", is_private=True), by("convert", "ben", is_private=False)],
    "public and private": [
        *(by("convert", "ann", is_private=True), by("convert", "ben", is_private=False)),
        by("convert", "ann", is_private=True),
    ],
    "pinned and not": [PIN, UNPIN],
    "pinned, not, and pinned": [PIN, UNPIN, PIN],
    "edited twice": [PIN, message("edit", "ben", f"{SAID} again"), message("edit", "ben", f"{SAID} no more")],
    "edited and deleted": [PIN, message("edit", "ben", f"{SAID} again"), message("delete", "ben")],
    "left and back": [by("leave", "lea"), by("invite", "ann", ["lea"])],
    "thrown out and back": [by("kick", "ann", "lea"), by("join", "lea")],
    "came, left and came": [by("join", "eve"), by("leave", "eve"), by("join", "eve")],
    "came and left": [by("join", "eve"), by("leave", "eve")],
    "renamed person": [person(name="Eve One"), person(name="Eve Two")],
    "gone and back": [person(deleted=True), person(deleted=False)],
    "a guest": [person(is_restricted=False, name="Eve O"), person(is_restricted=True)],
}
ORDERS = [
    pytest.param(name, order, id=f"{name}: {''.join(map(str, order))}")
    for name, acts in STORIES.items()
    for order in permutations(range(len(acts)))
    if order[-1] != len(acts) - 1  # the last one delivered is not the newest
]


@pytest.mark.parametrize(("name", "order"), ORDERS)
def test_what_is_told_in_any_order_and_twice_is_known_as_it_is(
    door: Door, incident: Incident, name: str, order: tuple[int, ...]
) -> None:
    channel_id = door.slack.channel(door.house.channel(incident)).id
    door.slack.acts.say("ben", channel_id, SAID)
    door.slack.take_deliveries()
    told = [list(news(door, act, channel_id)) for act in STORIES[name]]
    for n in order:
        for delivery, _ in product(told[n], range(2)):
            assert door.post(delivery).status_code == 200
        if incident.pk in sweep.unplanned(at=door.house.now()):
            door.house.settle(incident)
    incident = door.house.settle(incident)
    is_known(door, incident, channel_id)
    is_told_once(incident, len(told) if name.startswith(("archived", "private", "public")) else 0)
    assert sweep.unsettled() == []
    door.slack.calls.clear()
    door.house.settle(incident)
    assert not door.slack.calls.writes()


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=lambda order: "".join(map(str, order)))
def test_what_was_done_before_we_archived_it_brings_nothing_back(
    door: Door, incident: Incident, order: tuple[int, ...]
) -> None:
    channel_id = door.slack.channel(door.house.channel(incident)).id
    told = [list(news(door, act, channel_id)) for act in STORIES["archived and back"]]
    told[-1] += news(door, by("invite", "ben", ["firekind"]), channel_id)
    lifecycle.resolve(incident, by=None, at=timezone.now())
    lifecycle.archive_channel(incident, by=None, at=timezone.now())
    incident = door.house.settle(incident)
    told.append([one for one in door.slack.take_deliveries() if one.type == "channel_archive"])
    assert told[-1]
    for n in order:
        for delivery in told[n]:
            door.post(delivery)
    is_known(door, door.house.settle(incident), channel_id)


@pytest.mark.parametrize("first", ["archive", "rename", "convert"])
def test_a_channel_that_was_deleted_stays_so_whatever_is_told_after(door: Door, incident: Incident, first: str) -> None:
    channel_id = door.slack.channel(door.house.channel(incident)).id
    door.slack.person("ann").is_owner = True
    more: dict[str, Any] = {"rename": ["inc-one"]}
    how: dict[str, Any] = {"convert": {"is_private": True}}
    before = list(news(door, by(first, "ann", *more.get(first, ()), **how.get(first, {})), channel_id))
    for delivery in [*news(door, by("delete_channel", "ann"), channel_id), *before]:
        door.post(delivery)
    door.house.settle(incident)
    assert Resource.objects.get(incident=incident, external_id=channel_id).state == GONE
    assert not Resource.objects.filter(incident=incident, key="archived/1").exists()
    assert sweep.unsettled() == []


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=lambda order: "".join(map(str, order)))
@pytest.mark.parametrize("looked_at", ["each time", "at last"])
def test_who_came_into_a_private_channel_while_it_was_open_is_let_into_nothing(
    door: Door, order: tuple[int, ...], looked_at: str
) -> None:
    """The channel may be private again before the event that it was opened arrives."""
    incident, minutes = door.led_in_private(), count(1)
    channel_id = door.slack.channel(door.house.channel(incident)).id
    door.slack.take_deliveries()
    acts = [by("convert", "sam", is_private=False), by("join", "out"), by("convert", "sam", is_private=True)]
    told = [list(news(door, act, channel_id)) for act in acts]
    for n in order:
        for delivery in told[n]:
            door.post(delivery)
        if looked_at == "each time":
            membership.poll(at=timezone.now() + timedelta(minutes=next(minutes)))
            door.house.settle(incident)
    for _ in range(2):
        membership.poll(at=timezone.now() + timedelta(minutes=next(minutes)))
        incident = door.house.settle(incident)
    assert not visibility.may_see(door.house.person("out"), incident)
    assert visibility.may_see(door.house.person("sia"), incident)
    assert "out" not in door.slack.members(door.house.channel(incident))
    assert incident.room == 2


LATE = {
    "channel": by("archive", "ann"),
    "joined": by("join", "eve"),
    "left": by("leave", "lea"),
    "edited": message("edit", "ben", f"{SAID} again"),
}


@pytest.mark.parametrize(("kind", "late_s"), [*((kind, 3_600) for kind in LATE), ("channel", -60)])
def test_what_is_told_late_stands_on_the_timeline_at_the_moment_it_happened(
    door: Door, incident: Incident, kind: str, late_s: int
) -> None:
    """But never in the future, where Slack's clock is ahead of ours."""
    channel_id = door.slack.channel(door.house.channel(incident)).id
    ts = door.slack.acts.say("ben", channel_id, SAID)
    door.slack.acts.react("ann", channel_id, ts, "pushpin")
    door.deliver()
    told = list(news(door, LATE[kind], channel_id))
    for one in told:
        one.payload["event"]["event_ts"] = f"{float(one.payload['event']['event_ts']) - late_s:.6f}"
        door.post(one)
    entry = incident.events.filter(kind=kind).latest("n")
    behind_s = (entry.recorded_at - entry.at).total_seconds()
    assert behind_s == pytest.approx(max(late_s, 0), abs=30)
    assert entry.recorded_at >= entry.at


def news(door: Door, act: Act, channel_id: str) -> Iterator[PendingDelivery]:
    """Do the act, and yield the events that Slack sends about it."""
    act(door, channel_id)
    yield from door.slack.take_deliveries()


def is_known(door: Door, incident: Incident, channel_id: str) -> None:
    """Check that what we know of the channel, the message and the person matches their real state."""
    there, row = door.slack.channel(channel_id), Resource.objects.get(incident=incident, external_id=channel_id)
    assert (row.label, row.spec["private"]) == (f"#{there.name}", there.is_private)
    archived = Resource.objects.filter(incident=incident, key=f"archived/{row.room}", state=THERE)
    assert archived.exists() == there.is_archived
    here = Resource.objects.filter(incident=incident, kind="member", room=row.room, state=THERE)
    taking_part = Participant.objects.filter(incident=incident, left_at=None)
    if not there.is_archived:  # Slack keeps no members in an archived channel
        members = {*there.members} - {door.slack.bot.id}
        assert {one.spec["person"] for one in here} == {one.person.chat_id for one in taking_part} == members
    pinned = [one.text for one in there.messages.values() if "pushpin" in one.reactions]
    entries = timeline.latest(incident, limit=99, reader=None)
    assert [one.text for one in entries if one.event.kind == "captured" and one.retracted is None] == pinned
    eve, known = door.slack.person("eve"), door.house.person("eve")
    assert (known.name, known.deactivated, known.is_guest) == (eve.name, eve.deleted, eve.is_restricted)


def is_told_once(incident: Incident, times: int) -> None:
    """Check that each act on the channel is on the timeline once, in the order in which it was done."""
    found = list(incident.events.filter(kind="channel").order_by("at", "n"))
    assert len(found) == times
    who = ["Ann", "Ben", "Ben" if "archived" in found[-1].text else "Ann"] if found else []
    assert [one.by.name for one in found if one.by] == who[:times]
    numbers = list(incident.events.order_by("n").values_list("n", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
