"""Whatever the clocks of two hosts say, what one wrote falls due, expires or is forgotten at the other in its time."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from evidence.intake import digesting, receiving, storage, tokens
from evidence.models import Evidence
from evidence.models.evidence import State
from incidents import lifecycle
from incidents.claiming.shared_clock import clock
from incidents.drills import replays
from incidents.lifecycle import access
from incidents.models import Event, Replay
from integrations.identity import sessions
from integrations.identity.models import Session
from integrations.identity.sessions import SessionStore
from integrations.slack.interaction import inbox
from integrations.slack.listeners import late_tabs
from integrations.slack.models import OnHome
from integrations.tests.house import House
from integrations.tests.test_clock_jumps import HOUR_S, clock_off
from workflows.alerts import intake
from workflows.models import Alert, Page
from workflows.paging import match_page, twins
from workflows.reconcile import sweep

Look = Callable[[timedelta], object]
DAYS = 24 * HOUR_S
OFF = [-40 * DAYS, -HOUR_S, 0.0, HOUR_S, 40 * DAYS]


def replayed(house: House) -> Look:
    """Start the replay of an incident in which something happened every ten minutes; return how much is shown."""
    at = timezone.now() - timedelta(hours=5)
    past = lifecycle.declare("Slow", by=None, at=at, type=house.type("ambiguous"))
    for n in range(1, 6):
        lifecycle.note(past, text=f"number {n}", by=None, at=at + timedelta(minutes=10 * n))
    past = lifecycle.resolve(past, by=None, at=at + timedelta(hours=1))
    drill = replays.start(past, by=None, at=timezone.now(), speed=10)

    def look(passed: timedelta) -> int:
        replays.advance(at=timezone.now() + passed)
        return Replay.objects.get(incident=drill).shown

    return look


def overdue(house: House) -> Look:
    """Declare an incident that is owed an update after half an hour; return how often that it is due was recorded."""
    lifecycle.declare("Slow", by=None, at=timezone.now(), type=house.type("major"))
    every = house.type("major").policy.update_every_min
    assert every

    def look(passed: timedelta) -> int:
        sweep.fall_due(at=timezone.now() + passed * every)
        return Event.objects.filter(kind="due").count()

    return look


def known_alert(house: House) -> Look:
    """Record an alert of ten days ago by the pager's clock; return whether it is still known."""
    when = clock.at(timezone.now()) - timedelta(days=10)
    Alert.objects.create(pager_id="P1", title="An alert", at=when, status_at=when, status="triggered")

    def look(passed: timedelta) -> bool:
        intake.forget(at=timezone.now() + passed)
        return Alert.objects.exists()

    return look


def delivered(house: House) -> Look:
    """Take a delivery; return whether it would be taken again after others came."""
    assert inbox.take("event 1", at=timezone.now()) is not None

    def look(passed: timedelta) -> bool:
        inbox.take(f"event {passed}", at=timezone.now() + passed)
        return inbox.take("event 1", at=timezone.now() + passed) is not None

    return look


def token(house: House) -> Look:
    """Issue a token that lasts for an hour; return whether it works."""
    secret = tokens.issue(house.person("dee"), at=timezone.now(), lasts=timedelta(hours=1)).secret
    return lambda passed: tokens.find(secret, at=timezone.now() + passed) is not None


def session(house: House) -> Look:
    """Sign in; return whether the person is still signed in when others sign in elsewhere."""
    now = clock.at(timezone.now()).timestamp()
    made = SessionStore()
    made.update({SESSION_KEY: str(User.objects.create_user("ann").pk), sessions.BEGAN: now, sessions.SEEN: now})
    made.create()

    def look(passed: timedelta) -> bool:
        Session.objects.update(expire_date=F("expire_date") - passed)
        sessions.forget_ended()
        return SessionStore(made.session_key).get(SESSION_KEY) is not None

    return look


def missing_file(house: House) -> Look:
    """Receive a file that the storage then loses; return whether it is still waited for."""
    incident = lifecycle.declare("Slow", by=None, at=timezone.now(), type=house.type("ambiguous"))
    given: dict[str, Any] = {"title": "CPU", "by": house.person("dee"), "via": "upload", "at": timezone.now()}
    one = receiving.receive(incident, body=io.BytesIO(f"main {uuid4().int}".encode()), **given)
    storage.store().local(one.original).unlink()

    def look(passed: timedelta) -> bool:
        Evidence.objects.update(added_at=F("added_at") - passed, leased_until=None)
        digesting.digest(one.pk, at=timezone.now())
        return Evidence.objects.get(pk=one.pk).state == State.READING

    return look


def access_request(house: House) -> Look:
    """Request access to an incident; return whether another one may be requested."""
    access.ask_in("quiet-heron", person=house.person("eve"), because="to help", at=timezone.now())

    def look(passed: timedelta) -> bool:
        with suppress(lifecycle.Refused):
            access.ask_in("amber-otter", person=house.person("eve"), because="to help", at=timezone.now() + passed)
            return True
        return False

    return look


def home_tab(house: House) -> Look:
    """Send a tab that is not confirmed; return whether it is to be drawn again, because it can no longer appear."""
    incident = lifecycle.declare("Slow", by=None, at=timezone.now(), type=house.type("ambiguous"))
    late_tabs.send("U1", {}, shown=[incident.pk], at=timezone.now())
    return lambda passed: late_tabs.is_due(OnHome.objects.all(), {}, at=timezone.now() + passed)


def doubted_page(house: House) -> Look:
    """Doubt whether a second page was opened; return whether it is still looked for."""
    incident, now = house.declare(), clock.at(timezone.now())
    named = {"incident": incident, "key": "page/policy/P1", "dedup_key": "1", "status": Page.Status.RESOLVED}
    page = Page.objects.create(status_at=now, opened_at=now, **named)
    match_page.look_soon([page.pk], at=timezone.now())

    def look(passed: timedelta) -> bool:
        twins.forget(page.pk, at=timezone.now() + passed)
        return Page.objects.get(pk=page.pk).doubted_at is not None

    return look


def minutes(*each: float) -> list[timedelta]:
    return [timedelta(minutes=one) for one in each]


# What is written, the moments after that at which another host looks, and what it finds.
WRITTEN = {
    "replay": (replayed, minutes(0, 1.5, 2.5), [1, 2, 3]),
    "overdue": (overdue, minutes(0.9, 1.1, 3), [0, 1, 1]),
    "alert": (known_alert, minutes(0, 15 * 24 * 60, 25 * 24 * 60), [True, True, False]),
    "delivery": (delivered, minutes(1, 2 * 24 * 60, 4 * 24 * 60), [False, False, True]),
    "token": (token, minutes(1, 55, 65), [True, True, False]),
    "session": (session, minutes(1, 366 * 24 * 60), [True, False]),
    "access request": (access_request, minutes(1, 14, 16, 30), [False, False, True, False]),
    "home tab": (home_tab, minutes(0.5, 1), [False, True]),
    "doubted page": (doubted_page, minutes(1, 9, 11), [True, True, False]),
    "missing file": (missing_file, minutes(0, 9, 2), [True, True, False]),
}


@pytest.mark.parametrize("looks", OFF)
@pytest.mark.parametrize("wrote", OFF)
@pytest.mark.parametrize("what", WRITTEN)
def test_it_happens_in_its_time_whatever_the_clocks_of_hosts(
    house: House, monkeypatch: pytest.MonkeyPatch, what: str, wrote: float, looks: float
) -> None:
    monkeypatch.setattr(inbox, "SWEEP_EVERY", 1)
    write, moments, found = WRITTEN[what]
    with clock_off(wrote):
        look = write(house)
    with clock_off(looks):
        assert [look(passed) for passed in moments] == found
