"""Settings change during an incident and the processes are restarted: what was started ends as it should."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Participant
from integrations.tests.duty import Duty
from workflows import ports
from workflows.models import Effect
from workflows.reconcile import retyping, sweep

LATER = timedelta(minutes=2)
OLD = settings.FIREKIND.base_url


def titles(duty: Duty) -> list[str]:
    return [one.title for one in duty.account.account.incidents.values()]


def resolve(duty: Duty, incident: Incident) -> Incident:
    lifecycle.resolve(incident, by=duty.house.person("dee"), at=duty.house.now(), text="Rolled back")
    return duty.house.settle(incident)


@pytest.mark.parametrize("over", [False, True], ids=["open", "resolved"])
@pytest.mark.parametrize("before", ["internal", "major"], ids=["page-ended", "page-open"])
def test_titles_of_pages_are_neutral_once_pagerduty_is_connected_again(duty: Duty, before: str, over: bool) -> None:
    house = duty.house
    incident = house.declare("Keys leaked", type="major")
    if before != "major":
        incident = house.retype(incident, before)
    refused = [one for one in titles(duty) if "Keys" in one] if before != "major" else []
    with ports.using(chat=house.chat, pager=None):
        plan = retyping.preview(incident, to=house.type("security"), by=house.person("dee"))
        notes = [note.text for note in plan.notes if "PagerDuty" in note.text]
        assert any(says in note for note in notes for says in ("stay until it is", "may refuse"))
        incident = house.retype(incident, "security")
        incident = resolve(duty, incident) if over else incident
    assert incident.pk in sweep.unplanned(at=timezone.now() + LATER) or Effect.objects.filter(
        incident=incident, kind="page", state="waiting"
    )
    incident = house.settle(incident)
    assert [one for one in titles(duty) if "Keys" in one] == refused, "PagerDuty keeps those of what has ended"
    assert incident.pk not in sweep.unplanned(at=timezone.now() + LATER), "it is tried once"


def test_while_pagerduty_is_not_connected_nothing_of_a_page_is_forgotten(duty: Duty) -> None:
    """A person who came in by being paged stays in, and existing pages are not ended, nor ended again."""
    house = duty.house
    incident = house.declare(type="major")
    inside = set(Participant.objects.filter(incident=incident, left_at=None).values_list("person__name", flat=True))
    assert "Max" in inside
    with ports.using(chat=house.chat, pager=None):
        lifecycle.update(incident, text="Looking", by=None, at=house.now())
        incident = house.settle(incident)
        still = Participant.objects.filter(incident=incident, left_at=None).values_list("person__name", flat=True)
        assert set(still) == inside
        assert not Effect.objects.filter(incident=incident, state="waiting").exists()
    incident = house.settle(incident)
    assert duty.opened(incident) == ["Major incidents: triggered"]
    incident = resolve(duty, incident)
    told = incident.events.filter(kind="page").count()
    with ports.using(chat=house.chat, pager=None):
        lifecycle.reopen(incident, by=house.person("dee"), at=house.now())
        incident = house.settle(incident)
        incident = house.retype(incident, "internal")
    incident = house.settle(incident)
    assert incident.events.filter(kind="page").count() == told, "a page that has ended is not resolved again"


@pytest.mark.parametrize("connected", [True, False])
def test_a_plan_says_when_pages_are_resolved(duty: Duty, connected: bool) -> None:
    house = duty.house
    incident = house.declare(type="major")
    with ports.using(chat=house.chat, pager=duty.pager if connected else None):
        plan = retyping.preview(incident, to=house.type("internal"), by=house.person("dee"))
        later = [line for line in plan.lines if "once it is" in line.text]
        assert len(later) == (not connected)
        incident = house.retype(incident, "internal")
    incident = house.settle(incident)
    assert duty.opened(incident) == ["Major incidents: resolved"]


@pytest.mark.parametrize("private", [False, True], ids=["public", "private"])
def test_what_was_said_is_found_after_secret_key_was_changed(
    duty: Duty, monkeypatch: pytest.MonkeyPatch, private: bool
) -> None:
    """Workers are killed when the key is rotated, and leave messages whose answers were lost."""
    house = duty.house
    house.slack.faults.add("drop", method="chat.postMessage")
    incident = lifecycle.declare("Keys leaked", by=house.person("dee"), at=house.now(), type=house.type("major"))
    house.settle(incident, rounds=1)
    house.slack.faults.clear()
    assert [text for text in house.slack.texts("incidents") if "Keys" in text]
    monkeypatch.setattr(settings, "SECRET_KEY", "another " * 10)
    incident = house.retype(incident, "security") if private else house.settle(incident)
    found = [text for text in house.slack.texts("incidents") if "Keys" in text]
    assert len(found) == (0 if private else 1)
    rooms = [one.name for one in house.slack.workspace.channels.values() if incident.codename in one.name]
    said = [text for name in rooms for text in house.slack.texts(name)]
    assert len([text for text in said if "Keys" in text]) == (0 if private else 1)


def test_another_address_is_where_people_talk_about_what_is_open(duty: Duty, monkeypatch: pytest.MonkeyPatch) -> None:
    house = duty.house
    incident = house.declare(type="major")
    monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, base_url="https://moved.example"))
    assert incident.pk in sweep.unsettled()
    incident = house.settle(incident)
    channel = house.slack.channel(house.channel(incident))
    assert [one["link"] for one in channel.bookmarks] == [f"https://moved.example{incident.get_absolute_url()}"]
    stands = [*channel.messages.values(), *house.slack.messages("incidents")]
    assert f"{OLD}{incident.get_absolute_url()}" not in str([message.blocks for message in stands])
    assert incident.pk not in sweep.unsettled()


def test_another_prefix_while_a_channel_is_being_created_holds_nothing_up(
    duty: Duty, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = duty.house
    house.slack.faults.add("drop", method="conversations.create")
    incident = lifecycle.declare(
        "Checkout is slow", by=house.person("dee"), at=house.now(), type=house.type("ambiguous")
    )
    house.settle(incident, rounds=1)
    house.slack.faults.clear()
    assert Effect.objects.get(thing="channel/1").unsure
    slack = settings.FIREKIND.slack
    assert slack is not None
    now = replace(settings.FIREKIND, slack=replace(slack, channel_prefix="outage"))
    monkeypatch.setattr(settings, "FIREKIND", now)
    lifecycle.update(incident, text="Looking", by=None, at=house.now())
    incident = house.settle(incident)
    assert any("Looking" in text for text in house.slack.texts(house.channel(incident)))
    assert len([one for one in house.slack.workspace.channels.values() if incident.codename in one.name]) == 1
    assert not house.owed(incident)
