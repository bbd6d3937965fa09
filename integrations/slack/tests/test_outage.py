"""While the database is away, a person who asks for something in Slack is told what happened and what to do by hand."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
from django.db import OperationalError

from incidents.models import Incident
from incidents.outages import database_watch, outage_answer
from integrations.slack.fake import screens
from integrations.slack.interaction import inbox, replying
from integrations.slack.tests.door import Door

SAYS = outage_answer.HAPPENED


def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mark the database as known to be away."""
    monkeypatch.setattr(database_watch, "is_away", lambda: True)


def found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the database go away in the middle of a request."""

    def fails(*_: object, **__: object) -> None:
        raise OperationalError from psycopg.errors.AdminShutdown()

    monkeypatch.setattr(database_watch, "answers", lambda: False)
    for taking in ("take", "take_command"):
        monkeypatch.setattr(inbox, taking, fails)


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


def broke_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the database go away after the request is recorded and before it is answered."""

    def fails(*_: object, **__: object) -> None:
        raise OperationalError from psycopg.errors.AdminShutdown()

    monkeypatch.setattr(database_watch, "answers", lambda: False)
    monkeypatch.setattr(replying, "to_modal", fails)


def slipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a bug break off the answer after the request is recorded."""

    def fails(*_: object, **__: object) -> None:
        raise KeyError

    for answer in ("to_modal", "to_command", "to_button"):
        monkeypatch.setattr(replying, answer, fails)


@pytest.mark.parametrize("outage", [known, found_out, broke_off, slipped])
def test_a_form_comes_back_with_what_was_typed_and_is_done_once(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch, outage: Callable[[pytest.MonkeyPatch], None]
) -> None:
    door.command("ann", "note", channel=door.house.channel(incident))
    with monkeypatch.context() as broken:
        outage(broken)
        door.submit("ann", text="all that I found out in an hour")
    assert replying.BACK in door.reads(door.modal("ann"))

    door.slack.acts.close("ann")
    (typed,) = door.modal("ann")["state"]["values"]["text"].values()
    assert typed["value"] == "all that I found out in an hour"
    door.submit("ann")
    assert door.slack.modal("ann") is None
    assert [text for kind, text in door.told(incident) if kind == "noted"] == ["all that I found out in an hour"]


def test_no_fourth_window_is_put_on_three(door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch) -> None:
    door.command("ann", "note", channel=door.house.channel(incident))
    form = {
        key: door.modal("ann")[key] for key in ("type", "callback_id", "title", "submit", "private_metadata", "blocks")
    }
    for _ in range(2):
        screens.push_modal(door.slack, door.slack.person("ann").id, form)
    known(monkeypatch)
    answer = door.submit("ann", text="nobody hears this")
    assert answer["response_action"] == "update"
    assert SAYS in door.reads(door.modal("ann"))
    assert replying.BACK not in door.reads(door.modal("ann"))


def test_what_is_said_after_a_slip_of_ours_is_true_though_it_was_recorded(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = door.house.channel(incident)
    slipped(monkeypatch)
    assert "may not have been recorded" in door.command("ann", "note it was the cache", channel=channel)
    assert ("noted", "it was the cache") in door.told(incident)
