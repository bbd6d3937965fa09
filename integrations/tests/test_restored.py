"""The database is restored to an earlier moment while Slack is ahead of it: nothing is done twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import Incident, Participant
from integrations.slack.adapter.client import SlackChat
from integrations.tests.house import House, house, organisation
from integrations.tests.losing import lost
from integrations.tests.ticket_desk import desk, edit_here
from workflows import tasks
from workflows.channels import closed_rooms, membership, rooms
from workflows.effects import restoring
from workflows.models import Effect, Limit, MembersRead, Resource
from workflows.ports import VendorError
from workflows.reconcile import reconcile, retyping, sweep


@pytest.fixture(name="house")
def own_house(db: None) -> Iterator[House]:
    with house() as made:
        yield made


def said(house: House) -> Counter[tuple[str, str]]:
    """Count messages by channel and words."""
    channels = house.slack.workspace.channels.values()
    return Counter((one.name, message.text) for one in channels for message in one.messages.values())


@pytest.mark.parametrize("was_planned", [True, False])
def test_what_was_said_in_public_since_is_withdrawn_from_what_is_retyped_to_private(
    house: House, was_planned: bool
) -> None:
    incident = lifecycle.declare("Keys leaked", by=house.person("dee"), at=timezone.now(), type=house.type("major"))
    if was_planned:
        reconcile.reconcile(incident.pk, at=timezone.now())
    moment = transaction.savepoint()
    house.settle(incident)
    assert [one for one in said(house) if "Keys leaked" in one[1]]
    transaction.savepoint_rollback(moment)
    call_command("restored")
    lifecycle.retype(incident, to=house.type("security"), by=None, at=timezone.now())
    house.settle(Incident.objects.get(pk=incident.pk))
    public = {one.name for one in house.slack.workspace.channels.values() if not one.is_private}
    assert not [one for one in said(house) if one[0] in public and "Keys leaked" in one[1]]


def test_a_hint_about_an_incident_that_is_gone_since_is_none(house: House) -> None:
    tasks.reconcile(4_000_000)


def test_a_number_that_a_later_message_bears_is_given_to_none_again(house: House) -> None:
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    newest = Effect.objects.latest("pk").pk
    restoring.look_before_acting(at=timezone.now())
    other = lifecycle.declare("Late", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
    reconcile.reconcile(other.pk, at=timezone.now())
    assert Effect.objects.filter(incident=other).earliest("pk").pk > newest + restoring.SKIPPED


def test_a_chat_that_does_not_answer_is_asked_about_one_room_and_every_room_is_named(
    house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(closed_rooms, "PAUSE_S", 0)
    every = [house.declare(title) for title in ("First", "Second", "Third", "Fourth")]
    house.slack.faults.add("server_error")
    house.slack.calls.clear()
    call_command("restored")
    said = capsys.readouterr().out
    assert all(one.codename in said for one in every)
    assert said.count("Run this again") == 1
    assert len(house.slack.calls) == closed_rooms.TRIES


def test_who_may_make_channels_elsewhere_makes_none_of_ours(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    house.declare("Known")
    with lost():
        house.slack.acts.create_channel("dee", "inc-like-ours")
        house.declare("Lost")
    house.slack.faults.add("ratelimited", method="users.conversations", times=1)
    call_command("restored")
    said = capsys.readouterr().out
    assert "could not be checked in Slack. Run this again later. Slack is rate limiting. Try again in a moment." in said
    call_command("restored")
    said = capsys.readouterr().out
    assert "inc-like-ours" not in said
    assert said.count("  #inc-") == 1


@pytest.mark.parametrize("converts", [False, True])
def test_who_turned_private_since_is_named_before_anybody_may_look(
    house: House, converts: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with organisation(house) if converts else nullcontext():
        dee, now = house.person("dee"), timezone.now()
        open_one, ended, turned, other = (
            house.settle(lifecycle.declare(title, by=dee, at=now, type=house.type("ambiguous")))
            for title in ("Open", "Ended", "Turned", "Archived by hand")
        )
        moment = transaction.savepoint()
        house.settle(lifecycle.resolve(ended, text="", by=dee, at=now))
        house.settle(lifecycle.retype(turned, to=house.type("security"), by=dee, at=now))
        house.slack.acts.archive("dee", house.channel(other))
        transaction.savepoint_rollback(moment)

        call_command("restored")
        said_of = capsys.readouterr().out
        assert turned.codename in said_of
        assert other.codename in said_of
        assert f"incident retype {turned.codename} TYPE" in said_of
        assert open_one.codename not in said_of
        assert ended.codename not in said_of
        assert not Incident.objects.filter(private=True).exists(), "who restores decides"


@pytest.mark.parametrize(
    ("did", "by", "may"), [("leave", "sam", False), ("kick", "dee", False), ("invite", "dee", True)]
)
def test_who_may_read_what_is_private_is_known_before_anybody_may_look(
    house: House, did: str, by: str, *, may: bool
) -> None:
    """What was done in its channel since then was never reported here, and is not reported again."""
    incident = house.declare("keys", type="security")
    who = house.person("out" if did == "invite" else "sam")
    room, acts = house.channel(incident), house.slack.acts
    settled_long_ago()
    with lost():
        more = {"leave": (), "kick": ("sam",), "invite": (["out"],)}[did]
        getattr(acts, did)(by, room, *more)
    assert visibility.may_see(who, incident) != may
    call_command("restored")
    assert visibility.may_see(who, incident) == may
    house.settle(incident)
    assert (str(who.chat_id) in house.slack.channel(room).members) == may, "nobody is fetched back"


@pytest.mark.parametrize("type", ["security", "ambiguous"])
def test_firekind_says_that_those_are_in_a_channel_who_are(house: House, type: str) -> None:
    incident = house.declare("keys", type=type)
    room, acts = house.channel(incident), house.slack.acts
    settled_long_ago()
    stays, leaves = ("sia", "sam") if type == "security" else ("ben", "ann")
    with lost():
        acts.leave(leaves, room)
        acts.invite("dee", room, ["out"])
    call_command("restored")
    incident = house.settle(incident)
    members = incident.resources.filter(kind="member", state="there")
    assert {one.spec["person"] for one in members} == set(house.slack.channel(room).members) - {house.chat.self_id}
    assert {stays, "out"} <= house.slack.members(room)
    assert leaves not in house.slack.members(room), "nobody is fetched back"


@pytest.mark.parametrize(
    ("held_up", "ago"), [("ratelimited", 5), ("server_error", 5), ("", -1)], ids=["limit", "away", "a clock ahead"]
)
@pytest.mark.parametrize("told", [2, 1, 0])
def test_who_left_a_public_channel_since_is_known_though_slack_does_not_tell_at_once(
    house: House, monkeypatch: pytest.MonkeyPatch, held_up: str, ago: int, told: int
) -> None:
    """Slack lists only so many channels, or a clock was ahead when their arrival was recorded."""
    incidents = [house.declare(title) for title in ("Slow", "Slower")]
    for model in (Participant, Resource):
        model.objects.update(since_at=timezone.now() - timedelta(minutes=ago))
    with lost():
        for one in incidents:
            house.slack.acts.leave("ann", house.channel(one))
    members, asked_of = SlackChat.members, list[str]()

    def tells(chat: SlackChat, channel_id: str) -> frozenset[str]:
        asked_of.append(channel_id)
        if held_up and len(asked_of) > told:
            house.slack.faults.add(held_up, method="conversations.members")
        return members(chat, channel_id)

    with monkeypatch.context() as patch:
        patch.setattr(SlackChat, "members", tells)
        call_command("restored")
    house.slack.faults.clear()
    Limit.objects.all().delete()
    for minutes in (1, 10):
        later = timezone.now() + timedelta(minutes=minutes)
        monkeypatch.setattr(timezone, "now", lambda later=later: later)
        tasks.watch_members()
    for one in incidents:
        house.settle(one)
        assert "ann" not in house.slack.members(house.channel(one)), "nobody is fetched back"
        assert not one.participants.filter(person__name__iexact="ann", left_at=None).exists()
    asked = len(house.slack.calls.of("conversations.members"))
    tasks.watch_members()
    assert len(house.slack.calls.of("conversations.members")) == asked + len(incidents), "each in its turn, as ever"


@pytest.mark.parametrize("healthy", [1, 2, 7])
@pytest.mark.parametrize("code", ["fetch_members_failed", "access_denied"])
def test_channels_that_slack_does_not_tell_of_hold_no_others_up_and_are_asked_for_again(
    house: House, monkeypatch: pytest.MonkeyPatch, code: str, healthy: int
) -> None:
    """However many looks it takes: channels that fail each time come first, then in turn with the others."""
    incidents = [house.declare(f"Slow {n}") for n in range(healthy + 3)]
    settled_long_ago()
    with lost():
        for one in incidents:
            house.slack.acts.leave("ann", house.channel(one))
    members, silent = SlackChat.members, {house.slack.channel(house.channel(one)).id for one in incidents[:3]}

    def tells(chat: SlackChat, channel_id: str) -> frozenset[str]:
        if channel_id in silent:
            raise VendorError("Try again.", code=code, method="conversations.members", retryable=code[0] == "f")
        return members(chat, channel_id)

    monkeypatch.setattr(SlackChat, "members", tells)
    call_command("restored")
    for n in range(20):
        membership.poll_public(at=timezone.now() + timedelta(seconds=n * membership.EVERY_S))
    for one in incidents[3:]:
        assert not one.participants.filter(person=house.person("ann"), left_at=None).exists()
    silent.clear()
    membership.poll_public(at=timezone.now() + timedelta(hours=1))
    for one in incidents:
        assert not one.participants.filter(person=house.person("ann"), left_at=None).exists()


def test_after_a_limit_nobody_is_asked_before_it_is_over(house: House) -> None:
    house.declare("Slow")
    call_command("restored")
    MembersRead.objects.all().delete()
    now = timezone.now()
    Limit.objects.create(vendor="chat", method="conversations.members", blocked_until=now + timedelta(minutes=1))
    asked = house.slack.calls.count("conversations.members")
    membership.poll_public(at=now)
    assert house.slack.calls.count("conversations.members") == asked
    membership.poll_public(at=now + timedelta(minutes=2))
    assert house.slack.calls.count("conversations.members") == asked + 1


def test_nobody_is_let_in_who_came_before_an_incident_turned_private_while_slack_is_asked(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an organisation's token the channel stays, and who joined it in the lost moments is not known here."""
    with organisation(house):
        incident, out = house.declare("Keys", type="internal"), house.person("out")
        settled_long_ago()
        with lost():
            house.slack.acts.join("out", house.channel(incident))
        restoring.begin(at=timezone.now())
        members = SlackChat.members

        def tells(chat: SlackChat, channel_id: str) -> frozenset[str]:
            said = members(chat, channel_id)
            retyping.confirm(incident, to=house.type("security"), by=house.person("dee"), at=timezone.now())
            return said

        with monkeypatch.context() as patch:
            patch.setattr(SlackChat, "members", tells)
            membership.poll_public(at=timezone.now())
        assert not visibility.may_see(out, Incident.objects.get(pk=incident.pk))


def settled_long_ago() -> None:
    """Make the copy older than an invitation takes to arrive."""
    for model in (Participant, Resource):
        model.objects.update(since_at=timezone.now() - timedelta(minutes=5))


def test_where_slack_does_not_say_who_is_in_it_is_to_be_asked_again(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    for title in ("keys", "more keys"):
        house.declare(title, type="security")
    house.slack.faults.add("server_error", method="conversations.members")
    call_command("restored")
    assert "Run this again" in capsys.readouterr().out
    house.slack.faults.clear()
    call_command("restored")
    assert "Run this again" not in capsys.readouterr().out


@pytest.mark.parametrize("why", ["restored", "drop_before", "drop"])
def test_who_is_wanted_still_is_invited_where_others_of_the_same_invitation_are_not(house: House, why: str) -> None:
    """No one knows whether it was sent: people already in are found, and the rest are planned again."""
    kind, method = ("error", "*") if why == "restored" else (why, "conversations.invite")
    house.slack.faults.add(kind, method=method, error="token_revoked")
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=house.now(), type=house.type("ambiguous"))
    incident = house.settle(incident, rounds=1)
    if why == "restored":
        call_command("restored")
    house.clock = timezone.now()
    incident = house.retype(incident, "internal")
    house.slack.faults.clear()
    house.slack.faults.add("server_error", method="conversations.members")
    tasks.recover()
    house.settle(incident)  # everything else of it
    house.slack.faults.clear()
    tasks.recover()
    house.settle(incident)
    came = {"ann", "ben", "lea"} if why == "drop" else set[str]()
    assert house.slack.members(house.channel(incident)) == {"firekind", "dee", *came}
    assert not sweep.unsettled()


@pytest.mark.parametrize("commands", [(), ("restored",)], ids=["nobody-says-so", "restored"])
def test_what_was_to_change_and_was_never_made_is_made(house: House, commands: tuple[str, ...]) -> None:
    """A message was under way when its words changed. It is not found, so there is nothing to change."""
    house.slack.faults.add("drop_before", method="chat.postMessage")
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=house.now(), type=house.type("major"))
    incident = house.settle(incident, rounds=1)
    lifecycle.set_lead(incident, lead=house.person("dee"), by=house.person("dee"), at=house.now())
    reconcile.reconcile(incident.pk, at=timezone.now())
    assert Effect.objects.filter(incident=incident, verb="change", state="waiting").exists()
    house.slack.faults.clear()
    for one in commands:
        call_command(one)
    incident = house.settle(incident)
    assert not house.owed(incident)
    (announced,) = house.slack.texts("incidents")
    assert "Dee" in announced
    assert not sweep.unsettled()


def test_whose_channel_was_archived_before_is_named_as_well(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing in Slack tells it from one that stayed public; one where no one responds any more ends like that."""
    open_one, ended = house.declare("Archived by hand"), house.declare("Over")
    house.settle(lifecycle.resolve(ended, text="", by=house.person("dee"), at=house.now()))
    for one in (open_one, ended):
        house.slack.acts.archive("dee", house.channel(one))
        rooms.archived_by_hand(channel_row_id(one), archived=True, at=house.now())
    with lost():
        house.retype(Incident.objects.get(pk=open_one.pk), "security")
    call_command("restored")
    said_of = capsys.readouterr().out
    assert open_one.codename in said_of
    assert ended.codename not in said_of


def channel_row_id(incident: Incident) -> str:
    return str(incident.resources.get(kind="channel", room=incident.room).external_id)


@pytest.mark.parametrize("fault", ["down", "lost"])
@pytest.mark.parametrize("edit", ["dropped", "text", "own"])
def test_what_a_restore_left_in_doubt_is_withdrawn_if_it_is_there_and_never_made_to_be_withdrawn(
    db: None, fault: str, edit: str
) -> None:
    with desk() as office:
        office.add("Rotate the leaked keys")
        office.board.faults.add(fault, times=50)
        office.work()
        edit_here(office, edit, 1)
        reconcile.reconcile(office.incident.pk, at=office.now())
        restoring.look_before_acting(at=timezone.now())
        office.turn_private()
        office.board.faults.clear()
        office.settle()
        assert not [one for one in office.board.there("acme/ops") if "keys" in one.title]
        made = Effect.objects.filter(incident=office.incident, kind="ticket", verb="create")
        assert not made.filter(spec__withdrawn=True).exists()
        assert not Effect.objects.filter(incident=office.incident, state__in=["waiting", "running", "failed"]).exists()
