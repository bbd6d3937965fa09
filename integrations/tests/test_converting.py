"""With an organisation admin's token the room itself is made private, and everyone in it may stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Final

import pytest
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import Incident, IncidentType, Person
from integrations.slack.adapter.client import SlackChat
from integrations.slack.tests.straight import StraightWire
from integrations.tests import house as building
from integrations.tests.house import House
from workflows import ports
from workflows.channels import membership, room_looks, rooms
from workflows.chat_port import Channel
from workflows.reconcile import reconcile, retyping
from workflows.usergroups import workspace_cache

CONVERT = "admin.conversations.convertToPrivate"


@pytest.fixture
def house(db: None) -> Iterator[House]:
    """A house whose workspace belongs to an organisation whose admin token we have."""
    with building.house() as made:
        made.slack.workspace.plan = "enterprise"
        admin = StraightWire(made.slack, token="xoxp-sandbox")
        owner = made.slack.add_person("owner", name="Owner", email="owner@example.com")
        owner.is_owner = True
        chat = SlackChat(made.chat.wire, identity=made.chat.identity, admin=admin)
        with ports.using(chat=chat):
            yield House(made.slack, chat, made.clock)


@pytest.fixture
def incident(house: House) -> Incident:
    return house.declare("Someone has our keys", type="internal")  # brings no one in


def lines(house: House, incident: Incident, *, bring: tuple[str, ...] = ()) -> list[str]:
    to: IncidentType = house.type("security")
    brought = [house.person(one) for one in bring]
    plan = retyping.preview(incident, to=to, by=house.person("dee"), bring=brought)
    return [str(line) for line in plan.lines]


def test_the_plan_says_that_the_room_itself_turns_private(house: House, incident: Incident) -> None:
    said = lines(house, incident)
    assert f"~ make #{house.channel(incident)} private" in said
    assert not [line for line in said if "new private channel" in line or "archive" in line]


def test_the_room_is_kept_with_its_history_and_nothing_is_said_before_it_is_private(
    house: House, incident: Incident
) -> None:
    room = house.channel(incident)
    house.slack.calls.clear()
    moved = house.retype(incident, "security")
    assert (moved.room, house.channel(moved)) == (1, room)
    assert house.slack.channel(room).is_private
    assert not house.slack.channel(room).is_archived
    assert house.slack.members(room) == {"firekind", "dee", "sam", "sia", "pat"}
    writes = house.writes()
    said = [writes.index(one) for one in ("chat.postMessage", "conversations.invite") if one in writes]
    assert said
    assert writes.index(CONVERT) < min(said)
    assert "Someone has our keys" in str([[one.blocks, one.attachments] for one in house.slack.messages(room)])


@pytest.mark.parametrize(
    "code",
    ["feature_not_enabled", "not_an_enterprise", "restricted_action", "token_revoked", "external_channel_migrating"],
)
def test_a_refusal_leaves_the_room_for_a_new_one(house: House, incident: Incident, code: str) -> None:
    old = house.channel(incident)
    house.slack.faults.add("error", method=CONVERT, error=code)
    moved = house.retype(incident, "security")
    assert moved.room == 2
    assert house.slack.calls.count(CONVERT) == 1, "a new channel is private sooner"
    assert house.slack.channel(house.channel(moved)).is_private
    assert house.slack.channel(old).is_archived
    assert "keys" not in " ".join([*house.slack.texts(old), *house.slack.texts("incidents")])
    assert moved.events.filter(kind="failed", text__contains="moves to a new private channel instead").exists()


def test_a_room_that_slack_does_not_show_as_private_is_left(house: House, incident: Incident) -> None:
    old = house.channel(incident)
    house.slack.workspace.plan = "free"
    moved = house.retype(incident, "security")
    assert moved.room == 2
    assert house.slack.channel(old).is_archived


def test_somebody_who_does_not_come_along_is_not_shown_out_the_room_is_left(house: House) -> None:
    incident = house.declare("Someone has our keys")  # ann, ben and lea are in it
    said = lines(house, incident)
    assert "~ move the conversation to a new private channel" in said
    assert f"~ make #{house.channel(incident)} private" in lines(house, incident, bring=("ann", "ben", "lea"))


def test_somebody_who_came_in_unheard_is_found_before_the_room_is_closed(house: House, incident: Incident) -> None:
    old = house.channel(incident)
    house.slack.acts.join("out", old)
    house.slack.take_deliveries()
    house.slack.calls.clear()
    moved = house.retype(incident, "security")
    assert CONVERT not in house.writes()
    assert moved.room == 2
    assert "out" not in house.slack.members(house.channel(moved))


@pytest.mark.parametrize("polls", ["never", "at once", "between", "told between"])
def test_somebody_who_comes_in_as_the_room_is_being_closed_is_let_into_nothing(
    house: House, incident: Incident, polls: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between our last look at its members and Slack's answer that it is private, anyone may have joined."""
    old, closes = house.channel(incident), house.chat.close

    def close(channel_id: str) -> Channel:
        house.slack.acts.join("out", old)
        closed = closes(channel_id)
        if polls == "told between":  # as Slack reports our own conversion, which an admin made
            rooms.converted(channel_id, public=False, stamp=house.now().timestamp())
            reconcile.reconcile(incident.pk, at=house.now())
        if polls.endswith("between"):
            membership.poll(at=house.now())
        return closed

    monkeypatch.setattr(SlackChat, "close", lambda chat, channel_id: close(channel_id))
    moved = house.retype(incident, "security")
    if polls == "at once":
        membership.poll(at=house.now())
    rooms.came(moved, person=house.person("out"), channel_id=house.slack.channel(old).id, at=house.now())
    house.settle(moved)
    membership.poll(at=house.now())
    assert not visibility.may_see(house.person("out"), incident)
    moved.refresh_from_db()
    assert moved.room == 2
    assert "out" not in house.slack.members(house.channel(moved))


def test_somebody_whose_account_was_deactivated_is_in_no_ones_way(house: House) -> None:
    """Slack removed them from the channel, so they are neither left behind in it nor free to leave it."""
    incident = house.declare("Someone has our keys")  # ann, ben and lea are in it
    house.slack.acts.deactivate("lea")
    house.slack.take_deliveries()
    workspace_cache.refresh(everybody=True)
    incident = house.settle(incident)
    internal = retyping.preview(incident, to=house.type("internal"), by=house.person("dee"))
    assert "Lea" not in "\n".join(map(str, internal.lines))
    room = house.channel(incident)
    assert f"~ make #{room} private" in lines(house, incident, bring=("ann", "ben"))
    moved = house.retype(incident, "security", bring=("ann", "ben"))
    assert (moved.room, house.channel(moved)) == (1, room)
    assert house.slack.channel(room).is_private


KNOWN_BY: Final[dict[str, Callable[[House, str], object]]] = {
    "an event": lambda house, channel_id: rooms.converted(channel_id, public=False),
    "the look at members": lambda house, channel_id: membership.poll(at=timezone.now() + timedelta(minutes=2)),
    "the look at channels": lambda house, channel_id: room_looks.look(house.chat, channel_id, at=timezone.now()),
}


@pytest.mark.parametrize("known_by", KNOWN_BY)
@pytest.mark.parametrize("came", ["before the retype", "after it"])
def test_who_came_in_before_somebody_closed_the_room_by_hand_is_let_into_nothing(
    house: House, incident: Incident, came: str, known_by: str
) -> None:
    """Anyone could join the room until then: that it is private now says nothing about who is in it."""
    channel_id = house.slack.channel(house.channel(incident)).id
    if came == "before the retype":
        house.slack.acts.join("out", channel_id)
    house.confirm(incident, "security")
    if came == "after it":
        house.slack.acts.join("out", channel_id)
    house.slack.acts.convert("dee", channel_id, is_private=True)
    KNOWN_BY[known_by](house, channel_id)
    membership.poll(at=timezone.now() + timedelta(minutes=4))
    house.settle(incident)
    membership.poll(at=timezone.now() + timedelta(minutes=6))
    moved = house.settle(incident)
    assert not visibility.may_see(house.person("out"), moved)
    assert "out" not in house.slack.members(house.channel(moved))
    assert house.slack.channel(house.channel(moved)).is_private
    said = house.slack.messages(house.channel(moved))
    assert "Someone has our keys" in str([[one.blocks, one.attachments] for one in said])


@pytest.mark.parametrize("known_by", KNOWN_BY)
def test_a_room_that_somebody_closes_by_hand_before_us_is_kept_where_only_its_people_are_in_it(
    house: House, incident: Incident, known_by: str
) -> None:
    room = house.channel(incident)
    house.confirm(incident, "security")
    house.slack.acts.convert("dee", house.slack.channel(room).id, is_private=True)
    KNOWN_BY[known_by](house, house.slack.channel(room).id)
    moved = house.settle(incident)
    assert (moved.room, house.channel(moved)) == (1, room)
    assert house.slack.members(room) == {"firekind", "dee", "sam", "sia", "pat"}


def test_a_room_that_is_still_to_be_closed_is_not_taken_for_one_that_was_opened(
    house: House, incident: Incident
) -> None:
    """Slack may limit us until after the next look at its members."""
    house.confirm(incident, "security")
    reconcile.reconcile(incident.pk, at=timezone.now())
    membership.poll(at=timezone.now() + timedelta(minutes=1))
    moved = house.settle(incident)
    assert moved.room == 1, "as the plan said"
    assert not moved.events.filter(text__contains="made public").exists()


def test_a_drill_keeps_its_room_though_somebody_in_it_took_their_agreement_back(house: House) -> None:
    house.slack.acts.set_group("security", ["sam", "sia", "ann"])
    house.slack.acts.set_group("incident-response", ["ann"])
    workspace_cache.refresh()
    Person.objects.update(agrees_to_drills=True)
    drill = lifecycle.declare(
        "Someone has our keys", by=house.person("dee"), at=house.now(), type=house.type("ambiguous"), is_drill=True
    )
    house.settle(drill)
    Person.objects.filter(pk__in=[house.person(one).pk for one in ("ann", "sam")]).update(agrees_to_drills=False)
    assert f"~ make #{house.channel(drill)} private" in lines(house, drill, bring=("lea",))
    moved = house.retype(drill, "security", bring=("lea",))
    assert CONVERT in house.writes()
    assert house.slack.members(house.channel(moved)) == {"firekind", "dee", "ann", "lea", "sia", "pat"}


@pytest.mark.parametrize(
    ("others", "why"), [((), "an app is in it"), (("eve",), "some people in it are not coming along")]
)
def test_where_an_app_alone_is_in_the_way_of_turning_it_private_people_are_not_blamed(
    house: House, incident: Incident, others: tuple[str, ...], why: str
) -> None:
    house.slack.add_person("jira", name="Jira", is_bot=True)
    workspace_cache.refresh(everybody=True)
    channel = house.slack.channel(house.channel(incident))
    for one in ("jira", *others):
        house.slack.acts.invite("dee", channel.name, [one])
        who, dee = house.person(one), house.person("dee")
        rooms.came(incident, person=who, channel_id=channel.id, at=house.now(), inviter=dee)
    incident.refresh_from_db()
    plan = retyping.preview(incident, to=house.type("security"), by=house.person("dee"))
    (note,) = (note.text for note in plan.notes if "can't become private" in note.text)
    assert why in note
    assert any("move the conversation to a new private channel" in line.text for line in plan.lines)
