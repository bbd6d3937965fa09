"""While the database is away, whoever asks for something in Slack is told what happened and what to do by hand."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
from django.db import OperationalError

from incidents.models import Incident
from incidents.outages import database_watch, outage_answer
from integrations.slack.interaction import inbox
from integrations.slack.tests.door import Door

SAYS = outage_answer.HAPPENED


def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it known that the database is away."""
    monkeypatch.setattr(database_watch, "is_away", lambda: True)


def found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the database go away in the middle of what is asked."""

    def fails(*_: object, **__: object) -> None:
        raise OperationalError from psycopg.errors.AdminShutdown()

    monkeypatch.setattr(database_watch, "answers", lambda: False)
    monkeypatch.setattr(inbox, "take", fails)


@pytest.mark.parametrize("outage", [known, found_out])
def test_everyone_is_told_where_they_asked(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch, outage: Callable[[pytest.MonkeyPatch], None]
) -> None:
    channel = door.house.channel(incident)
    door.press("ann", "firekind:update", channel=channel)
    door.slack.take_deliveries()
    outage(monkeypatch)

    assert SAYS in door.command("ben", "declare nobody hears this")
    door.submit("ann", text="nobody hears this")
    assert SAYS in door.reads(door.modal("ann"))
    door.press("lea", "firekind:resolve", channel=channel)
    assert SAYS in door.slack.ephemerals("lea")[-1].text
    assert Incident.objects.count() == 1

    door.slack.acts.leave("lea", channel)
    assert 503 in door.deliver(), "Slack sends again that somebody left"
