"""Another Slack workspace is connected during incidents: what is in the previous one is out of reach."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Event, Incident
from integrations.check_result import CheckResult
from integrations.slack import checking, fake
from integrations.slack.protocol.setup import Setup
from integrations.tests import another_workspace
from integrations.tests.another_workspace import (
    SECRET,
    connected,
    gaps,
    gaps_of_slack,
    inside,
    other,
    preview,
    public,
    quiet,
    settle,
)
from integrations.tests.house import House
from workflows import tasks
from workflows.channels import rooms
from workflows.effects import workspaces
from workflows.effects.failing import failures
from workflows.models import Effect, GroupRule, Resource
from workflows.reconcile import retyping
from workflows.usergroups import group_rules, sync, workspace_cache

__all__ = ["other"]  # a fixture

MOMENTS = ["done", "waiting", "unsure", "failed"]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("to", ["major", "ambiguous"])
def test_an_incident_goes_on_whatever_was_owed(
    house: House, other: fake.FakeSlack, monkeypatch: pytest.MonkeyPatch, moment: str, to: str
) -> None:
    incident = house.declare("Checkout is slow", type="major")
    owe(house, incident, moment, monkeypatch)
    with connected(house, other):
        incident = settle(house, incident)
        (said,) = gaps_of_slack(incident)
        assert "no longer connected" in said
        assert "Create a new channel" in said
        lifecycle.update(incident, text="Still looking", by=house.person("dee"), at=house.now())
        incident = settle(house, incident)
        assert not Effect.objects.filter(incident=incident, state="failed").exists()
        rooms.open_another(incident, by=house.person("dee"), at=house.now())
        incident = settle(house, incident)
        incident = house.retype(incident, to) if to != "major" else incident
        lifecycle.update(incident, text="Found it", by=house.person("dee"), at=house.now())
        incident = settle(house, incident)
        assert any("Found it" in text for text in other.texts(house.channel(incident)))
        assert not gaps_of_slack(incident)
        lifecycle.resolve(incident, text="Rolled back", by=house.person("dee"), at=house.now())
        incident = settle(house, incident)
        assert not Effect.objects.filter(incident=incident, state="failed").exists()
        assert quiet(house, other, incident)


def owe(house: House, incident: Incident, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Say something before the switch that is done, or not yet done, by then."""
    lifecycle.update(incident, text="Looking", by=house.person("dee"), at=house.now())
    if moment == "waiting":
        return
    fault = {"unsure": "drop", "failed": "server_error"}.get(moment)
    if fault is not None:
        house.slack.faults.add(fault)
    if moment == "failed":
        monkeypatch.setattr(failures, "ATTEMPTS", 1)
    house.settle(incident, rounds=1)
    house.slack.faults.clear()
    monkeypatch.undo()


@pytest.mark.parametrize("moment", MOMENTS)
def test_what_turns_private_there_is_said_to_be_open_here_and_withdrawn_once_it_can_be(
    house: House, other: fake.FakeSlack, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """It becomes private after the switch, at which what was owed is done, late, in doubt or failed."""
    incident = house.declare("Keys leaked", type="major")
    owe(house, incident, moment, monkeypatch)
    old, room = house.slack, house.channel(incident)
    with connected(house, other):
        incident = settle(house, incident)
        plan = preview(house, incident, "security")
        assert not [line.text for line in plan.lines if "withdraw " in line.text or "archive" in line.text]
        (by_hand,) = [line.text for line in plan.lines if "no longer connected" in line.text]
        assert "#incidents" in by_hand
        assert room in by_hand
        assert not [note.text for note in plan.notes if "is replaced by" in note.text or "is archived" in note.text]
        incident = settle(house, house.retype(incident, "security"))
        assert not [text for text in public(other) if SECRET in text]
        assert incident.events.filter(kind="gap", text=by_hand).count() == 1
        assert not Effect.objects.filter(incident=incident, state="failed").exists()
        names = {other.workspace.people[id].handle for id in other.channel(house.channel(incident)).members}
        assert names == {"firekind", "dee", "sam", "sia", "pat"}
        assert quiet(house, other, incident)
    assert [text for text in public(old) if SECRET in text]
    incident = settle(house, incident)
    assert not [text for text in public(old) if SECRET in text]
    assert not [text for text in gaps(incident) if "by hand" in text]
    assert {"Dee", "Sam", "Sia", "Pat"} <= {*inside(incident).values()}
    assert not {"Ann", "Ben"} & {*inside(incident).values()}


@pytest.mark.parametrize("moment", MOMENTS[1:])
def test_a_withdrawal_that_was_owed_is_said_and_done_once_it_can_be(
    house: House, other: fake.FakeSlack, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """It became private before the switch, and our words had not been withdrawn by then."""
    incident = house.declare("Keys leaked", type="major")
    old = house.slack
    fault = {"unsure": "drop_before", "failed": "server_error", "waiting": "ratelimited"}[moment]
    old.faults.add(fault, method="chat.update")
    if moment == "failed":
        monkeypatch.setattr(failures, "ATTEMPTS", 1)
    by, to = house.person("dee"), house.type("security")
    plan = retyping.preview(incident, to=to, by=by)
    retyping.confirm(incident, to=to, by=by, at=house.now(), digest=plan.digest)
    house.settle(incident, rounds=1)
    old.faults.clear()
    monkeypatch.undo()
    assert [text for text in public(old) if SECRET in text]
    with connected(house, other):
        incident = settle(house, Incident.objects.get(pk=incident.pk))
        assert [text for text in gaps(incident) if "#incidents" in text and "by hand" in text]
        assert not [text for text in public(other) if SECRET in text]
        assert not Effect.objects.filter(incident=incident, state="failed").exists()
        assert {"Dee", "Sam", "Sia"} <= {*inside(incident).values()}
    incident = settle(house, incident)
    assert not [text for text in public(old) if SECRET in text]
    assert not [text for text in gaps(incident) if "by hand" in text]


@pytest.mark.parametrize("private", [False, True], ids=["public", "private"])
def test_an_announcement_in_doubt_is_told_and_looked_for_once_it_can_be(
    house: House, other: fake.FakeSlack, private: bool
) -> None:
    house.slack.faults.add("drop", method="chat.postMessage")
    incident = lifecycle.declare("Keys leaked", by=house.person("dee"), at=house.now(), type=house.type("major"))
    house.settle(incident, rounds=1)
    house.slack.faults.clear()
    old = house.slack
    assert [text for text in old.texts("incidents") if SECRET in text]
    with connected(house, other):
        incident = settle(house, incident)
        (said,) = incident.events.filter(kind="failed")
        assert said.text.startswith("Could not check whether Firekind managed to post")
        assert "by hand" in said.text
        if private:
            incident = settle(house, house.retype(incident, "security"))
        assert not [text for text in public(other) if SECRET in text]
    incident = settle(house, incident)
    assert len([text for text in old.texts("incidents") if SECRET in text]) == (0 if private else 1)
    assert not Effect.objects.filter(incident=incident, thing="announcement", state="failed").exists()


@pytest.mark.parametrize("type", ["major", "security"])
def test_once_connected_again_everything_goes_on_where_it_stands(
    house: House, other: fake.FakeSlack, type: str
) -> None:
    incident = house.declare("Keys leaked", type=type)
    old, room, before = house.slack, house.channel(incident), inside(incident)
    with connected(house, other):
        incident = settle(house, incident)
        lifecycle.update(incident, text="Looking", by=house.person("dee"), at=house.now())
        incident = settle(house, incident)
        assert gaps_of_slack(incident)
        assert inside(incident) == before
    writes = len(old.writes())
    incident = settle(house, incident)
    assert not gaps_of_slack(incident)
    assert house.channel(incident) == room
    assert len([text for text in old.texts(room) if "Looking" in text]) >= 1
    assert not [one for one in old.writes()[writes:] if one.method in {"conversations.invite", "conversations.create"}]
    assert inside(incident) == before
    assert not Effect.objects.filter(incident=incident, state="failed").exists()


def test_no_channel_says_of_itself_that_it_is_out_of_reach(house: House, other: fake.FakeSlack) -> None:
    incident = house.declare("Checkout is slow", type="major")
    with connected(house, other):
        incident = settle(house, incident)
        assert "Create a new channel" in str(gaps_of_slack(incident))
    incident = settle(house, incident)
    assert not [text for text in house.slack.texts(house.channel(incident)) if "Create a new channel" in text]
    assert incident.events.filter(kind="gap").exists()


def test_while_the_new_workspace_cannot_be_read_nothing_is_asked_of_it(house: House, other: fake.FakeSlack) -> None:
    incident = house.declare("Keys leaked", type="major")
    lifecycle.update(incident, text="Looking", by=house.person("dee"), at=house.now())
    other.faults.add("ratelimited", method="users.list", retry_after_s=100)  # however slow the machine
    with connected(house, other):
        incident = settle(house, incident)
        assert not other.writes()
        assert not Effect.objects.filter(incident=incident, state="failed").exists()
        assert len(other.calls.since(0)) < 10, "it isn't asked again and again: then it would never be read"
        other.faults.clear()
        assert workspaces.follow(house.chat, at=timezone.now() + timedelta(minutes=2))
        incident = settle(house, incident)
        assert gaps_of_slack(incident)


def test_a_group_of_the_same_handle_there_is_nobodys_to_write_until_someone_says_so(
    house: House, other: fake.FakeSlack
) -> None:
    at = timezone.now()
    rule = GroupRule.objects.create(handle="support", created_at=at)
    rule.permanent.set([house.person("ann")])
    sync.sync(at=at)
    assert members(house.slack) == ["ann"]
    incident = house.declare("Checkout is slow")
    with connected(house, other):
        settle(house, incident)
        sync.sync(at=timezone.now())
        assert members(other) == ["sue", "ben"]
        rule.refresh_from_db()
        assert "another Slack workspace" in rule.says
    settle(house, incident)
    house.slack.acts.set_group("support", ["sue"])
    workspace_cache.refresh()
    sync.sync(at=timezone.now() + timedelta(minutes=5))
    assert members(house.slack) == ["ann"]
    with connected(house, other):
        settle(house, incident)
        group_rules.pause(rule, by=house.person("dee"), at=timezone.now())
        group_rules.resume(rule, by=house.person("dee"), at=timezone.now())
        sync.sync(at=timezone.now())
        assert members(other) == ["ann"]


def test_the_doctor_says_which_workspace_open_incidents_are_in(house: House, other: fake.FakeSlack) -> None:
    incident = house.declare("Keys leaked", type="major")
    with connected(house, other):
        settle(house, incident)
        (said,) = doctor(house, "T0SANDBOX")
        assert said.is_note
        assert "1 open incident" in said.says
    settle(house, incident)
    assert not doctor(house, another_workspace.TEAM)


def members(slack: fake.FakeSlack) -> list[str]:
    group = slack.workspace.group_named("support")
    assert group is not None
    return [slack.workspace.people[id].handle for id in group.members]


def doctor(house: House, about: str) -> list[CheckResult]:
    found = checking.findings(house.chat, given(), base_url="https://x.example")
    return [one for one in found if about in one.says and "no longer connected" in one.says]


def given() -> Setup:
    assert settings.FIREKIND.slack is not None
    return settings.FIREKIND.slack


def test_nobody_looks_for_our_channels_in_a_workspace_that_is_not_known_yet(
    house: House, other: fake.FakeSlack
) -> None:
    """The regular look may come before any effect has shown which workspace is connected."""
    for type_name in ("major", "security"):
        house.settle(house.declare(type_name, type=type_name))
    before = set(Resource.objects.filter(kind="channel").values_list("pk", "state"))
    told = Event.objects.count()
    other.faults.add("error", method="users.list", error="internal_error")
    with connected(house, other):
        tasks.watch_members()
    assert set(Resource.objects.filter(kind="channel").values_list("pk", "state")) == before
    assert Event.objects.count() == told
