"""Owners of late follow-ups get one message a week, whatever fails, and it names no private incident."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from django.conf import LazySettings, settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Participant, Person
from integrations.slack.listeners import waiting
from integrations.tests.house import House
from integrations.tests.test_clock_jumps import HOUR_S, clock_off
from integrations.tests.test_missed import read
from workflows import ports
from workflows.chat_port import Chat
from workflows.planning.wording.card import Card
from workflows.reconcile import weekly

pytestmark = pytest.mark.usefixtures("no_pages")

WEDNESDAY = datetime(2026, 11, 25, 9, tzinfo=UTC)
MONDAY = datetime(2026, 11, 30, tzinfo=UTC)
HOUR = timedelta(minutes=59)
WEEK = timedelta(weeks=1)
OFF = [-1680 * HOUR_S, -HOUR_S, -60.0, 0.0, 60.0, HOUR_S, 1680 * HOUR_S]  # up to ten weeks


def late(house: House, incident: Incident, *, owner: str = "ben", due: date = date(2026, 11, 20)) -> int:
    """Give a person a follow-up that is past its due day."""
    what: dict[str, Any] = {"text": "write the hidden-words runbook", "owner": house.person(owner), "due_on": due}
    return lifecycle.add_followup(incident, by=house.person("dee"), at=WEDNESDAY, **what).n


def messages(house: House, handle: str) -> int:
    """Count the app's direct messages to a person."""
    person = house.slack.person(handle).id
    found = [one for one in house.slack.workspace.channels.values() if one.kind == "im" and person in one.members]
    return sum(len(one.messages) for one in found)


def test_once_a_week_while_it_is_late(house: House) -> None:
    incident = house.declare()
    n = late(house, incident)
    late(house, incident, owner="ann", due=date(2026, 12, 24))
    looks = [WEDNESDAY, WEDNESDAY + timedelta(days=2), WEDNESDAY + WEEK, WEDNESDAY + WEEK + timedelta(days=4)]
    assert [weekly.remind(at=at) for at in looks] == [1, 0, 1, 0]
    said = read(house, "ben")
    assert f"{incident.codename}, follow-up {n}: was due 2026-11-20" in said
    assert "hidden-words" not in said  # could not be redacted there
    assert not messages(house, "ann")
    lifecycle.finish_followup(incident, n=n, by=house.person("ben"), at=WEDNESDAY)
    assert weekly.remind(at=WEDNESDAY + 2 * WEEK) == 0


@pytest.mark.parametrize("first", [-HOUR, HOUR], ids=str)
@pytest.mark.parametrize("then", [-HOUR, 2 * HOUR, timedelta(days=3)], ids=str)
def test_a_week_lies_between_two_whenever_the_first_is_sent_and_clocks_are_set(
    house: House, first: timedelta, then: timedelta
) -> None:
    late(house, house.declare())
    at = MONDAY + first
    assert weekly.remind(at=at) == 1
    looks = [at + then * n for n in range(1, 99) if at + then * n < at + WEEK]
    assert sum(weekly.remind(at=one) for one in looks) == 0
    assert weekly.remind(at=at + WEEK) == 1


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Niue", "", "Nowhere/At_All"])
def test_a_day_is_over_where_its_owner_is_whoever_says_so(house: House, zone: str, settings: LazySettings) -> None:
    settings.ROOT_URLCONF = "config.urls"  # its pages are requested too
    incident, now = house.declare(), timezone.now()
    days = {"ann": -1, "ben": 0, "eve": 1}
    here = now.astimezone(ZoneInfo(zone if zone.startswith("Pacific") else "UTC")).date()
    for handle, ahead in days.items():
        late(house, incident, owner=handle, due=now.date() + timedelta(days=ahead))
        Person.objects.filter(pk=house.person(handle).pk).update(zone=zone)
    weekly.remind(at=now)
    for handle, ahead in days.items():
        is_late = now.date() + timedelta(days=ahead) < here
        on_home = any("It is late." in one.says for one in waiting.on(house.person(handle), at=now))
        assert (messages(house, handle), on_home, on_the_page(house.person(handle), zone)) == (is_late,) * 3, handle


def on_the_page(person: Person, zone: str) -> bool:
    """Return whether the page that a reminder links to lists anything in a browser with this time zone."""
    person.user = User.objects.create_user(person.name)
    person.save()
    browser = Client()
    browser.force_login(person.user)
    browser.cookies[f"{settings.COOKIE_PREFIX}zone"] = zone
    return "was due" in browser.get("/follow-ups?mine=1&late=1").content.decode()


class Dying:
    """The chat of a process that dies right after sending."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat

    def tell(self, person: str, card: Card, *, mark: str) -> None:
        """Send it, and die before it is recorded."""
        self.chat.tell(person, card, mark=mark)
        raise KeyboardInterrupt


def test_who_dies_between_the_call_and_its_record_sends_no_second_one(house: House) -> None:
    late(house, house.declare())
    with ports.using(chat=cast("Chat", Dying(house.chat))), pytest.raises(KeyboardInterrupt):
        weekly.remind(at=WEDNESDAY)
    assert weekly.remind(at=WEDNESDAY) == 0
    assert messages(house, "ben") == 1


def test_what_the_chat_surely_did_not_take_is_sent_later_and_an_unknown_outcome_is_not(house: House) -> None:
    late(house, house.declare())
    house.slack.faults.add("ratelimited", method="chat.postMessage", times=1, retry_after_s=30)
    assert [weekly.remind(at=WEDNESDAY + timedelta(hours=hour)) for hour in (0, 1, 2)] == [0, 1, 0]
    house.slack.faults.add("drop", method="chat.postMessage", times=1)
    assert [weekly.remind(at=WEDNESDAY + WEEK + timedelta(hours=hour)) for hour in (0, 1)] == [0, 0]
    assert messages(house, "ben") == 2


def test_a_private_incident_is_counted_for_who_may_see_it_and_else_as_if_there_were_none(house: House) -> None:
    incident = house.declare()
    late(house, incident)
    late(house, incident, owner="ann")
    house.retype(incident, "security", by="dee", bring=["ben"])
    assert not Participant.objects.filter(incident=incident, person=house.person("ann"), left_at=None).exists()
    assert weekly.remind(at=WEDNESDAY) == 1
    assert "1 in private incidents" in read(house, "ben")
    assert incident.codename not in read(house, "ben").split("A follow-up of yours")[-1]
    assert not messages(house, "ann")


class Meanwhile:
    """A chat that takes so long over one message that the next look begins."""

    def __init__(self, chat: Chat, off_s: float) -> None:
        self.chat, self.off_s, self.is_first = chat, off_s, True

    def tell(self, person: str, card: Card, *, mark: str) -> None:
        """Send it, while another process looks."""
        if self.is_first:
            self.is_first = False
            weekly.remind(at=MONDAY + timedelta(seconds=self.off_s))
        self.chat.tell(person, card, mark=mark)


@pytest.mark.parametrize("off_s", [-60.0, 60.0, HOUR_S])
def test_two_looks_at_once_remind_once_though_a_week_begins_between_them(house: House, off_s: float) -> None:
    incident, people = house.declare(), ("ann", "ben", "cat", "eve")
    for handle in people:
        late(house, incident, owner=handle)
    with ports.using(chat=cast("Chat", Meanwhile(house.chat, off_s))):
        weekly.remind(at=MONDAY - timedelta(seconds=30))
    assert [messages(house, one) for one in people] == [1, 1, 1, 1]


@pytest.mark.parametrize("ahead", [timedelta(hours=1), timedelta(days=3), timedelta(days=400)], ids=str)
def test_after_a_clock_was_ahead_reminders_follow_weekly(house: House, ahead: timedelta) -> None:
    late(house, house.declare())
    sent = sum(weekly.remind(at=MONDAY + ahead + timedelta(hours=n)) for n in range(3))
    assert sent == 1
    looks = [weekly.remind(at=MONDAY + timedelta(hours=n)) for n in range(3 * 7 * 24)]
    said = [n for n, one in enumerate(looks) if one]
    assert len(said) in {2, 3}
    assert all(later - earlier >= 7 * 24 for earlier, later in pairwise(said))


@pytest.mark.parametrize("off_s", OFF)
@pytest.mark.parametrize("is_off_first", [True, False])
def test_hosts_whose_clocks_differ_remind_once(house: House, off_s: float, is_off_first: bool) -> None:
    late(house, house.declare(), due=MONDAY.date() - timedelta(weeks=52))
    hosts = [off_s, 0.0] if is_off_first else [0.0, off_s]
    for host in [*hosts, *hosts]:
        with clock_off(host):
            weekly.remind(at=timezone.now())
    assert messages(house, "ben") == 1
