"""A token is revoked during an incident, or a vendor is away for long: once it is back everything follows, once."""

from __future__ import annotations

import pytest

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.duty import Duty
from integrations.tests.house import House
from integrations.tests.test_by_hand import direct, refuse
from workflows import tasks
from workflows.effects.failing import failures, left_to_people, recovering
from workflows.models import Effect, Resource
from workflows.status import progress

CODES = ["token_revoked", "invalid_auth", "account_inactive", "token_expired"]
# The same applies to a token whose workspace accepts no calls from this network, this app or this person.
SHUT = ["accesslimited", "team_access_not_granted", "two_factor_setup_required"]
AWAY = {
    "server_error": "",
    "drop_before": "",
    "team_added_to_org": "error",  # the workspace is joining an organisation, and away until it has
    "org_login_required": "error",
    "external_channel_migrating": "error",
}


def nothing_waits(incident: Incident) -> bool:
    """Return whether everything is done, except messages that no one needs any more."""
    left = Effect.objects.filter(incident=incident).exclude(state="done")
    return not left.exclude(state="cancelled", kind__in=["direct", "post"]).exists()


@pytest.mark.parametrize("code", [*CODES, *SHUT])
def test_what_a_revoked_token_held_up_follows_by_itself_and_once(house: House, code: str) -> None:
    house.slack.faults.add("error", error=code)
    incident = house.declare("Checkout is slow")
    (failed,) = [one for one in progress.of(incident).effects if one.state == "failed" and one.kind == "channel"]
    assert ("SLACK_BOT_TOKEN" in failed.detail) == (code in CODES)
    assert "Slack responded with" not in failed.detail
    events = incident.events.count()
    for _ in range(3):
        tasks.recover()
        house.settle(incident)
    assert incident.events.count() == events, "nothing is tried, and told, again and again"

    house.slack.faults.clear()
    tasks.recover()
    incident = house.settle(incident)
    assert nothing_waits(incident)
    assert direct(house, "dee") == ""
    assert house.slack.members(house.channel(incident)) == {"firekind", "dee", "ann", "ben", "lea"}
    assert len(house.slack.texts("incidents")) == 1
    assert len(house.slack.pinned(house.channel(incident))) == 1


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("type", ["security", "major"])
def test_nobody_is_told_to_do_by_hand_what_is_done_once_the_token_works(house: House, type: str, times: int) -> None:
    if type == "major":
        incident = house.declare("Someone has our keys", type="major")
    house.slack.faults.add("error", error="token_revoked")
    incident = (
        house.declare("Someone has our keys", type=type) if type == "security" else house.retype(incident, "security")
    )
    for _ in range(times - 1):
        failures.retry_all(Effect.objects.filter(incident=incident, state="failed"), at=house.now())
        house.settle(incident)
    house.slack.faults.clear()
    tasks.recover()
    incident = house.settle(incident)
    assert house.channel(incident)
    assert direct(house, "dee") == ""
    assert not Effect.objects.filter(incident=incident, state="failed").exists()


def test_who_has_to_do_it_by_hand_is_told_once_however_often_it_failed_before(house: House) -> None:
    house.slack.faults.add("error", error="token_revoked")
    incident = house.declare("Someone has our keys", type="security")
    failures.retry_all(Effect.objects.filter(incident=incident, state="failed"), at=house.now())
    house.settle(incident)
    house.slack.faults.clear()
    refuse(house, "conversations.create", "restricted_action")
    tasks.recover()
    house.settle(incident)
    assert direct(house, "dee").count("Create a private channel named") == 1


def test_who_was_told_already_is_not_told_again_each_time_that_it_fails_once_more(house: House) -> None:
    refuse(house, "conversations.create", "restricted_action")
    incident = house.declare("Someone has our keys", type="security")
    for _ in range(2):
        assert direct(house, "dee").count("Create a private channel named") == 1
        failures.retry_all(Effect.objects.filter(incident=incident, state="failed"), at=house.now())
        house.settle(incident)
    assert Effect.objects.filter(incident=incident, state="failed").exists()
    assert direct(house, "dee").count("Create a private channel named") == 1


@pytest.mark.parametrize("type", ["security", "major"])
def test_a_channel_that_may_have_been_made_is_known_though_its_incident_is_over(house: House, type: str) -> None:
    house.slack.faults.add("drop", method="conversations.create")
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=house.now(), type=house.type(type))
    house.settle(incident, rounds=1)
    house.slack.faults.clear()
    house.slack.faults.add("error", error="token_revoked")
    house.settle(incident)
    lifecycle.resolve(incident, by=house.person("dee"), at=house.now())
    house.settle(incident)
    house.slack.faults.clear()
    tasks.recover()
    house.settle(incident)
    made = {one.id for one in house.slack.workspace.channels.values() if one.name.startswith("inc-")}
    known = set(Resource.objects.filter(incident=incident, kind="channel").values_list("external_id", flat=True))
    assert made == known
    assert not Effect.objects.filter(incident=incident, state="failed").exists()


@pytest.mark.parametrize("fault", AWAY)
def test_what_a_long_outage_held_up_follows_by_itself_and_once(house: House, fault: str) -> None:
    """Slack was away for more than an hour: every step was retried until it was given up and reported."""
    house.slack.faults.add(AWAY[fault] or fault, **({"error": fault} if AWAY[fault] else {}))
    incident = house.declare("Checkout is slow")
    house.settle(incident, rounds=2 * failures.ATTEMPTS)
    assert Effect.objects.filter(incident=incident, state="failed").exists()
    events = incident.events.count()
    for _ in range(3):
        tasks.recover()
        house.settle(incident)
    assert incident.events.count() == events, "nothing is tried, and told, again and again"

    house.slack.faults.clear()
    tasks.recover()
    incident = house.settle(incident)
    assert nothing_waits(incident)
    assert direct(house, "dee") == ""
    assert house.slack.members(house.channel(incident)) == {"firekind", "dee", "ann", "ben", "lea"}
    assert len(house.slack.texts("incidents")) == 1


@pytest.mark.parametrize("code", [code for code, kind in AWAY.items() if kind])
def test_while_slack_moves_the_workspace_nothing_fails_that_follows_soon(house: House, code: str) -> None:
    incident = house.declare("Someone has our keys", type="major")
    for method in ("conversations.create", "chat.update", "chat.postMessage", "conversations.invite"):
        house.slack.faults.add("error", method=method, error=code, times=2)
    incident = house.retype(incident, "security")
    assert not incident.events.filter(kind="failed").exists()
    assert not Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"]).exists()
    assert direct(house, "dee") == ""


def test_what_fails_again_and_again_while_the_vendor_is_well_is_left_to_people(house: House) -> None:
    house.slack.faults.add("server_error", method="bookmarks.add")
    incident = house.declare("Checkout is slow")
    house.settle(incident, rounds=2 * failures.ATTEMPTS)
    for _ in range(2 * left_to_people.TOLD):
        tasks.recover()
        house.settle(incident, rounds=2 * failures.ATTEMPTS)
    assert [one.kind for one in Effect.objects.filter(incident=incident, state="failed")] == ["bookmark"]
    assert incident.events.filter(kind="failed").count() == left_to_people.TOLD
    house.slack.calls.clear()
    tasks.recover()
    assert not list(house.slack.calls), "nobody is asked for what is left to people"


def test_what_is_left_to_people_holds_up_nothing_else(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.slack.faults.add("error", error="token_revoked")
    waits = house.declare("Search is down")
    house.slack.faults.clear()
    house.slack.faults.add("server_error", method="bookmarks.add")
    monkeypatch.setattr(recovering, "AT_ONCE", 2)
    blamed = [house.declare(f"Checkout is slow {number}") for number in range(recovering.AT_ONCE)]
    for incident in blamed:
        for _ in range(left_to_people.TOLD):
            house.settle(incident, rounds=2 * failures.ATTEMPTS)
            failures.retry_all(Effect.objects.filter(incident=incident, state="failed"), at=house.now())
        house.settle(incident, rounds=2 * failures.ATTEMPTS)
    tasks.recover()
    house.settle(waits)
    assert house.channel(waits)


def test_what_was_refused_for_another_reason_is_left_to_people(house: House) -> None:
    house.slack.faults.add("error", method="bookmarks.add", error="missing_scope")
    incident = house.declare()
    house.slack.faults.clear()
    tasks.recover()
    house.settle(incident)
    assert [one.kind for one in progress.of(incident).effects if one.state == "failed"] == ["bookmark"]


@pytest.mark.usefixtures("no_pages")
def test_a_page_that_a_revoked_key_held_up_is_opened_once_the_key_works_again(duty: Duty) -> None:
    duty.account.api_key, key = "another", duty.account.api_key
    incident = duty.house.declare(type="major")
    (failed,) = [one for one in progress.of(incident).effects if one.state == "failed"]
    assert (failed.kind, "PAGERDUTY_API_KEY" in failed.detail) == ("page", True)
    tasks.recover()
    duty.house.settle(incident)
    assert duty.times_rung("max") == 0

    duty.account.api_key = key
    tasks.recover()
    duty.house.settle(incident)
    assert duty.times_rung("max") == 1
    assert not Effect.objects.filter(incident=incident, state="failed").exists()
