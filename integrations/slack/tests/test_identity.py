from __future__ import annotations

import pytest

from integrations.slack import fake
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.straight import StraightWire


def test_addresses_need_no_call_and_are_the_workspaces_own_once_it_was_asked() -> None:
    slack = fake.FakeSlack()
    identity = Identity(StraightWire(slack, token="xoxb-sandbox"), team_id="T1")
    assert identity.channel_url("C1") == "https://slack.com/app_redirect?channel=C1&team=T1"
    assert not list(slack.calls)
    identity.ask()
    identity.ask()
    assert identity.channel_url("C1") == "https://sandbox.slack.com/archives/C1"
    assert identity.message_url("C1", "1700000000.000100") == "https://sandbox.slack.com/archives/C1/p1700000000000100"
    assert slack.calls.count("auth.test") == 1
    assert identity.team_id == "T1", "settings win"
    assert identity.bot_user_id == fake.BOT_USER


def test_the_sandbox_has_an_address_of_its_own() -> None:
    wire = StraightWire(fake.FakeSlack(), token="xoxb-sandbox")
    identity = Identity(wire, sandbox_url="http://127.0.0.1:8001")
    assert identity.channel_url("C1") == "http://127.0.0.1:8001/?in=C1"


@pytest.mark.parametrize("lacks", [set(), {"usergroups:write", "pins:write"}])
def test_as_it_starts_a_process_logs_what_an_older_app_lacks(lacks: set[str], caplog: pytest.LogCaptureFixture) -> None:
    slack = fake.FakeSlack(scopes=fake.BOT_SCOPES - lacks)
    Identity(StraightWire(slack, token="xoxb-sandbox"))._try()
    said = [one.getMessage() for one in caplog.records if "older than its manifest" in one.getMessage()]
    assert len(said) == bool(lacks)
    assert all(", ".join(sorted(lacks)) in one for one in said)
