"""A step that may have been done, and that can't be looked up, comes to rest whatever the incident does next."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incidents import lifecycle
from incidents.models import Event, Incident
from integrations.tests.house import House
from integrations.tests.test_restored import own_house
from workflows.models import Effect
from workflows.reconcile import reconcile

__all__ = ["own_house"]  # the fixture `house` of this module

LOOKS = (
    "users.conversations",
    "conversations.list",
    "conversations.info",
    "conversations.history",
    "conversations.members",
    "bookmarks.list",
)
WRITES = ("conversations.create", "chat.postMessage", "conversations.invite", "conversations.setTopic")


def _newest(incident: Incident) -> Incident:
    return Incident.objects.get(pk=incident.pk)


def _reopened(house: House, incident: Incident) -> None:
    lifecycle.resolve(incident, by=house.person("dee"), at=house.now())
    house.settle(_newest(incident))
    lifecycle.reopen(_newest(incident), by=house.person("dee"), at=house.now())


TURNS: dict[str, Callable[[House, Incident], object]] = {
    "resolved": lambda house, one: lifecycle.resolve(one, by=house.person("dee"), at=house.now()),
    "cancelled": lambda house, one: lifecycle.cancel(one, by=house.person("dee"), at=house.now()),
    "private": lambda house, one: lifecycle.retype(
        one, to=house.type("security"), by=house.person("dee"), at=house.now()
    ),
    "reopened": _reopened,
}


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("write", WRITES)
def test_what_cannot_be_looked_up_is_said_and_then_nothing_more_happens(house: House, write: str, turn: str) -> None:
    house.slack.faults.add("drop", method=write)
    for look in LOOKS:
        house.slack.faults.add("error", method=look, error="missing_scope")
    incident = lifecycle.declare("Keys leaked", by=house.person("dee"), at=house.now(), type=house.type("major"))
    reconcile.reconcile(incident.pk, at=house.now())
    house.settle(incident, rounds=1)
    TURNS[turn](house, _newest(incident))
    house.settle(_newest(incident), rounds=20)
    before = _count(incident)
    house.settle(_newest(incident))
    assert _count(incident) == before


def _count(incident: Incident) -> tuple[int, int]:
    return Event.objects.filter(incident=incident).count(), Effect.objects.filter(incident=incident).count()
