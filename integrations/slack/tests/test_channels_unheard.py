"""Whichever events about channels are lost, in the end we know their state, and everything owed there is done."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

import pytest
from django.db.models import F
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from incidents import lifecycle
from incidents.lifecycle import Refused
from incidents.models import Incident
from integrations.slack.fake import NotPossible
from integrations.slack.tests.conftest import behind
from integrations.slack.tests.door import Door
from integrations.tests.house import house as opened
from workflows.channels import membership, room_looks
from workflows.effects.failing import announcements, recovering
from workflows.loading import load_facts
from workflows.models import Effect, Resource
from workflows.performing import perform
from workflows.planning.desired import desired_state
from workflows.planning.observed import GONE, THERE
from workflows.planning.plan import plan
from workflows.reconcile import reconcile

ROUNDS: Final = 4
ACTS: Final[dict[str, Callable[[Door, str], object]]] = {
    "archive": lambda door, channel: door.slack.acts.archive("ann", channel),
    "unarchive": lambda door, channel: door.slack.acts.unarchive("ann", channel),
    "rename": lambda door, channel: door.slack.acts.rename("ann", channel, f"inc-{len(door.slack.calls)}-x"),
    "close": lambda door, channel: door.slack.acts.convert("ann", channel, is_private=True),
    "open": lambda door, channel: door.slack.acts.convert("ann", channel, is_private=False),
    "delete": lambda door, channel: door.slack.acts.delete_channel("ann", channel),
    "remove": lambda door, channel: door.slack.acts.kick("ann", channel, "firekind"),
    "fetch": lambda door, channel: door.slack.acts.invite("ann", channel, ["firekind"]),
}
ENDS: Final[dict[str, Callable[[Incident, Incident, Any], object]]] = {
    "resolve": lambda one, _, by: lifecycle.resolve(one, by=by, at=timezone.now()),
    "cancel": lambda one, _, by: lifecycle.cancel(one, by=by, at=timezone.now()),
    "merge": lambda one, other, by: lifecycle.duplicate(one, of=other, by=by, at=timezone.now()),
}
STEP = st.tuples(st.sampled_from([*ACTS, "archive", "unarchive", "unarchive"]), st.integers(0, 2), st.booleans())
WEATHER = ("revoke", "show nothing", "take again")
FACT = st.sampled_from(["update", "retype", "archive room", *WEATHER, "settle", "settle", *ENDS])
STORY = st.lists(st.one_of(STEP, FACT), min_size=1, max_size=7)


class Channels(TestCase):
    """A workspace and an incident, built for each example."""

    @pytest.mark.slow
    @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
    @given(type=st.sampled_from(["ambiguous", "security"]), story=STORY, days=st.sampled_from([0, 0, 30]))
    def test_once_all_had_their_turns_what_is_known_is_so_and_what_is_owed_is_done(
        self, type: str, story: list[str | tuple[str, int, bool]], days: int
    ) -> None:
        with opened() as house, behind(house):
            people = house.slack.workspace.people.values()
            house.slack.add_channel("lobby", members=[one.id for one in people if not one.is_bot])
            door = Door(house)
            door.slack.person("ann").is_owner = True
            other, incident = door.declared("another"), door.declared(type=type)
            announced = door.slack.channel("incidents").id
            for step in story:
                incident = done(door, incident, step, other=other, announced=announced)
            door.slack.faults.clear()
            door.slack.take_deliveries()
            with suppress(NotPossible):
                door.slack.acts.unarchive("ann", announced)
            door.slack.take_deliveries()
            if days:
                Incident.objects.filter(pk=incident.pk).update(ended_at=F("ended_at") - timedelta(days=days))
            for n in range(1, ROUNDS + 1):
                looks(timezone.now() + timedelta(minutes=n))
                incident = door.house.settle(incident)
            is_known(door, incident)
            is_done(door, incident)


def done(
    door: Door, incident: Incident, step: str | tuple[str, int, bool], *, other: Incident, announced: str
) -> Incident:
    """Do one thing; events about a channel may or may not arrive."""
    ann = door.house.person("ann")
    if isinstance(step, tuple):
        act, which, heard = step
        ids = [one.external_id for one in rows(incident)]
        if which < len(ids):
            with suppress(NotPossible):
                ACTS[act](door, ids[which])
        told = door.slack.take_deliveries()
        for one in told if heard else ():
            door.post(one)
    elif step == "settle":
        return door.house.settle(incident)
    elif step == "revoke":
        door.slack.faults.add("error", method="*", error="token_revoked")
    elif step == "show nothing":
        door.slack.faults.add("error", method="conversations.info", error="missing_scope")
    elif step == "take again":
        door.slack.faults.clear()
    else:
        with suppress(Refused):
            change(door, incident, step, other=other, by=ann)
        incident = Incident.objects.select_related("type", "policy_version", "lead").get(pk=incident.pk)
    return incident


def change(door: Door, incident: Incident, what: str, *, other: Incident, by: Any) -> None:
    if what == "update":
        lifecycle.update(incident, text=f"news {incident.last_n}", by=by, at=timezone.now())
    elif what == "retype":
        door.house.confirm(incident, "security", by="ann")
    elif what == "archive room":
        lifecycle.archive_channel(incident, by=by, at=timezone.now())
    else:
        ENDS[what](incident, other, by)


def rows(incident: Incident) -> list[Resource]:
    return list(Resource.objects.filter(incident=incident, kind="channel").order_by("room"))


def looks(at: datetime) -> None:
    """Take the regular looks that ask the chat about channels."""
    membership.poll(at=at)
    membership.poll_older(at=at)
    membership.poll_public(at=at)
    room_looks.look_again(at=at)
    recovering.retry(at=at)
    announcements.retry(at=at)


def is_known(door: Door, incident: Incident) -> None:
    """Check that what we know of each channel is its real state, as far as Slack shows it to us."""
    for row in rows(incident):
        there = door.slack.workspace.channels.get(row.external_id)
        shown = there is not None and (not there.is_private or door.slack.bot.id in there.members)
        assert (row.state == THERE) == shown, (row.key, row.state)
        if there is None or not shown:
            continue
        archived = Resource.objects.filter(incident=incident, key=f"archived/{row.room}", state=THERE).exists()
        known = row.label, bool(row.spec["private"]), archived
        assert known == (f"#{there.name}", there.is_private, there.is_archived), row.key


def is_done(door: Door, incident: Incident) -> None:
    """Check that failures are only where nothing can be done, and that nothing is left to plan or owed."""
    closed = {row.room for row in rows(incident) if row.state == GONE} | {
        row.room for row in Resource.objects.filter(incident=incident, kind="archived", state=THERE)
    }
    outside = {
        row.room
        for row in rows(incident)
        if (there := door.slack.workspace.channels.get(row.external_id)) and door.slack.bot.id not in there.members
    }
    failed = Effect.objects.filter(incident=incident, state="failed").exclude(room__in=closed | outside)
    assert not list(failed.values_list("key", "error"))
    assert not door.house.owed(incident)
    known = load_facts.one(incident)
    assert plan(desired_state(known.facts), known.observed).is_empty


@pytest.mark.parametrize("ended", ["resolve", "cancel", "merge"])
@pytest.mark.parametrize("heard", [True, False], ids=["heard", "unheard"])
def test_what_an_archived_channel_is_owed_is_said_long_after_the_end(door: Door, ended: str, heard: bool) -> None:
    """Including what failed there because no one could tell that it was archived."""
    other, incident = door.declared("another"), door.declared()
    name, ann = door.house.channel(incident), door.house.person("ann")
    door.slack.acts.archive("ann", name)
    if heard:
        door.deliver()
    else:
        door.slack.faults.add("error", method="conversations.info", error="missing_scope")
    lifecycle.update(incident, text="It was the cache", by=ann, at=timezone.now())
    incident = door.house.settle(incident)
    assert Effect.objects.filter(incident=incident, state="failed", error_code="is_archived").exists() != heard
    ENDS[ended](incident, other, ann)
    incident = door.house.settle(incident)
    Incident.objects.filter(pk=incident.pk).update(ended_at=F("ended_at") - timedelta(days=30))
    door.slack.faults.clear()
    door.slack.acts.unarchive("ann", name)
    door.slack.take_deliveries()
    assert room_looks.look_again(at=timezone.now()) == 1
    incident = door.house.settle(incident)
    is_known(door, incident)
    is_done(door, incident)
    assert "the cache" in str([(one.text, one.blocks) for one in door.slack.messages(name)])
    assert room_looks.look_again(at=timezone.now()) == 0


@pytest.mark.parametrize("incidents", [1, room_looks.AT_ONCE, 2 * room_looks.AT_ONCE + 3])
def test_however_many_ended_long_ago_as_few_are_looked_at_and_each_has_its_turn(door: Door, incidents: int) -> None:
    over = [door.declared(f"slow {n}") for n in range(incidents)]
    long_ago = timezone.now() - timedelta(days=30)
    for one in over:
        lifecycle.resolve(one, by=None, at=long_ago)
        door.house.settle(one)
        door.slack.acts.rename("ann", door.house.channel(one), f"{door.house.channel(one)}-old")
    door.slack.take_deliveries()
    door.slack.calls.clear()
    for n in range(-(-incidents // room_looks.AT_ONCE)):
        room_looks.look_again(at=timezone.now() + timedelta(seconds=n * membership.EVERY_S))
        assert door.slack.calls.count(room_looks.METHOD) <= room_looks.AT_ONCE * (n + 1)
    for one in over:
        is_known(door, one)


def test_those_that_go_on_do_not_wait_for_all_that_ended(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do those wait forever when more are open than can be looked at."""
    monkeypatch.setattr(room_looks, "AT_ONCE", 4)
    over = door.declared("over")
    lifecycle.resolve(over, by=None, at=timezone.now() - timedelta(days=30))
    several = [door.house.settle(over), *(door.declared(f"slow {n}") for n in range(4))]
    for one in several:
        door.slack.acts.rename("ann", door.house.channel(one), f"{door.house.channel(one)}-old")
    door.slack.take_deliveries()
    for n in range(3):
        room_looks.look_again(at=timezone.now() + timedelta(seconds=n * membership.EVERY_S))
    for one in several:
        is_known(door, one)


def test_a_channel_that_we_are_archiving_is_archived_by_us(door: Door) -> None:
    """A look before that is recorded reports nothing about it."""
    incident = door.declared()
    lifecycle.resolve(incident, by=None, at=timezone.now())
    incident = door.house.settle(incident)
    lifecycle.archive_channel(incident, by=None, at=timezone.now())
    door.slack.faults.add("drop", method="conversations.archive", times=1)
    reconcile.reconcile(incident.pk, at=timezone.now())
    perform.drain(incident.pk, side_by_side=False)
    assert door.slack.channel(door.house.channel(incident)).is_archived
    assert room_looks.look_again(at=timezone.now()) == 0
    incident = door.house.settle(incident)
    is_known(door, incident)
    assert not [text for kind, text in door.told(incident) if kind == "channel"]


@pytest.mark.parametrize(("method", "error"), [("bookmarks.add", "access_denied"), ("chat.postMessage", "is_archived")])
def test_what_is_refused_for_another_reason_is_left_to_people(door: Door, method: str, error: str) -> None:
    """Slack may give the same error for a channel in use with the app in it: a workspace can turn off bookmarks."""
    door.slack.faults.add("error", method=method, error=error)
    incident = door.declared()
    tried = []
    for n in range(6):
        room_looks.look_again(at=timezone.now() + timedelta(seconds=n * membership.EVERY_S))
        incident = door.house.settle(incident)
        tried.append(door.slack.calls.count(method))
    assert tried[-1] == tried[3] > tried[0]
