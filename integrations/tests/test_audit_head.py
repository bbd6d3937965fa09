"""The audit log's newest hash is posted in the configured channel, and verify accepts it."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from audit.sealed import heads, sealing
from integrations.tests.house import House

pytestmark = pytest.mark.usefixtures("no_pages")


@pytest.mark.parametrize("named", ["vault", ""])
def test_it_is_posted_where_the_settings_say_and_nowhere_else(house: House, settings: Settings, named: str) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, audit_channel=named)
    house.slack.add_channel("vault")
    house.declare()
    sealing.seal(at=timezone.now())
    head = heads.publish(at=timezone.now())
    assert head is not None
    said = [str(one.blocks) for one in house.slack.channel("vault").messages.values()]
    assert len([one for one in said if str(head) in one]) == bool(named)
    call_command("audit", "verify", "--head", str(head), stdout=StringIO())


def test_a_channel_that_takes_no_posts_is_reported_with_the_setting_to_change(
    house: House, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, audit_channel="vault")
    house.declare()
    sealing.seal(at=timezone.now())
    assert heads.publish(at=timezone.now()) is not None
    (warned,) = [one.getMessage() for one in caplog.records if one.name == heads.__name__]
    assert warned.startswith("the audit head was not published: AUDIT_HEAD_CHANNEL (vault): ")
