"""Opening up publishes one message in one new public channel and says so once; private content stays where it is."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.forms import access
from incidents.lifecycle import opening
from incidents.models import Incident, Summary
from integrations.tests.house import House, announce_in
from workflows import ports
from workflows.effects.failing import announcements
from workflows.models import Effect
from workflows.status import progress

TEXT = "A key was public for an hour. Nobody used it."


def publish(house: House, incident: Incident, text: str = TEXT) -> Summary:
    row = lifecycle.open_up(incident, summary=text, by=house.person("sam"), at=timezone.now())
    house.settle(incident)
    done = lifecycle.publish(incident, summary=row.pk, by=house.person("dee"), at=timezone.now())
    house.settle(incident)
    return done


def test_nothing_is_public_before_it_was_confirmed(house: House) -> None:
    incident = house.declare("our keys leaked", type="security")
    before = set(house.slack.workspace.channels)
    lifecycle.open_up(incident, summary=TEXT, by=house.person("sam"), at=timezone.now())
    house.settle(incident)
    assert set(house.slack.workspace.channels) == before
    assert any(TEXT in text for text in house.slack.texts(house.channel(incident)))


def test_the_new_channel_holds_the_summary_and_nothing_else(house: House) -> None:
    incident = house.declare("our keys leaked", type="security")
    done = publish(house, incident)
    channel = house.slack.channel(f"inc-{done.codename}")
    assert not channel.is_private
    (said,) = house.slack.messages(f"inc-{done.codename}")
    assert TEXT in said.text
    for word in ("leaked", incident.codename, "Sam", "Dee"):
        assert word not in str(said)
    assert house.slack.members(f"inc-{done.codename}") == {"firekind"}
    assert house.slack.channel(house.channel(incident)).is_private


def announced(house: House) -> list[str]:
    """Return the messages in the announcement channel."""
    return house.slack.texts("incidents")


def test_its_channel_is_announced_once_and_leads_to_nothing_else(house: House) -> None:
    incident = house.declare("our keys leaked", type="security")
    assert not announced(house)
    done = publish(house, incident)
    (said,) = house.slack.messages("incidents")
    assert done.get_absolute_url() in str(said)
    assert house.slack.channel(f"inc-{done.codename}").id in str(said)
    for word in ("leaked", incident.codename, "Security", "Sam", "Dee", TEXT):
        assert word not in str(said)
    publish(house, incident, "It was used after all.")
    assert [one.ts for one in house.slack.messages("incidents")] == [said.ts]


def test_a_summary_stands_where_it_cannot_be_announced(house: House) -> None:
    house.slack.acts.archive("dee", "incidents")
    incident = house.declare("our keys leaked", type="security")
    done = publish(house, incident)
    assert len(house.slack.messages(f"inc-{done.codename}")) == 1
    (failed,) = [one for one in progress.of(incident).effects if one.state == "failed"]
    assert failed.can_retry


def test_nothing_is_announced_where_no_channel_is_set(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    announce_in(monkeypatch, "")
    incident = house.declare("our keys leaked", type="security")
    done = publish(house, incident)
    assert len(house.slack.messages(f"inc-{done.codename}")) == 1
    assert not announced(house)
    assert not house.owed(incident)
    assert {one.state for one in progress.of(incident).effects} <= {"done"}


def test_another_summary_takes_its_place(house: House) -> None:
    incident = house.declare("our keys leaked", type="security")
    publish(house, incident)
    house.slack.calls.clear()
    done = publish(house, incident, "It was used after all.")
    (said,) = house.slack.messages(f"inc-{done.codename}")
    assert "It was used after all." in said.text
    assert "conversations.create" not in house.writes()


def test_one_that_has_ended_opens_up_as_well(house: House) -> None:
    incident = house.declare("our keys leaked", type="security")
    lifecycle.resolve(incident, by=house.person("dee"), at=timezone.now())
    lifecycle.archive_channel(incident, by=house.person("dee"), at=timezone.now())
    house.settle(incident)
    done = publish(house, incident)
    assert len(house.slack.messages(f"inc-{done.codename}")) == 1


@pytest.mark.parametrize("ended", [False, True])
def test_a_summary_that_an_archived_channel_refused_follows_once_that_is_back(house: House, ended: bool) -> None:
    incident = house.declare("our keys leaked", type="security")
    done = publish(house, incident)
    (channel,) = [one for one in house.slack.workspace.channels.values() if done.codename in one.name]
    house.slack.acts.join("dee", channel.id)
    house.slack.acts.archive("dee", channel.id)
    again = publish(house, incident, "It was a wrong setting.")
    assert again.codename == done.codename
    assert Effect.objects.filter(incident=incident, thing="summary", state="failed").exists()
    if ended:
        lifecycle.resolve(incident, by=house.person("dee"), at=timezone.now())
        house.settle(incident)
    assert announcements.retry(at=timezone.now()) == 0
    house.slack.acts.unarchive("dee", channel.id)
    assert announcements.retry(at=timezone.now()) == 1
    house.settle(incident)
    assert "It was a wrong setting." in str([(one.text, one.blocks) for one in house.slack.messages(channel.id)])


@pytest.mark.parametrize("channel", ["incidents", ""])
def test_where_it_is_published_is_said_before_and_is_where_it_is(
    house: House, channel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first time in a new channel, which is announced where anything is; then in place of the previous summary."""
    announce_in(monkeypatch, channel)
    incident = house.declare("our keys leaked", type="security")
    says = opening.where(incident)
    assert says.startswith("on a page and in a new public channel under a different codename")
    assert ("#incidents" in says) == bool(channel)
    done = publish(house, incident)
    assert len(house.slack.texts("incidents")) == bool(channel)
    says = opening.where(incident)
    assert says == f"in place of the one before, on its page and in #inc-{done.codename}"
    house.slack.calls.clear()
    publish(house, incident, "Nobody used the key.")
    public = {call.args["channel"] for call in house.slack.calls.writes() if "Nobody used" in str(call.args)}
    assert house.slack.channel(f"inc-{done.codename}").id in public
    assert not [call for call in house.slack.calls if call.method == "conversations.create"]


def test_without_slack_no_channel_is_promised_at_once(house: House) -> None:
    incident = house.declare("our keys leaked", type="security")
    with ports.using(chat=None):
        assert "Slack is not connected" in opening.where(incident)
        publish(house, incident)
    house.settle(incident)
    assert [one for one in house.slack.workspace.channels.values() if one.kind == "public" and one.name != "incidents"]


@pytest.mark.parametrize("form", ["open_up", "publish"])
def test_the_forms_of_the_web_say_it_too(house: House, form: str) -> None:
    incident = house.declare("our keys leaked", type="security")
    lifecycle.open_up(incident, summary=TEXT, by=house.person("sam"), at=timezone.now())
    name = {"open_up": "OpenUpForm", "publish": "PublishForm"}[form]
    explains = getattr(access, name)(incident=incident, person=house.person("dee"), asked={}).explains
    assert "with a link in #incidents" in explains
