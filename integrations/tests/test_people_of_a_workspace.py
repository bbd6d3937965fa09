"""Another Slack workspace is connected: people are the same people, under its ids, and no one else is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Participant, Person
from integrations.slack import fake
from integrations.tests import another_workspace
from integrations.tests.another_workspace import (
    connected,
    gaps,
    gaps_of_slack,
    inside,
    other,
    quiet,
    settle,
)
from integrations.tests.house import House
from workflows import ports, tasks
from workflows.channels import membership, rooms
from workflows.models import Effect
from workflows.reconcile import retyping
from workflows.usergroups import workspace_cache

__all__ = ["other"]  # a fixture


def test_people_are_the_same_people_there(house: House, other: fake.FakeSlack) -> None:
    """A person is recognised there by email address: what they lead and may see is theirs from their first command."""
    incident = house.declare("Keys leaked", type="security")
    people = Person.objects.filter(is_bot=False).count()
    known = {one.name: one.pk for one in Person.objects.filter(is_bot=False)}
    lifecycle.set_lead(incident, lead=house.person("dee"), by=house.person("dee"), at=house.now())
    with connected(house, other):
        Person.objects.create(chat_id="U9DEE", name="U9DEE")  # a door saw Dee before anyone had looked
        incident = settle(house, incident)
        assert {one.name: one.pk for one in Person.objects.exclude(chat_id=None).filter(is_bot=False)} == known
        assert Person.objects.get(chat_id="U9DEE").pk == known["Dee"] == incident.lead_id
        assert Incident.objects.filter(pk=incident.pk).exists()
    settle(house, incident)
    assert Person.objects.get(chat_id="U0DEE").pk == known["Dee"]
    assert Person.objects.exclude(chat_id=None).filter(is_bot=False).count() == people


def test_people_are_said_to_be_what_they_are_in_each_workspace(house: House) -> None:
    """For a person from a third workspace, who is in no workspace's list, that does not change."""
    other = another_workspace.workspace([one for one in another_workspace.handles(house.slack) if one != "out"])
    stranger = Person.objects.create(chat_id="U0STRANGER", name="Wim", is_external=True)
    out, dee = house.person("out"), house.person("dee")
    for slack, said in ((other, "is not in the connected Slack workspace"), (house.slack, "")):
        with connected(house, slack), ports.using(chat=house.chat):
            tasks.refresh_directory()
            for one in (stranger, out, dee):
                one.refresh_from_db()
            assert (stranger.not_invited, out.not_invited) == ("is from another workspace", said)
            assert dee.not_invited == ""


@pytest.mark.parametrize("to", ["major", "security", "internal"])
def test_who_is_not_in_the_new_workspace_is_named_before_anyone_confirms(house: House, to: str) -> None:
    other = another_workspace.workspace([one for one in another_workspace.handles(house.slack) if one != "out"])
    incident = lifecycle.declare("Keys leaked", by=house.person("out"), at=house.now(), type=house.type("ambiguous"))
    incident, out = house.settle(incident), house.person("out")
    with connected(house, other):
        incident = settle(house, incident)
        out.refresh_from_db()
        rooms.open_another(incident, by=house.person("dee"), at=house.now())
        plan = retyping.preview(incident, to=house.type(to), by=house.person("dee"), bring=[out])
        assert [
            line.text
            for line in plan.lines
            if line.sign == "!" and "Out is not in the connected Slack workspace" in line.text
        ]
        assert not [line.text for line in plan.lines if "invite" in line.text and "Out" in line.text.split(", ")]
        asked = [one for one in plan.actions if one.kind == "member"]
        assert {id for one in asked for id in one.spec["people"]} <= set(other.workspace.people)
        incident = house.retype(settle(house, incident), to, bring=["dee"])
        lifecycle.update(incident, text="Found it", by=house.person("dee"), at=house.now())
        incident = settle(house, incident)
        assert any("Found it" in text for text in other.texts(house.channel(incident)))
        invited = [call.args["users"] for call in other.calls.since(0) if call.method == "conversations.invite"]
        assert str(out.chat_id) not in ",".join(invited)
        assert not Effect.objects.filter(incident=incident, state="failed").exists()
        assert quiet(house, other, incident)
    incident = settle(house, incident)
    assert not [text for text in gaps(incident) if "Out" in text]


def test_a_process_that_was_not_restarted_yet_moves_nobody_back(house: House, other: fake.FakeSlack) -> None:
    house.declare("Keys leaked", type="security")
    ours, theirs = house.slack, house.chat
    workspace_cache.refresh(everybody=True)
    with connected(house, other):
        tasks.refresh_directory()
        ids = set(Person.objects.values_list("chat_id", flat=True))
        with ports.using(chat=theirs):
            assert not workspace_cache.refresh(everybody=True)
        assert set(Person.objects.values_list("chat_id", flat=True)) == ids
        assert "U9DEE" in ids
    with connected(house, ours):
        tasks.refresh_directory()
        assert Person.objects.filter(chat_id="U0DEE").exists(), "restarted, it is the newer one"


def test_a_guest_with_the_address_of_someone_is_not_taken_for_them(house: House, other: fake.FakeSlack) -> None:
    incident = house.declare("Keys leaked", type="security")
    other.workspace.people["U9SAM"].is_restricted = True
    with connected(house, other):
        incident = settle(house, incident)
        guest = Person.objects.get(chat_id="U9SAM")
        assert guest.is_guest
        assert not Participant.objects.filter(incident=incident, person=guest).exists()


@pytest.mark.parametrize(("team", "named"), [("T0SANDBOX", ""), ("E0ORG", ""), ("T0SANDBOX", "T0SIBLING")])
def test_a_workspace_that_joins_an_organisation_keeps_its_channels_and_nobody_is_shut_out(
    house: House, team: str, named: str
) -> None:
    """Channels and messages stay; people get ids of the organisation, and Slack may name another of its workspaces."""
    shown = house.declare("Checkout is slow", type="major")
    incident = house.declare("Keys leaked", type="security")
    before, entries = inside(incident), incident.events.count()
    slack = house.slack
    renumber(slack)
    slack.workspace.team_id = team
    for one in slack.workspace.people.values():
        one.team_id, one.teams = named or team, [team, named] if named and not one.is_bot else []
    with connected(house, slack):
        membership.poll(at=timezone.now() + timedelta(minutes=5))
        incident, shown = settle(house, incident), settle(house, shown)
        membership.poll(at=timezone.now() + timedelta(minutes=10))
        incident = settle(house, incident)
        assert not incident.events.filter(n__gt=entries, kind__in=["joined", "left"]).exists()
    assert inside(incident) == before
    assert not gaps_of_slack(incident)
    assert not gaps_of_slack(shown)
    assert not [one.text for one in incident.events.filter(n__gt=entries) if "invited" in one.text]
    lifecycle.update(incident, text="Looking", by=house.person("dee"), at=house.now())
    incident = settle(house, incident)
    assert any("Looking" in text for text in slack.texts(house.channel(incident)))


def renumber(slack: fake.FakeSlack) -> None:
    """Give everyone except bots an id of the organisation, everywhere."""
    workspace = slack.workspace
    new = {one.id: f"W{one.id[1:]}" for one in workspace.people.values() if not one.is_bot}
    for one in list(workspace.people.values()):
        if one.id in new:
            del workspace.people[one.id]
            one.id = new[one.id]
            workspace.people[one.id] = one
    for channel in workspace.channels.values():
        channel.members = [new.get(id, id) for id in channel.members]
    for group in workspace.groups.values():
        group.members = [new.get(id, id) for id in group.members]
