"""A command whose answer was lost, as when its process was killed, is typed again: it is done once, and says so."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest
from django.db import OperationalError

from incidents.models import Event, Incident
from incidents.outages import database_watch
from integrations.slack.listeners import typed_again
from integrations.slack.listeners.command_table import COMMANDS
from integrations.slack.models import Delivery
from integrations.slack.tests.door import Door

# What is typed for each command that acts at once.
TYPED = {
    "declare": "declare search is slow",
    "drill": "drill search is slow",
    "update": "update we roll back; impact: half of them; next: roll back",
    "impact": "impact half of them",
    "next": "next roll back",
    "lead": "lead",
    "note": "note it was the cache",
    "task": "task call the bank",
    "followup": "followup write a test",
    "rename": "rename Search is slow",
    "summary": "summary The cache was cold",
    "services": "services search",
    "mitigated": "mitigated it was rolled back",
    "resolved": "resolved it was the cache",
    "cancel": "cancel it was nothing",
}
AGAIN = "Nothing was done now"


@pytest.fixture(autouse=True)
def forgotten() -> None:
    """Forget what this process answered in other tests."""
    typed_again._lately.clear()


def written() -> tuple[int, int]:
    """Return how many entries and incidents there are."""
    return Event.objects.count(), Incident.objects.count()


@pytest.mark.parametrize("typed", TYPED.values(), ids=TYPED.keys())
def test_it_is_done_once_and_its_author_is_told_where(
    door: Door, incident: Incident, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, before = door.house.channel(incident), written()
    with monkeypatch.context() as killed:
        killed.setattr(typed_again, "forget_once_answered", lambda _: None)
        door.command("ann", typed, channel=channel)
    done = written()
    assert done > before
    said = door.command("ann", typed, channel=channel)
    assert (written(), AGAIN in said) == (done, True), said
    acted_on = incident if done[1] == before[1] else Incident.objects.latest("pk")
    assert acted_on.codename in said
    assert AGAIN not in door.command("ann", typed, channel=channel)


@pytest.mark.parametrize("typed", ["declare search is slow", "note it was the cache"])
def test_what_was_answered_is_done_again_when_it_is_typed_again(door: Door, incident: Incident, typed: str) -> None:
    channel, counts = door.house.channel(incident), [written()]
    for _ in range(2):
        assert AGAIN not in door.command("ann", typed, channel=channel)
        counts.append(written())
    assert len(set(counts)) == 3
    door.command("ann", f"note {incident.codename} typed elsewhere")
    assert not Delivery.objects.filter(key__startswith="typed").exists()


def test_only_the_same_words_by_the_same_person_soon_are_the_same(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = door.house.channel(incident)
    monkeypatch.setattr(typed_again, "forget_once_answered", lambda _: None)
    door.command("ann", "note it was the cache", channel=channel)
    assert AGAIN not in door.command("ben", "note it was the cache", channel=channel)
    assert AGAIN not in door.command("ann", "note it was the cache of sessions", channel=channel)
    for one in Delivery.objects.filter(key__startswith="typed"):
        one.received_at -= typed_again.REPEATED_WITHIN + timedelta(seconds=1)
        one.save()
    assert AGAIN not in door.command("ann", "note it was the cache", channel=channel)


def test_what_was_recorded_as_the_database_went_away_is_done_once(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: object) -> None:
        raise OperationalError from psycopg.errors.AdminShutdown()

    channel = door.house.channel(incident)
    with monkeypatch.context() as away:
        away.setattr(typed_again, "forget_once_answered", gone)
        away.setattr(database_watch, "answers", lambda: False)
        assert "may not have been" in door.command("ann", "note it was the cache", channel=channel)
    done = written()
    assert AGAIN in door.command("ann", "note it was the cache", channel=channel)
    assert written() == done


def test_an_answer_that_took_longer_than_slack_waits_is_a_lost_one(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = door.house.channel(incident)
    with monkeypatch.context() as frozen:
        frozen.setattr(typed_again, "IN_TIME_S", -1.0)
        door.command("ann", "note it was the cache", channel=channel)
    assert AGAIN in door.command("ann", "note it was the cache", channel=channel)


def test_what_only_says_something_is_not_remembered(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = door.house.channel(incident)
    monkeypatch.setattr(typed_again, "forget_once_answered", lambda _: None)
    door.command("ann", "lead", channel=channel)
    door.command("ann", "lead me", channel=channel)
    for typed in ("status", "timeline", "list", "help", "oncall", "declare", "lead me", "rename"):
        said = [door.command("ann", typed, channel=channel) for _ in range(2)]
        assert AGAIN not in said[0] + said[1], typed


@pytest.mark.parametrize(
    "typed", ["replay nothing-there", "replay {codename} soon", "replay {codename}", "replay a b c"]
)
def test_what_opened_nothing_is_not_said_to_be_done(
    door: Door, incident: Incident, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, before = door.house.channel(incident), written()
    monkeypatch.setattr(typed_again, "forget_once_answered", lambda _: None)
    for _ in range(2):
        assert AGAIN not in door.command("ann", typed.format(codename=incident.codename), channel=channel)
    assert written() == before


def test_every_command_that_opens_an_incident_says_so() -> None:
    assert {one.name for one in COMMANDS if one.declares} == {"declare", "drill", "replay"}
