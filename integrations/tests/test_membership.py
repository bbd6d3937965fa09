"""A person who leaves a private incident's channel loses web access within one poll, even if every event was lost."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import Event, Incident, Participant, Person
from integrations.tests.house import House
from workflows.channels import membership, rooms
from workflows.chat_port import Channel
from workflows.models import Limit

METHOD = "conversations.members"


@pytest.fixture
def secret(house: House) -> Incident:
    """Dee's private incident; Sam, Sia and Pat are in its channel."""
    return house.declare("keys", type="security")


def soon() -> datetime:
    return timezone.now() + timedelta(minutes=1)


def may_see(house: House, name: str, incident: Incident) -> bool:
    return visibility.may_see(house.person(name), incident)


def texts(incident: Incident, kind: str) -> list[str]:
    return list(Event.objects.filter(incident=incident, kind=kind).order_by("n").values_list("text", flat=True))


def signed_in(person: Person) -> Client:
    Person.objects.filter(pk=person.pk).update(user=User.objects.create_user(person.name.lower()))
    client = Client()
    client.force_login(User.objects.get(username=person.name.lower()))
    return client


def test_who_was_removed_loses_the_page_although_the_event_was_lost(house: House, secret: Incident) -> None:
    client, address = signed_in(house.person("sam")), secret.get_absolute_url()
    assert client.get(address).status_code == 200
    house.slack.acts.kick("dee", house.channel(secret), "sam")
    assert membership.poll(at=soon()) == 1
    assert client.get(address).status_code == 404
    assert texts(secret, "left") == ["Sam"]
    assert Participant.objects.get(incident=secret, person=house.person("sam")).went
    house.settle(secret)
    assert "sam" not in house.slack.members(house.channel(secret))


def test_who_was_invited_by_hand_gains_it(house: House, secret: Incident) -> None:
    house.slack.acts.invite("dee", house.channel(secret), ["eve"])
    membership.poll(at=soon())
    assert may_see(house, "eve", secret)
    assert texts(secret, "joined") == ["Eve"]


def test_nothing_is_written_where_nothing_differs(house: House, secret: Incident) -> None:
    before = Incident.objects.get(pk=secret.pk).last_n
    membership.poll(at=soon())
    assert Incident.objects.get(pk=secret.pk).last_n == before


def test_who_is_not_invited_yet_or_could_not_be_is_not_thrown_out(house: House, secret: Incident) -> None:
    house.slack.person("cat").deleted = True
    for name in ("cat", "ann"):
        lifecycle.bring_in(secret, people=[house.person(name)], by=house.person("dee"), at=timezone.now())
        if name == "cat":
            house.settle(secret)
    assert "cat" not in house.slack.members(house.channel(secret))
    membership.poll(at=soon())
    assert may_see(house, "cat", secret)
    assert may_see(house, "ann", secret)


def test_what_an_event_said_meanwhile_is_newer_than_the_answer(
    house: House, secret: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = house.chat.members

    def removed_meanwhile(channel_id: str) -> frozenset[str]:
        answer = ask(channel_id)
        lifecycle.left(secret, person=house.person("sam"), room=secret.room, at=timezone.now())
        return answer

    monkeypatch.setattr(house.chat, "members", removed_meanwhile)
    membership.poll(at=soon())
    assert not may_see(house, "sam", secret)


@pytest.mark.parametrize("trait", ["is_restricted", "is_stranger"])
def test_guests_and_people_from_elsewhere_are_warned_of_once(house: House, secret: Incident, trait: str) -> None:
    setattr(house.slack.add_person("gus", name="Gus"), trait, True)
    house.slack.channel(house.channel(secret)).members.append(house.slack.person("gus").id)
    membership.poll(at=soon())
    membership.poll(at=soon() + timedelta(minutes=1))
    (said,) = texts(secret, "warned")
    assert "is in the channel: they can read what is posted there" in said


def test_open_streams_of_who_left_are_told_to_look_again(house: House, secret: Incident) -> None:
    """Streams end then, because they check access on every change: `incidents/tests/test_live_stream.py`."""
    house.slack.acts.kick("dee", house.channel(secret), "sam")
    with CaptureQueriesContext(connection) as asked:
        membership.poll(at=soon())
    assert any("pg_notify" in one["sql"] for one in asked.captured_queries)
    assert not may_see(house, "sam", secret)


def test_public_incidents_and_those_long_over_are_not_among_them(house: House, secret: Incident) -> None:
    house.declare("Checkout is slow")
    lifecycle.resolve(secret, by=None, at=timezone.now())
    house.slack.calls.clear()
    assert membership.poll(at=soon()) == 1
    assert membership.poll(at=soon() + timedelta(days=8)) == 0
    assert house.slack.calls.count(METHOD) == 1


def test_each_poll_is_bounded_and_takes_turns(house: House, secret: Incident, monkeypatch: pytest.MonkeyPatch) -> None:
    other = house.declare("more keys", type="security")
    monkeypatch.setattr(membership, "AT_MOST", 1)
    for incident, when in ((secret, soon()), (other, soon() + timedelta(minutes=1))):
        house.slack.acts.kick("dee", house.channel(incident), "sam")
        assert membership.poll(at=when) == 1
        assert not may_see(house, "sam", incident)


def test_a_rate_limit_holds_until_it_is_over(house: House, secret: Incident) -> None:
    house.slack.faults.add("ratelimited", method=METHOD, times=1, retry_after_s=30)
    house.slack.acts.kick("dee", house.channel(secret), "sam")
    at = soon()
    assert membership.poll(at=at) == 0
    assert Limit.objects.get(method=METHOD).blocked_until == at + timedelta(seconds=30)
    house.slack.calls.clear()
    assert membership.poll(at=at + timedelta(seconds=29)) == 0
    assert not house.slack.calls.count(METHOD)
    assert membership.poll(at=at + timedelta(seconds=31)) == 1
    assert not may_see(house, "sam", secret)


def test_that_the_app_was_removed_is_said_once(house: House, secret: Incident) -> None:
    house.slack.channel(house.channel(secret)).members.remove(house.slack.person("firekind").id)
    for minutes in (0, 1):
        membership.poll(at=soon() + timedelta(minutes=minutes))
        house.settle(secret)
    (said,) = texts(secret, "gap")
    assert "or Firekind is no longer in it" in said
    assert may_see(house, "sam", secret)


@pytest.mark.parametrize("public", [False, True])
def test_a_stranger_hides_nothing_while_nobody_can_be_looked_up(house: House, secret: Incident, public: bool) -> None:
    """Slack cannot look up an unknown person in the channel: a removal, or that it is public, still counts."""
    channel = house.channel(secret)
    house.slack.add_person("zed")
    house.slack.acts.invite("dee", channel, ["zed"])
    house.slack.acts.kick("dee", channel, "sam")
    Person.objects.filter(chat_id=house.slack.person("zed").id).delete()
    if public:
        house.slack.acts.convert("dee", channel, is_private=False)
    house.slack.faults.add("ratelimited", method="users.list")
    membership.poll(at=soon())
    assert may_see(house, "sam", secret) == public
    assert (Incident.objects.get(pk=secret.pk).room != secret.room) == public
    assert may_see(house, "sia", secret)


@pytest.mark.parametrize("told", ["never", "meanwhile", "in time"])
def test_a_channel_that_was_renamed_by_hand_is_called_so_although_the_event_was_lost(
    house: House, secret: Incident, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event that arrived while we asked is newer than the answer."""
    channel = house.slack.channel(house.channel(secret))
    house.slack.acts.rename("dee", channel.name, "war-room")
    look = house.chat.look

    def looked(channel_id: str) -> Channel | None:
        found = look(channel_id)
        if told == "meanwhile":
            rooms.renamed(channel_id, name="peace-room", stamp=timezone.now().timestamp())
        return found

    monkeypatch.setattr(type(house.chat), "look", lambda _, channel_id: looked(channel_id))
    if told == "in time":
        rooms.renamed(channel.id, name="war-room", stamp=timezone.now().timestamp())
    membership.poll(at=soon())
    room = rooms.channel_of(secret)
    assert room is not None
    assert room.label == ("#peace-room" if told == "meanwhile" else "#war-room")
    assert house.channel(secret) == room.label.removeprefix("#")
    assert not house.owed(secret)


@pytest.mark.parametrize("goes", ["out of sight", "out and back"])
@pytest.mark.parametrize("told", ["never", "too early"])
@pytest.mark.parametrize("ended", [False, True])
def test_a_channel_that_is_in_sight_again_is_read_again_although_no_event_said_so(
    house: House, secret: Incident, goes: str, told: str, ended: bool
) -> None:
    name = house.channel(secret)
    channel_id = house.slack.channel(name).id
    if ended:
        lifecycle.resolve(secret, by=house.person("dee"), at=timezone.now())
        house.settle(secret)
    if goes == "out of sight":
        house.slack.faults.add("error", method=METHOD, error="channel_not_found", times=1)
    else:
        house.slack.acts.kick("dee", name, "firekind")
    membership.poll(at=soon())
    house.settle(secret)
    assert rooms.was_out_of_reach(channel_id)
    if goes == "out and back":
        house.slack.acts.invite("dee", name, ["firekind"])
    house.slack.acts.kick("dee", name, "sam")
    if told == "too early":
        rooms.left(secret, person=house.person("sam"), channel_id=channel_id, at=timezone.now())
    house.slack.take_deliveries()
    membership.poll(at=soon() + timedelta(minutes=1))
    assert not may_see(house, "sam", secret)
    assert may_see(house, "sia", secret)
    house.settle(secret)
    assert not secret.resources.filter(kind="gap").exists()
    if not ended:
        lifecycle.update(secret, text="we rotate them", by=house.person("dee"), at=timezone.now())
        house.settle(secret)
        assert "we rotate them" in str([(one.blocks, one.attachments) for one in house.slack.messages(name)])


def test_a_channel_in_which_we_are_not_stays_out_of_sight(house: House, secret: Incident) -> None:
    house.slack.acts.kick("dee", house.channel(secret), "firekind")
    for minutes in range(3):
        assert membership.poll(at=soon() + timedelta(minutes=minutes)) == 1
        house.settle(secret)
    assert len(texts(secret, "gap")) == 1
    assert secret.resources.get(key="channel/1").state == "gone"
    assert may_see(house, "sam", secret)


@pytest.mark.parametrize("incidents", [1, membership.OLDER, 2 * membership.OLDER + 1])
def test_who_is_removed_long_after_the_end_loses_it_in_turn_although_the_event_was_lost(
    house: House, incidents: int
) -> None:
    over = [house.declare(f"keys {n}", type="security") for n in range(incidents)]
    for n, one in enumerate(over):
        lifecycle.resolve(one, by=house.person("dee"), at=timezone.now() - timedelta(days=30 * (n // 2)))
        house.settle(one)
    Incident.objects.update(ended_at=F("ended_at") - timedelta(days=8))
    around = math.ceil(incidents / membership.OLDER)
    for at, name in ((soon(), "sam"), (soon() + timedelta(minutes=1), "sia")):  # once around, and again
        for one in over:
            house.slack.acts.kick("dee", house.channel(one), name)
        house.slack.take_deliveries()
        house.slack.calls.clear()
        for _ in range(around):
            assert 0 < membership.poll_older(at=at) <= membership.OLDER
        assert house.slack.calls.count(METHOD) == incidents
        assert not [one for one in over if may_see(house, name, one)]
    assert all(may_see(house, "pat", one) for one in over)


def test_of_those_that_ended_lately_or_go_on_none_is_read_in_that_turn(house: House, secret: Incident) -> None:
    lifecycle.resolve(secret, by=house.person("dee"), at=timezone.now())
    house.declare("more keys", type="security")
    house.slack.calls.clear()
    assert membership.poll_older(at=soon()) == 0
    assert not house.slack.calls.count(METHOD)


@pytest.mark.parametrize("incidents", [1, 2, 5])
@pytest.mark.parametrize("goes_on", [True, False])
def test_who_leaves_a_public_channel_or_comes_unheard_is_known_to_in_turn(
    house: House, incidents: int, goes_on: bool
) -> None:
    """So that they can be invited once they are needed there."""
    several = [house.declare(f"Slow {n}") for n in range(incidents)]
    lea, at = house.person("lea"), soon()
    for one in several:
        house.slack.acts.leave("lea", house.channel(one))
        house.slack.acts.join("out", house.channel(one))
        if not goes_on:
            lifecycle.resolve(one, by=house.person("dee"), at=timezone.now())
    house.slack.take_deliveries()
    house.slack.calls.clear()
    for n in range(math.ceil(incidents / 2)):
        membership.poll_public(at=at + timedelta(seconds=n * membership.EVERY_S), at_once=2)
        assert house.slack.calls.count(METHOD) <= 2 * (n + 1)
    for one in several:
        assert [text for kind in ("left", "joined") for text in texts(one, kind)] == (["Lea", "Out"] if goes_on else [])
        if goes_on:
            lifecycle.set_lead(one, lead=lea, by=house.person("dee"), at=timezone.now())
            house.settle(one)
            assert "lea" in house.slack.members(house.channel(one))


def test_a_public_channel_that_was_not_shown_to_us_once_is_in_sight_again_in_its_turn(house: House) -> None:
    incident = house.declare("Slow")
    house.slack.faults.add("error", method=METHOD, error="channel_not_found", times=1)
    membership.poll_public(at=soon())
    assert rooms.was_out_of_reach(house.slack.channel(house.channel(incident)).id)
    membership.poll_public(at=soon() + timedelta(minutes=1))
    house.settle(incident)
    assert incident.resources.get(key="channel/1").state == "there"
    assert not incident.resources.filter(kind="gap").exists()
