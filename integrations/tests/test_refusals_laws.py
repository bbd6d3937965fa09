"""Slack refuses one method for good, with a documented error, at any point of a move into a private channel.

Nothing more is posted in public, someone is told what to do, nothing is requested again, and all follows once it is
fixed. Other tests cover errors that mean *it already is so*, or that are about one person.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.adapter.inviting import OF_A_PERSON
from integrations.slack.protocol.rules import COMMON_ERRORS, RETRYABLE, RULES
from integrations.tests.house import House
from workflows import tasks
from workflows.effects import effect_queue
from workflows.effects.failing import left_to_people
from workflows.models import Effect, Resource
from workflows.performing import perform
from workflows.reconcile import reconcile, retyping
from workflows.status import missing, progress

SO_ALREADY: Final = OF_A_PERSON | {"already_archived", "already_pinned", "message_not_found", "not_found"}
METHODS: Final = (
    "conversations.create",
    "conversations.invite",
    "conversations.setTopic",
    "conversations.archive",
    "chat.postMessage",
    "chat.update",
    "bookmarks.add",
    "bookmarks.remove",
    "pins.add",
)
DONE: Final = 3  # steps of the move, before Slack refuses
SECRET: Final = "keys"


def declare(house: House) -> Incident:
    incident = house.declare("Someone has our keys")
    lifecycle.update(incident, text="The keys are in the log", by=house.person("dee"), at=house.now())
    return house.settle(incident)


def from_the_start(house: House, refuse: Callable[[], object]) -> tuple[Incident, int]:
    refuse()
    return _moved(house, declare(house))


def once_confirmed(house: House, refuse: Callable[[], object]) -> tuple[Incident, int]:
    incident = declare(house)
    refuse()
    return _moved(house, incident)


def half_carried_out(house: House, refuse: Callable[[], object]) -> tuple[Incident, int]:
    incident, to, by = declare(house), house.type("security"), house.person("dee")
    plan, before = retyping.preview(incident, to=to, by=by), house.slack.calls.total
    retyping.confirm(incident, to=to, by=by, at=house.now(), digest=plan.digest)
    reconcile.reconcile(incident.pk, at=timezone.now())
    for _ in range(DONE):
        for work in effect_queue.claim(incident.pk, at=timezone.now(), limit=1):
            perform.perform(house.chat, work, kinds=[])
    refuse()
    return house.settle(incident), before


def _moved(house: House, incident: Incident) -> tuple[Incident, int]:
    before = house.slack.calls.total
    return house.retype(incident, "security"), before


MOMENTS: Final = (from_the_start, once_confirmed, half_carried_out)


def an_error(method: str, moment: str) -> str:
    """Return one of the method's final errors, a different one at each moment."""
    every = (RULES[method].errors | COMMON_ERRORS) - SO_ALREADY - RETRYABLE - left_to_people.REFUSED
    return random.Random(f"{method} {moment}").choice(sorted(every))


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("method", METHODS)
def test_whatever_slack_refuses_a_move_stays_private_is_told_and_follows_once_it_can(
    house: House, method: str, moment: Callable[[House, Callable[[], object]], tuple[Incident, int]]
) -> None:
    code = an_error(method, moment.__name__)
    incident, before = moment(house, lambda: house.slack.faults.add("error", method=method, error=code))
    assert not said_in_public(house, before), code
    failed = Effect.objects.filter(incident=incident, state="failed")
    assert all(one.error and one.error_code == code for one in failed)
    told = {event.data["effect"] for event in incident.events.filter(kind="failed")}
    assert {one.pk for one in failed if one.kind not in {"counted", "post"}} <= told

    asked = house.slack.calls.count(method)
    tasks.recover()
    incident = house.settle(incident)
    assert house.slack.calls.count(method) == asked, "nothing is asked for again and again"

    house.slack.faults.clear()
    for one in failed:
        progress.retry(one.pk, incident, by=house.person("dee"), at=timezone.now())
    for gap in Resource.objects.filter(incident=incident, key__startswith="gap/empty/"):
        missing.mended(gap.key, incident, by=house.person("dee"), at=timezone.now())
    stands(house, house.settle(incident))


def said_in_public(house: House, before: int) -> list[str]:
    """Return what was posted where everyone can read it, since a call."""
    open_ones = {one.id for one in house.slack.workspace.channels.values() if one.kind == "public"}
    open_ones |= {f"#{one.name}" for one in house.slack.workspace.channels.values() if one.kind == "public"}
    calls = [one for one in house.slack.calls.since(before) if RULES[one.method].writes]
    return [str(one.args) for one in calls if one.args.get("channel") in open_ones and SECRET in str(one.args)]


def stands(house: House, incident: Incident) -> None:
    """Check that people are in a complete private channel, and that none of it is public."""
    assert not Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"]).exists()
    slack, name = house.slack, house.channel(incident)
    assert slack.channel(name).is_private
    assert slack.members(name) == {"firekind", "dee", "sam", "sia", "pat"}
    assert (len(slack.pinned(name)), len(slack.bookmarks(name)), bool(slack.channel(name).topic.value)) == (1, 1, True)
    assert sum("in the log" in text for text in slack.texts(name)) <= 1
    for other in slack.workspace.channels.values():
        if other.kind == "public":
            assert SECRET not in str([[one.text, one.blocks] for one in other.messages.values()])
            assert other.is_archived == (other.name != "incidents")
            assert not slack.bookmarks(other.name)
