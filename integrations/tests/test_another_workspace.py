"""Another Slack workspace is connected in the middle of incidents: what stands in the one before is out of reach."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Participant, Person
from integrations.check_result import CheckResult
from integrations.slack import checking, fake
from integrations.slack.protocol.setup import Setup
from integrations.tests import another_workspace
from integrations.tests.another_workspace import connected
from integrations.tests.house import House
from workflows import ports, tasks
from workflows.channels import membership, rooms
from workflows.effects import workspaces
from workflows.effects.failing import announcements, failures, recovering
from workflows.models import Effect, GroupRule, Resource
from workflows.planning.plan import Plan
from workflows.reconcile import retyping, sweep
from workflows.usergroups import group_rules, sync, workspace_cache

MOMENTS = ["done", "waiting", "unsure", "failed"]
SECRET = "Keys"


@pytest.fixture
def other(house: House) -> fake.FakeSlack:
    return another_workspace.workspace(another_workspace.handles(house.slack))


def settle(house: House, incident: Incident) -> Incident:
    """Settle as a worker does that has just started: it looks at the workspace, and sweeps."""
    with ports.using(chat=house.chat):
        for _ in range(3):
            tasks.refresh_directory()
            incident = house.settle(incident)
    return incident


def preview(house: House, incident: Incident, to: str) -> Plan:
    return retyping.preview(incident, to=house.type(to), by=house.person("dee"))


def gaps(incident: Incident) -> list[str]:
    return list(Resource.objects.filter(incident=incident, kind="gap").values_list("label", flat=True))


def public(slack: fake.FakeSlack) -> list[str]:
    """Whatever everyone in a workspace can read, topics included."""
    open_ones = [one for one in slack.workspace.channels.values() if not one.is_private]
    said = [str([message.text, message.blocks]) for one in open_ones for message in one.messages.values()]
    system = {message.text for one in open_ones for message in one.messages.values() if message.is_system}
    return [text for text in said if not any(line in text for line in system)] + [one.topic.value for one in open_ones]


def inside(incident: Incident) -> dict[int, str]:
    here = Participant.objects.filter(incident=incident, left_at=None)
    return dict(here.values_list("person", "person__name"))


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
        assert "not connected now" in said
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


def gaps_of_slack(incident: Incident) -> list[str]:
    return [text for text in gaps(incident) if "Slack workspace" in text]


def owe(house: House, incident: Incident, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Say something before the switch that is done, or is not done by then."""
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


def quiet(house: House, slack: fake.FakeSlack, incident: Incident) -> bool:
    """Return whether regular looks ask the workspace nothing about an incident that it does not hold."""
    old = set(Resource.objects.filter(kind="channel").values_list("external_id", flat=True))
    old -= set(slack.workspace.channels)
    before = slack.calls.total
    with ports.using(chat=house.chat):
        for minutes in range(3):
            at = timezone.now() + timedelta(minutes=10 * minutes)
            membership.poll(at=at)
            announcements.retry(at=at)
            recovering.retry(at=at)
            assert incident.pk not in sweep.unsettled()
            assert incident.pk not in sweep.unplanned(at=at)
    asked = slack.calls.since(before)
    return not [call for call in asked if old & set(map(str, call.args.values()))]


@pytest.mark.parametrize("moment", MOMENTS)
def test_what_turns_private_there_is_said_to_be_open_here_and_withdrawn_once_it_can_be(
    house: House, other: fake.FakeSlack, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """It turns private after the switch; what is owed is done, late, in doubt or failed as the token is exchanged."""
    incident = house.declare("Keys leaked", type="major")
    owe(house, incident, moment, monkeypatch)
    old, room = house.slack, house.channel(incident)
    with connected(house, other):
        incident = settle(house, incident)
        plan = preview(house, incident, "security")
        assert not [line.text for line in plan.lines if "withdraw " in line.text or "archive" in line.text]
        (by_hand,) = [line.text for line in plan.lines if "not connected now" in line.text]
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
    """It turned private before the switch, and our words had not been withdrawn by then."""
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


def elsewhere(house: House, other: fake.FakeSlack, incident: Incident, *, to: str = "") -> Incident:
    """Have people go on in a channel of another workspace for a while, and come back to the one before."""
    with connected(house, other):
        incident = settle(house, incident)
        if f"channel/{incident.room}" in there(incident):
            return incident
        rooms.open_another(incident, by=house.person("dee"), at=house.now())
        incident = settle(house, incident)
        return house.retype(incident, to) if to else incident


def there(incident: Incident) -> set[str]:
    return {*Resource.objects.filter(incident=incident, state="there").values_list("key", flat=True)}


@pytest.mark.parametrize("type", ["major", "security"])
def test_people_come_back_to_the_channel_that_they_had_in_each_workspace(
    house: House, other: fake.FakeSlack, type: str
) -> None:
    incident = house.declare("Keys leaked", type=type)
    old, room = house.slack, house.channel(incident)
    second = house.channel(elsewhere(house, other, incident))
    for slack, name in ((old, room), (other, second), (old, room)):
        with connected(house, slack):
            incident = settle(house, incident)
            assert house.channel(incident) == name
            assert not gaps_of_slack(incident)
            lifecycle.update(incident, text="Found it", by=house.person("dee"), at=house.now())
            incident = settle(house, incident)
            assert any("Found it" in text for text in slack.texts(name))
            assert any(SECRET in text for text in slack.texts(name))
            assert not slack.channel(name).is_archived
    assert not Effect.objects.filter(incident=incident, state="failed").exists()
    incident = house.retype(settle(house, incident), "security" if type == "major" else "major")
    assert house.channel(incident) not in {second} | ({room} if type == "major" else set())
    assert not [text for text in public(old) if SECRET in text]
    with connected(house, other):
        incident = settle(house, incident)
        assert not [text for text in public(other) if SECRET in text]


def test_a_channel_that_was_to_be_archived_is_archived_where_people_come_back_to(
    house: House, other: fake.FakeSlack
) -> None:
    incident = house.declare("Keys leaked", type="major")
    room = house.channel(incident)
    incident = elsewhere(house, other, incident)
    with connected(house, other):
        lifecycle.resolve(incident, by=house.person("dee"), at=house.now())
        lifecycle.archive_channel(incident, by=house.person("dee"), at=house.now())
        incident = settle(house, incident)
    incident = settle(house, incident)
    assert incident.archive_asked
    assert house.slack.channel(room).is_archived
    assert not Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"]).exists()


@pytest.mark.parametrize("why", ["public", "archived", "someone left", "opened"])
def test_people_come_back_to_no_channel_that_others_read(house: House, other: fake.FakeSlack, why: str) -> None:
    """Nor to one that is archived: then another is asked for."""
    incident = house.declare("Keys leaked", type="major" if why == "public" else "security")
    old, room = house.slack, house.channel(incident)
    incident = elsewhere(house, other, incident, to="security" if why == "public" else "")
    if why == "someone left":
        Participant.objects.filter(incident=incident, person__name="Sia").update(left_at=house.now(), went=True)
    elif why == "archived":
        old.channel(room).is_archived = True
    elif why == "opened":
        old.channel(room).kind = "public"
    said = len(old.texts(room))
    incident = settle(house, incident)
    assert incident.room > 1
    assert "Create a new channel" in str(gaps_of_slack(incident))
    lifecycle.update(incident, text="Found it", by=house.person("dee"), at=house.now())
    settle(house, incident)
    assert not [text for text in old.texts(room)[said:] if "Found" in text]
    if why == "public":
        assert not [text for text in public(old) if SECRET in text]


def test_people_are_the_same_people_there(house: House, other: fake.FakeSlack) -> None:
    """Who has an address there is who had it here: what they lead, and may see, is theirs from their first command."""
    incident = house.declare("Keys leaked", type="security")
    people = Person.objects.filter(is_bot=False).count()
    known = {one.name: one.pk for one in Person.objects.filter(is_bot=False)}
    lifecycle.set_lead(incident, lead=house.person("dee"), by=house.person("dee"), at=house.now())
    with connected(house, other):
        Person.objects.create(chat_id="U9DEE", name="U9DEE")  # a door met Dee before anyone had looked
        incident = settle(house, incident)
        assert {one.name: one.pk for one in Person.objects.exclude(chat_id=None).filter(is_bot=False)} == known
        assert Person.objects.get(chat_id="U9DEE").pk == known["Dee"] == incident.lead_id
        assert Incident.objects.filter(pk=incident.pk).exists()
    settle(house, incident)
    assert Person.objects.get(chat_id="U0DEE").pk == known["Dee"]
    assert Person.objects.exclude(chat_id=None).filter(is_bot=False).count() == people


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


@pytest.mark.parametrize("team", ["T0SANDBOX", "E0ORG"])
def test_a_workspace_that_joins_an_organisation_keeps_its_channels_and_nobody_is_shut_out(
    house: House, team: str
) -> None:
    """Channels and messages stay, while people get ids of the organisation."""
    shown = house.declare("Checkout is slow", type="major")
    incident = house.declare("Keys leaked", type="security")
    before, entries = inside(incident), incident.events.count()
    slack = house.slack
    renumber(slack)
    slack.workspace.team_id = team
    for one in slack.workspace.people.values():
        one.team_id = team
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
    """Give everyone who is no bot an id of an organisation's, wherever they are."""
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


def test_while_the_new_workspace_cannot_be_read_nothing_is_asked_of_it(house: House, other: fake.FakeSlack) -> None:
    incident = house.declare("Keys leaked", type="major")
    lifecycle.update(incident, text="Looking", by=house.person("dee"), at=house.now())
    other.faults.add("ratelimited", method="users.list")
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
    return [one for one in found if about in one.says and "not connected" in one.says]


def given() -> Setup:
    assert settings.FIREKIND.slack is not None
    return settings.FIREKIND.slack


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
            line.text for line in plan.lines if line.sign == "!" and "Out is not in the Slack workspace" in line.text
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


def test_people_are_said_to_be_what_they_are_in_each_workspace(house: House) -> None:
    """Of someone from a third one, whom no workspace lists, that does not change."""
    other = another_workspace.workspace([one for one in another_workspace.handles(house.slack) if one != "out"])
    stranger = Person.objects.create(chat_id="U0STRANGER", name="Wim", is_external=True)
    out, dee = house.person("out"), house.person("dee")
    for slack, said in ((other, "is not in the Slack workspace that is connected now"), (house.slack, "")):
        with connected(house, slack), ports.using(chat=house.chat):
            tasks.refresh_directory()
            for one in (stranger, out, dee):
                one.refresh_from_db()
            assert (stranger.not_invited, out.not_invited) == ("is from another workspace", said)
            assert dee.not_invited == ""


@pytest.mark.parametrize("back", [1, 2])
def test_whoever_moves_after_people_came_back_is_told_of_the_channel_that_they_left(
    house: House, other: fake.FakeSlack, back: int
) -> None:
    """The newest room is not the one before: it is in the other workspace."""
    incident = house.declare("Keys leaked", type="major")
    old, room = house.slack, house.channel(incident)
    incident = elsewhere(house, other, incident)
    if back == 2:
        incident = settle(house, incident)
        with connected(house, other):
            incident = settle(house, incident)
    incident = settle(house, incident)
    assert house.channel(incident) == room
    incident = house.retype(incident, "security")
    left = old.channel(room)
    assert left.is_archived
    assert not [text for text in public(old) if SECRET in text]
    assert any("This conversation has ended here" in text for text in old.texts(room))
    said = str([message.blocks for message in old.channel(house.channel(incident)).messages.values()])
    assert f"<#{left.id}>" in said
    assert "The channel before it is gone" not in said
    with connected(house, other):
        incident = settle(house, incident)
        assert not [text for text in public(other) if SECRET in text]
    assert not [text for text in public(old) if SECRET in text]


def test_who_is_in_the_channel_before_may_be_a_secret_and_holds_up_nothing_else(
    house: House, other: fake.FakeSlack
) -> None:
    """As where the app was installed again with fewer scopes: nobody goes back there, and the rest goes on."""
    incident = elsewhere(house, other, house.declare("Keys leaked", type="security"))
    house.slack.faults.add("error", method="conversations.members", error="missing_scope")
    with connected(house, house.slack):
        incident = settle(house, incident)
        assert workspaces.is_followed(house.chat)
        assert incident.room == 2
        assert "Create a new channel" in str(gaps_of_slack(incident))
