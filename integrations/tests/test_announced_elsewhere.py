"""Another announcement channel, or none, is set during an incident: our messages in the old one stay ours."""

from __future__ import annotations

import pytest

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.adapter.client import SlackChat
from integrations.tests.house import House, announce_in
from workflows import ports, tasks
from workflows.models import Effect
from workflows.reconcile import retyping

SET_TO = ["outages", ""]


@pytest.fixture
def announced(house: House) -> Incident:
    house.slack.acts.create_channel("dee", "outages")
    incident = house.declare("Checkout is slow", type="major")
    assert any("Checkout is slow" in text for text in house.slack.texts("incidents"))
    return incident


@pytest.mark.parametrize("channel", SET_TO)
def test_what_turns_private_is_withdrawn_where_it_was_announced(
    house: House, announced: Incident, monkeypatch: pytest.MonkeyPatch, channel: str
) -> None:
    announce_in(monkeypatch, channel)
    by, to = house.person("dee"), house.type("security")
    plan = retyping.preview(announced, to=to, by=by)
    assert not [line.text for line in plan.lines if "#outages" in line.text]
    assert [line.text for line in plan.lines if "#incidents" in line.text]
    assert not [line.text for line in plan.lines if "# " in f"{line.text} " or "#." in line.text]
    retyping.confirm(announced, to=to, by=by, at=house.now(), digest=plan.digest)
    house.settle(announced)
    for name in ("incidents", "outages"):
        assert not [text for text in house.slack.texts(name) if "Checkout" in text]
    assert not Effect.objects.filter(incident=announced, state="failed").exists()


@pytest.mark.parametrize("channel", SET_TO)
def test_what_is_resolved_is_said_where_it_was_announced_and_nowhere_twice(
    house: House, announced: Incident, monkeypatch: pytest.MonkeyPatch, channel: str
) -> None:
    announce_in(monkeypatch, channel)
    house.settle(announced)
    lifecycle.resolve(announced, text="Rolled back", by=house.person("dee"), at=house.now())
    house.settle(announced)
    (said,) = [text for text in house.slack.texts("incidents") if "Checkout" in text]
    assert "Resolved" in said
    assert not house.slack.texts("outages")
    assert not Effect.objects.filter(incident=announced, state="failed").exists()


@pytest.mark.parametrize("channel", SET_TO)
def test_what_could_not_be_announced_goes_where_it_is_announced_now(
    house: House, monkeypatch: pytest.MonkeyPatch, channel: str
) -> None:
    house.slack.acts.create_channel("dee", "outages")
    house.slack.acts.archive("dee", "incidents")
    incident = house.declare("Checkout is slow", type="major")
    assert Effect.objects.filter(incident=incident, state="failed", thing="announcement").exists()
    announce_in(monkeypatch, channel)
    with ports.using(chat=SlackChat(house.chat.wire, identity=house.chat.identity)):
        tasks.try_announcements()
    house.settle(incident)
    assert len([text for text in house.slack.texts("outages") if "Checkout" in text]) == bool(channel)
    assert not Effect.objects.filter(incident=incident, state="failed").exists()


def test_where_no_channel_is_set_nothing_is_announced_nor_promised(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce_in(monkeypatch, "")
    incident = house.declare("Checkout is slow", type="ambiguous")
    plan = retyping.preview(incident, to=house.type("major"), by=house.person("dee"))
    assert not [line.text for line in plan.lines if "announce" in line.text]
    retyping.confirm(incident, to=house.type("major"), by=house.person("dee"), at=house.now(), digest=plan.digest)
    house.settle(incident)
    assert not Effect.objects.filter(incident=incident).exclude(state="done").exists()
    assert not [one for one in house.slack.texts("incidents") if "Checkout" in one]
