"""Whatever goes wrong between a call and its record, everything ends up done and nothing exists twice."""

from __future__ import annotations

from typing import Literal

import pytest
from django.utils import timezone

from incidents.models import Incident
from integrations.tests.house import House
from workflows.effects import effect_queue
from workflows.effects.work import Outcome
from workflows.models import Effect, Limit, VendorErrors
from workflows.status import progress

METHODS = [
    "conversations.create",
    "conversations.invite",
    "conversations.setTopic",
    "bookmarks.add",
    "chat.postMessage",
    "pins.add",
]
Kind = Literal["fatal_error", "drop", "drop_before", "server_error"]
KINDS = ["fatal_error", "drop", "drop_before", "server_error"]


def nothing_twice(house: House, incident: Incident) -> None:
    name = house.channel(incident)
    assert house.slack.members(name) == {"firekind", "dee", "ann", "ben", "lea"}
    assert len(house.slack.pinned(name)) == 1
    assert len(house.slack.bookmarks(name)) == 1
    assert len(house.slack.texts("incidents")) == 1
    ours = [channel for channel in house.slack.workspace.channels.values() if channel.name.startswith("inc-")]
    assert len(ours) == 1
    assert not Effect.objects.filter(incident=incident).exclude(state="done").exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_an_unknown_outcome_is_looked_into_before_it_is_tried_again(house: House, method: str, kind: Kind) -> None:
    house.slack.faults.add(kind, method=method, times=1)
    nothing_twice(house, house.declare())


def test_a_rate_limit_stops_its_method_for_everybody_and_nothing_else(house: House) -> None:
    house.slack.faults.add("ratelimited", method="chat.postMessage", times=1, retry_after_s=30)
    incident = house.declare()
    nothing_twice(house, incident)
    assert {(one.port, one.code, one.count) for one in VendorErrors.objects.all()} == {("chat", "ratelimited", 1)}


def test_while_a_method_is_limited_its_effects_wait_and_say_until_when(house: House) -> None:
    from incidents import lifecycle
    from workflows.performing import perform
    from workflows.reconcile import reconcile

    house.slack.faults.add("ratelimited", method="chat.postMessage", times=1, retry_after_s=30)
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    perform.drain(incident.pk, side_by_side=False)
    limit = Limit.objects.get()
    waiting = [one for one in progress.of(incident).effects if one.state == "waiting"]
    assert {one.kind for one in waiting} == {"post", "pin"}
    assert any(one.detail == f"waiting for Slack until {limit.blocked_until:%H:%M:%S}" for one in waiting)
    assert house.slack.members(house.channel(incident)) == {"firekind", "dee", "ann", "ben", "lea"}
    assert house.slack.calls.count("chat.postMessage") == 1


def test_a_final_error_is_told_with_a_way_to_retry_and_blocks_nothing_else(house: House) -> None:
    house.slack.faults.add("error", method="bookmarks.add", times=1, error="permission_denied")
    incident = house.declare()
    failed = [one for one in progress.of(incident).effects if one.state == "failed"]
    assert [one.kind for one in failed] == ["bookmark"]
    assert failed[0].can_retry
    assert failed[0].detail
    assert any("Could not bookmark" in text for text in house.slack.texts(house.channel(incident)))
    assert progress.retry(failed[0].id, incident, by=house.person("dee"), at=timezone.now())
    house.settle(incident)
    assert len(house.slack.bookmarks(house.channel(incident))) == 1


def test_what_is_retried_is_what_is_wanted_by_then_whoever_comes_first(house: House) -> None:
    """A sweep may look for ready effects before the retry was planned."""
    from incidents import lifecycle
    from workflows.performing import perform

    house.slack.faults.add("error", method="chat.postMessage", times=1, error="restricted_action")
    incident = house.declare("Ann's password leaked")
    (failed,) = [one for one in progress.of(incident).effects if one.state == "failed"]
    incident = lifecycle.rename(incident, title="A password leaked", by=house.person("dee"), at=timezone.now())
    house.settle(incident)
    house.slack.calls.clear()
    assert progress.retry(failed.id, incident, by=house.person("dee"), at=timezone.now())
    perform.drain(incident.pk, side_by_side=False)
    house.settle(incident)
    said = str([call.args for call in house.slack.calls.writes() if call.method == "chat.postMessage"])
    assert "A password leaked" in said
    assert "Ann" not in said


def test_when_the_private_channel_cannot_be_made_nothing_new_is_said_in_public(house: House) -> None:
    incident = house.declare("Someone has our keys")
    house.slack.faults.add("error", method="conversations.create", error="restricted_action")
    house.slack.calls.clear()
    incident = house.retype(incident, "security")
    posts = [call for call in house.slack.calls.writes() if call.method == "chat.postMessage"]
    assert {str(call.args["channel"]) for call in posts} <= {house.slack.person("dee").id}  # direct, so no title
    assert "keys" not in str([call.args for call in posts])
    assert not house.slack.channel(house.channel(incident, 1)).is_archived
    assert "keys" not in " ".join([*house.slack.texts(house.channel(incident, 1)), *house.slack.texts("incidents")])


def test_a_name_that_somebody_has_gets_a_suffix(house: House) -> None:
    from incidents import lifecycle

    incident = lifecycle.declare("Slow", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
    house.slack.add_channel(f"inc-{incident.codename}", members=["out"])
    incident = house.settle(incident)
    assert house.channel(incident) == f"inc-{incident.codename}-2"


def test_only_the_holder_of_the_newest_claim_may_record(house: House) -> None:
    from incidents import lifecycle
    from workflows.reconcile import reconcile

    incident = lifecycle.declare("Slow", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    late = effect_queue.claim(incident.pk, at=timezone.now(), limit=1)[0]
    house.hurry(incident)
    newer = effect_queue.claim(incident.pk, at=timezone.now(), limit=1)[0]
    assert newer.effect.pk == late.effect.pk
    assert newer.unsure
    effect_queue.record_done(late, Outcome(), at=timezone.now())
    assert Effect.objects.get(pk=late.effect.pk).state == "running"


def test_nothing_is_claimed_while_newer_facts_are_not_planned(house: House) -> None:
    from incidents import lifecycle
    from workflows.reconcile import reconcile

    incident = lifecycle.declare("Slow", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    lifecycle.retype(incident, to=house.type("security"), by=house.person("dee"), at=timezone.now())
    assert not effect_queue.claim(incident.pk, at=timezone.now(), limit=10)
    incident = house.settle(incident)
    assert house.slack.channel(house.channel(incident)).is_private
    assert not house.slack.texts("incidents")


@pytest.mark.parametrize("kind", ["drop", "drop_before", "server_error", "fatal_error"])
def test_a_public_post_of_unknown_outcome_is_never_tried_again_once_it_is_private(house: House, kind: Kind) -> None:
    from incidents import lifecycle
    from workflows.performing import perform
    from workflows.reconcile import reconcile

    house.slack.faults.add(kind, method="chat.postMessage")
    incident = lifecycle.declare("Our keys", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    perform.drain(incident.pk, side_by_side=False)
    lifecycle.retype(incident, to=house.type("security"), by=house.person("dee"), at=timezone.now())
    house.slack.faults.clear()
    before = len(house.slack.texts("incidents")) + len(house.slack.texts(house.channel(incident)))
    incident = house.settle(incident)
    said = [*house.slack.texts("incidents"), *house.slack.texts(house.channel(incident, 1))]
    assert "keys" not in " ".join(said)
    assert len(said) == before + 1  # the neutral line in the old channel
    assert "keys" in " ".join(house.slack.texts(house.channel(incident)))
    assert not house.owed(incident)


def test_what_cannot_be_made_is_said_once_however_often_it_changes(house: House) -> None:
    from incidents import lifecycle

    house.slack.faults.add("error", method="chat.postMessage", times=1, error="restricted_action")
    incident = house.declare()
    for text in ("first", "second", "third"):
        lifecycle.update(incident, text=text, by=house.person("dee"), at=timezone.now())
        incident = house.settle(incident)
    assert incident.events.filter(kind="failed").count() == 1
    (failed,) = [one for one in progress.of(incident).effects if one.state == "failed"]
    assert progress.retry(failed.id, incident, by=house.person("dee"), at=timezone.now())
    incident = house.settle(incident)
    assert "third" in str(house.slack.pinned(house.channel(incident)))
