"""The announcement channel is gone for a while: once it is back, everything owed there follows, once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.adapter.client import SlackChat
from integrations.tests.house import House, announce_in
from workflows import ports, tasks
from workflows.effects.failing import announcements
from workflows.models import Effect
from workflows.performing import perform
from workflows.reconcile import reconcile
from workflows.status import progress


class Away(NamedTuple):
    """How people take the channel away, and how they bring it back."""

    lose: Callable[[House], object]
    mend: Callable[[House], object]


def _hide(house: House) -> None:
    house.slack.acts.convert("dee", "incidents", is_private=True)
    house.slack.acts.kick("dee", "incidents", "firekind")


def _replace(house: House) -> None:
    house.slack.acts.unarchive("dee", "incidents")
    house.slack.acts.rename("dee", "incidents", "incidents-of-last-year")
    house.slack.acts.archive("dee", "incidents-of-last-year")
    house.slack.acts.create_channel("dee", "incidents")


WAYS = {
    "archived": Away(
        lambda house: house.slack.acts.archive("dee", "incidents"),
        lambda house: house.slack.acts.unarchive("dee", "incidents"),
    ),
    "replaced": Away(lambda house: house.slack.acts.archive("dee", "incidents"), _replace),
    "deleted": Away(
        lambda house: house.slack.acts.delete_channel("owner", "incidents"),
        lambda house: house.slack.acts.create_channel("dee", "incidents"),
    ),
    "renamed": Away(
        lambda house: house.slack.acts.rename("dee", "incidents", "outages"),
        lambda house: house.slack.acts.rename("dee", "outages", "incidents"),
    ),
    "private": Away(_hide, lambda house: house.slack.acts.invite("dee", "incidents", ["firekind"])),
}


@pytest.fixture(autouse=True)
def owner(house: House) -> None:
    house.slack.add_person("owner", name="Owner", email="owner@example.com").is_owner = True


def look(house: House, *incidents: Incident) -> None:
    """Do what every minute brings to some process, and the resulting work."""
    with ports.using(chat=SlackChat(house.chat.wire, identity=house.chat.identity)):
        tasks.try_announcements()
    for incident in incidents:
        house.settle(incident)


def announced(house: House, incident: Incident) -> list[str]:
    return [text for text in house.slack.texts("incidents") if incident.codename in text]


@pytest.mark.parametrize("known", [True, False], ids=["announced-in-before", "never-announced-in"])
@pytest.mark.parametrize("way", WAYS)
def test_what_could_not_be_announced_follows_once_the_channel_is_back(house: House, way: str, known: bool) -> None:
    if known:
        house.declare("Before")
    WAYS[way].lose(house)
    first, second, closed, shut = (house.declare(title) for title in ("First", "Second", "Over", "Leaked"))
    lifecycle.resolve(closed, by=house.person("dee"), at=house.now(), text="It was DNS")
    house.settle(closed)
    house.retype(shut, "security")
    every = (first, second, closed, shut)
    told = {one.pk: one.events.count() for one in every}
    for _ in range(3):
        look(house, *every)
    assert {one.pk: one.events.count() for one in every} == told, "nothing is tried, and told, again and again"

    WAYS[way].mend(house)
    for _ in range(2):
        look(house, *every)
    assert [len(announced(house, one)) for one in every] == [1, 1, 0, 0]
    assert not Effect.objects.filter(incident__in=(first, second)).exclude(state="done").exists()


@pytest.mark.parametrize("over", [False, True], ids=["open", "resolved"])
def test_a_withdrawal_that_an_archived_channel_held_up_follows(house: House, over: bool) -> None:
    incident = house.declare("Checkout is slow")
    house.slack.acts.archive("dee", "incidents")
    incident = house.retype(incident, "security")
    if over:
        lifecycle.resolve(incident, by=house.person("dee"), at=house.now(), text="Closed the hole")
        incident = house.settle(incident)
    assert announced(house, incident), "an archived channel keeps its messages"
    (failed,) = [one for one in progress.of(incident).effects if one.state == "failed"]
    assert "archived" in failed.detail
    look(house, incident)
    assert announced(house, incident)

    house.slack.acts.unarchive("dee", "incidents")
    look(house, incident)
    assert announced(house, incident) == []
    assert not Effect.objects.filter(incident=incident, state="failed").exists()


@pytest.mark.parametrize("way", WAYS)
def test_that_it_could_not_be_announced_is_said_where_people_talk(house: House, way: str) -> None:
    WAYS[way].lose(house)
    incident = house.declare("Checkout is slow", type="major")
    said = " ".join(house.slack.texts(house.channel(incident)))
    assert said.count("Could not post the announcement in #incidents: ") == 1
    resolved = house.settle(lifecycle.resolve(incident, by=house.person("dee"), at=house.now()))
    assert " ".join(house.slack.texts(house.channel(resolved))).count("Could not post") == 1


def test_what_is_not_announced_asks_slack_nothing(house: House) -> None:
    house.declare("Checkout is slow")
    house.slack.calls.clear()
    tasks.try_announcements()
    assert not list(house.slack.calls)


def test_many_that_wait_cost_as_many_questions_as_one(house: House) -> None:
    house.slack.acts.archive("dee", "incidents")
    asked = []
    for title in ("First", "Second"):
        house.declare(title)
        house.slack.calls.clear()
        tasks.try_announcements()
        asked.append(len(house.slack.calls))
    assert asked[0] == asked[1]


def test_what_waits_for_a_channel_that_is_gone_holds_up_no_other(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """For example another channel was set. Messages in the old one cannot be changed, in however many incidents."""
    monkeypatch.setattr(announcements, "AT_ONCE", 2)
    stand = [house.declare(f"Checkout is slow {number}") for number in range(2 * announcements.AT_ONCE)]
    house.slack.acts.archive("dee", "incidents")
    for one in stand:
        lifecycle.set_lead(one, lead=house.person("ann"), by=None, at=house.now())
        house.settle(one)
    assert Effect.objects.filter(state="failed", thing="announcement").count() == len(stand)
    house.slack.acts.create_channel("dee", "outages")
    house.slack.acts.archive("dee", "outages")
    announce_in(monkeypatch, "outages")
    waits = house.declare("Search is down")

    house.slack.acts.unarchive("dee", "outages")
    look(house, waits)
    assert any(waits.codename in text for text in house.slack.texts("outages"))


@pytest.mark.parametrize("fault", ["drop", "drop_before", "fatal_error"])
@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_what_may_have_been_announced_is_looked_for_past_an_archived_channel_of_that_name(
    house: House, fault: str, when: str
) -> None:
    """An archived channel has no members, so no one sees or is notified by what is in it."""
    house.declare("Before")
    if when == "before":
        house.slack.acts.archive("dee", "incidents")
        _replace(house)
    house.slack.faults.add(fault, method="chat.postMessage")
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=house.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=house.now())
    perform.drain(incident.pk, side_by_side=False)
    house.slack.faults.clear()
    if when == "meanwhile":
        house.slack.acts.archive("dee", "incidents")
        _replace(house)
    for _ in range(2):
        look(house, incident)
    assert len(announced(house, incident)) == 1
    assert not Effect.objects.filter(incident=incident, thing="announcement").exclude(state="done").exists()


@pytest.mark.parametrize("way", ["archived", "renamed", "replaced"])
def test_what_may_have_been_announced_is_found_where_the_channel_was_lost_meanwhile(house: House, way: str) -> None:
    """Its answer was lost, and it became private before anyone looked for it."""
    house.slack.faults.add("drop", method="chat.postMessage")
    dee = house.person("dee")
    incident = lifecycle.declare("Keys leaked", by=dee, at=house.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=house.now())
    perform.drain(incident.pk, side_by_side=False)
    house.slack.faults.clear()
    assert announced(house, incident), "it was carried out"
    WAYS[way].lose(house)
    incident = house.retype(incident, "security")
    WAYS[way].mend(house)
    for _ in range(2):
        look(house, incident)
    assert announced(house, incident) == []
    if way == "replaced":
        old = "incidents-of-last-year"
        (effect,) = Effect.objects.filter(incident=incident, state="failed")
        assert "had this name before" in effect.error
        house.slack.acts.unarchive("dee", old)
        progress.retry(effect.pk, incident, by=dee, at=house.now())
        house.settle(incident)
        assert not [text for text in house.slack.texts(old) if incident.codename in text]
        assert not Effect.objects.filter(incident=incident, state="failed").exists()


def test_what_a_channel_in_reach_refuses_again_and_again_is_left_to_people(house: House) -> None:
    house.slack.faults.add("error", method="chat.postMessage", error="not_in_channel")
    incident = house.settle(house.declare("Checkout is slow"))
    tried = []
    for _ in range(6):
        look(house, incident)
        tried.append(house.slack.calls.count("chat.postMessage"))
    assert tried[-1] == tried[3] > tried[0]


def refused_thrice(house: House) -> Incident:
    """Announce an incident where the channel is archived, thrice; it is back now."""
    incident = house.declare("Checkout is slow")
    house.slack.acts.archive("dee", "incidents")
    lifecycle.rename(incident, title="Checkout is down", by=house.person("dee"), at=house.now())
    house.settle(incident)
    for _ in range(2):
        house.slack.acts.unarchive("dee", "incidents")
        assert announcements.retry(at=timezone.now()) == 1
        house.slack.acts.archive("dee", "incidents")
        house.settle(incident)
    house.slack.acts.unarchive("dee", "incidents")
    return incident


def test_a_channel_that_is_archived_again_and_again_is_tried_once_an_hour(house: House) -> None:
    incident = refused_thrice(house)
    assert announcements.retry(at=timezone.now()) == 0
    assert announcements.retry(at=timezone.now() + timedelta(hours=2)) == 1
    house.settle(incident)
    assert not Effect.objects.filter(incident=incident, thing="announcement", state="failed").exists()


@pytest.mark.parametrize("turns", [("reopen", "mend", "private"), ("mend", "reopen", "private"), ("private", "mend")])
def test_what_may_have_been_announced_is_remembered_by_an_incident_that_ends_meanwhile(
    house: House, turns: tuple[str, ...]
) -> None:
    """Its answer was lost, the channel was archived before anyone looked for it, and then it was resolved."""
    dee = house.person("dee")
    house.slack.faults.add("drop", method="chat.postMessage")
    incident = lifecycle.declare("Keys leaked", by=dee, at=house.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=house.now())
    perform.drain(incident.pk, side_by_side=False)
    house.slack.faults.clear()
    WAYS["archived"].lose(house)
    lifecycle.resolve(incident, by=dee, at=house.now())
    incident = house.settle(incident)
    if turns[0] == "private":
        lifecycle.reopen(incident, by=dee, at=house.now())
        incident = house.settle(incident)
    for turn in turns:
        if turn == "mend":
            WAYS["archived"].mend(house)
            look(house, incident)
        elif turn == "reopen":
            lifecycle.reopen(incident, by=dee, at=house.now())
        else:
            incident = house.retype(incident, "security")
        incident = house.settle(Incident.objects.get(pk=incident.pk))
        assert len(announced(house, incident)) <= 1, "it is not announced twice"
    for _ in range(2):
        look(house, incident)
    assert announced(house, incident) == []
