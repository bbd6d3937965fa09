"""A token is revoked in the middle of an incident: people are told, and once it works again all follows, once."""

from __future__ import annotations

import pytest

from integrations.tests.duty import Duty
from integrations.tests.house import House
from workflows import tasks
from workflows.models import Effect
from workflows.status import progress

CODES = ["token_revoked", "invalid_auth", "account_inactive", "token_expired"]


@pytest.mark.parametrize("code", CODES)
def test_what_a_revoked_token_held_up_follows_by_itself_and_once(house: House, code: str) -> None:
    house.slack.faults.add("error", error=code)
    incident = house.declare("Checkout is slow")
    (failed,) = [one for one in progress.of(incident).effects if one.state == "failed" and one.kind == "channel"]
    assert "SLACK_BOT_TOKEN" in failed.detail
    events = incident.events.count()
    for _ in range(3):
        tasks.try_credentials()
        house.settle(incident)
    assert incident.events.count() == events, "nothing is tried, and told, again and again"

    house.slack.faults.clear()
    tasks.try_credentials()
    incident = house.settle(incident)
    assert not Effect.objects.filter(incident=incident).exclude(state="done").exists()
    assert house.slack.members(house.channel(incident)) == {"firekind", "dee", "ann", "ben", "lea"}
    assert len(house.slack.texts("incidents")) == 1
    assert len(house.slack.pinned(house.channel(incident))) == 1


def test_what_was_refused_for_another_reason_is_left_to_people(house: House) -> None:
    house.slack.faults.add("error", method="bookmarks.add", error="missing_scope")
    incident = house.declare()
    house.slack.faults.clear()
    tasks.try_credentials()
    house.settle(incident)
    assert [one.kind for one in progress.of(incident).effects if one.state == "failed"] == ["bookmark"]


@pytest.mark.usefixtures("no_pages")
def test_a_page_that_a_revoked_key_held_up_is_opened_once_the_key_works_again(duty: Duty) -> None:
    duty.account.api_key, key = "another", duty.account.api_key
    incident = duty.house.declare(type="major")
    (failed,) = [one for one in progress.of(incident).effects if one.state == "failed"]
    assert (failed.kind, "PAGERDUTY_API_KEY" in failed.detail) == ("page", True)
    tasks.try_credentials()
    duty.house.settle(incident)
    assert duty.times_rung("max") == 0

    duty.account.api_key = key
    tasks.try_credentials()
    duty.house.settle(incident)
    assert duty.times_rung("max") == 1
    assert not Effect.objects.filter(incident=incident, state="failed").exists()
