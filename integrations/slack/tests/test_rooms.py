from __future__ import annotations

import time
from typing import Any

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.slack import fake
from integrations.slack.doors import signing
from integrations.slack.fake.server import shapes
from integrations.slack.tests.door import Door, leads_nowhere, secret
from workflows.channels import rooms
from workflows.models import DirectoryRead
from workflows.reconcile import sweep
from workflows.status import progress
from workflows.usergroups import workspace_cache


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    """Return its channel."""
    return door.house.channel(incident)


def test_who_comes_by_themselves_takes_part(door: Door, incident: Incident, channel: str) -> None:
    door.slack.acts.join("eve", channel)
    door.deliver()
    assert incident.participants.get(person=door.house.person("eve")).reason == "joined"
    assert door.told(incident)[-1] == ("joined", "Eve")


def test_who_leaves_is_not_fetched_back(door: Door, incident: Incident, channel: str) -> None:
    door.slack.acts.leave("lea", channel)
    door.deliver()
    assert door.told(incident)[-1] == ("left", "Lea")
    door.command("ann", "type major", channel=channel)
    door.submit("ann")
    door.house.settle(incident)
    assert "lea" not in door.slack.members(channel)


@pytest.mark.parametrize("who", ["eve", "lea"])
@pytest.mark.parametrize("type", ["ambiguous", "security"])
def test_a_join_that_is_told_late_lets_nobody_in_who_left_since(door: Door, who: str, type: str) -> None:
    incident = door.declared(type=type)
    channel, acts = door.house.channel(incident), door.slack.acts
    door.slack.take_deliveries()
    if who in door.slack.members(channel):
        acts.kick("ann", channel, who)
        door.deliver()
    acts.invite("ann", channel, [who])
    acts.leave(who, channel)
    told = {one.type: one for one in door.slack.take_deliveries()}
    for one in (told["member_left_channel"], told["member_joined_channel"]):
        assert door.post(one).status_code == 200
    assert not incident.participants.filter(person=door.house.person(who), left_at=None).exists()


def test_invited_people_and_the_app_itself_are_no_news(door: Door) -> None:
    door.command("ann", "declare checkout is slow")
    incident = door.house.settle(door.incident())
    door.deliver()
    assert not {"joined", "left"} & {kind for kind, _ in door.told(incident)}


def test_each_invitation_that_comes_back_costs_one_query_and_no_request(
    door: Door, django_assert_num_queries: object
) -> None:
    door.command("ann", "declare major: checkout is down")
    door.house.settle(door.incident())
    joins = [one for one in door.slack.take_deliveries() if one.type == "member_joined_channel"]
    assert len(joins) > 6
    told = [fake.signed(one, secret(), at=time.time()) for one in joins]
    with django_assert_num_queries(len(joins)):  # type: ignore[operator]  # the fixture has no type to name
        assert [leads_nowhere(body, headers) for headers, body in told] == [[False, True]] * len(told)


@pytest.mark.parametrize("part", [signing.STAMP, signing.SIGNATURE])
def test_what_slack_did_not_sign_is_not_answered_before_it_reaches_the_door(
    door: Door, incident: Incident, channel: str, part: str
) -> None:
    door.slack.acts.say("lea", channel, "hello")
    headers, body = fake.signed(door.slack.take_deliveries()[0], secret(), at=time.time())
    assert leads_nowhere(body, headers) == [True, False]
    assert not any(leads_nowhere(body, {**headers, part: ""}))
    assert not any(leads_nowhere(body.replace(b"hello", b"hallo"), headers))


def test_what_was_signed_long_ago_is_warned_of_by_the_door_alone(
    door: Door, incident: Incident, channel: str, caplog: pytest.LogCaptureFixture
) -> None:
    door.slack.acts.say("lea", channel, "hello")
    headers, body = fake.signed(door.slack.take_deliveries()[0], secret(), at=time.time() - 2 * signing.SKEW_S)
    assert not any(leads_nowhere(body, headers))
    assert not caplog.records


def test_who_could_not_be_invited_and_comes_by_themselves_is_in(door: Door) -> None:
    door.slack.person("lea").deleted = True
    incident = door.declared()
    channel = door.house.channel(incident)
    assert "lea" not in door.slack.members(channel)
    door.slack.person("lea").deleted = False
    door.slack.acts.join("lea", channel)
    door.deliver()
    member = incident.resources.get(key=f"member/1/{door.slack.person('lea').id}")
    assert member.state == "there"


def test_other_channels_are_nobodys_business(door: Door, incident: Incident) -> None:
    before = incident.participants.count()
    door.slack.acts.leave("eve", "lobby")
    door.slack.acts.join("eve", "incidents")
    door.deliver()
    assert incident.participants.count() == before


def test_a_private_incident_opens_to_whoever_is_let_into_its_channel(door: Door) -> None:
    incident = door.declared("keys", type="security")
    channel = door.house.channel(incident)
    assert "keys" not in door.command("eve", "list")
    door.slack.acts.invite("ann", channel, ["eve"])
    door.deliver()
    assert "keys" in door.command("eve", "list")
    door.slack.acts.kick("ann", channel, "eve")
    door.deliver()
    assert "keys" not in door.command("eve", "list")


def test_a_channel_archived_by_hand_is_noted(door: Door, incident: Incident, channel: str) -> None:
    door.slack.acts.archive("ann", channel)
    door.deliver()
    assert door.told(incident)[-1] == ("channel", f"archived #{channel} in Slack")
    assert incident.events.latest("n").by == door.house.person("ann")
    door.slack.calls.clear()
    door.house.settle(incident)
    assert not door.slack.calls.writes()


@pytest.mark.parametrize(
    "acts",
    [
        [("archive", "ann")],
        [("archive", "ann"), ("unarchive", "ben")],
        [("rename", "ann", "something-else")],
        [("leave", "lea")],
        [("join", "eve")],
        [("invite", "ann", ["eve"])],
        [("kick", "ann", "lea")],
    ],
)
def test_what_people_do_to_a_channel_is_planned_without_waiting_for_other_news(
    door: Door, incident: Incident, channel: str, acts: list[tuple[Any, ...]]
) -> None:
    for name, who, *more in acts:
        getattr(door.slack.acts, name)(who, channel, *more)
        door.deliver()
        if incident.pk in sweep.unplanned(at=timezone.now()):
            door.house.settle(incident)
        assert sweep.unsettled() == [], f"after {name}"


def test_who_left_and_is_asked_for_by_name_is_invited_again(door: Door, incident: Incident, channel: str) -> None:
    door.slack.acts.leave("lea", channel)
    door.deliver()
    door.house.settle(incident)
    assert "lea" not in door.slack.members(channel)
    door.command("ann", "lead @lea", channel=channel)
    door.house.settle(incident)
    assert "lea" in door.slack.members(channel)


def test_a_channel_brought_back_by_hand_is_not_archived_again(door: Door, incident: Incident, channel: str) -> None:
    lifecycle.resolve(incident, by=None, at=timezone.now())
    lifecycle.archive_channel(incident, by=None, at=timezone.now())
    door.house.settle(incident)
    assert door.slack.channel(channel).is_archived
    door.slack.acts.unarchive("ann", channel)
    door.deliver()
    lifecycle.note(incident, text="we look once more", by=None, at=timezone.now())
    door.house.settle(incident)
    assert not door.slack.channel(channel).is_archived
    lifecycle.archive_channel(incident, by=None, at=timezone.now())
    door.house.settle(incident)
    assert door.slack.channel(channel).is_archived, "asked for anew, it is"


def test_a_room_that_the_talk_left_may_be_brought_back_by_hand(door: Door, incident: Incident, channel: str) -> None:
    incident = door.house.retype(incident, "security", by="ann")
    door.slack.take_deliveries()
    door.slack.acts.unarchive("ben", channel)
    door.deliver()
    lifecycle.update(incident, text="we look", by=None, at=timezone.now())
    door.house.settle(incident)
    assert not door.slack.channel(channel).is_archived


@pytest.mark.parametrize("who", ["ben", "lea", "eve"])
@pytest.mark.parametrize(
    ("wrote", "readable"),
    [
        ([], "others had posted nothing there"),
        (["ben"], "1 message of others can be read there"),
        (["ben", "lea", "ann"], "3 messages of others can be read there"),
    ],
)
def test_the_people_of_a_private_incident_are_told_that_its_old_public_channel_is_back(
    door: Door, incident: Incident, channel: str, who: str, wrote: list[str], readable: str
) -> None:
    for person in wrote:
        door.slack.acts.say(person, channel, "basket sends card numbers")
    incident = door.house.retype(incident, "security", by="ann")
    door.slack.take_deliveries()
    before = [message.text for message in door.slack.messages(channel)]
    door.slack.acts.unarchive(who, channel)
    door.deliver()
    incident = door.house.settle(incident)
    told = incident.events.filter(kind="warned").latest("n")
    assert told.by == door.house.person(who)
    assert told.text == (
        f"unarchived the old public channel #{channel} in Slack. Our messages there are withdrawn; {readable}. "
        "To close it again, archive it in Slack."
    )
    assert not incident.events.filter(kind="noted").exists()
    assert f"#{channel} was unarchived. To close it again, archive it in Slack." in progress.of(incident).stays
    private = str(door.slack.messages(door.house.channel(incident)))
    for sentence in told.text.rstrip(".").split(". "):
        assert sentence in private
    assert [message.text for message in door.slack.messages(channel)] == before, "nothing is said in public"


def test_what_could_not_be_withdrawn_from_an_archived_channel_is_missing_until_it_is_brought_back(
    door: Door, incident: Incident, channel: str
) -> None:
    door.slack.acts.archive("ann", channel)
    door.deliver()
    incident = door.house.retype(incident, "security", by="ann")
    assert incident.title in str(door.slack.messages(channel)), "what is archived cannot be changed"
    (gap,) = progress.of(incident).gaps
    assert "archived before" in gap.says
    door.slack.acts.unarchive("ben", channel)
    door.deliver()
    assert incident.pk in sweep.unplanned(at=timezone.now())
    incident = door.house.settle(incident)
    assert incident.title not in str(door.slack.messages(channel))
    assert not progress.of(incident).gaps


def test_a_rename_is_followed(door: Door, incident: Incident, channel: str) -> None:
    door.slack.acts.rename("ann", channel, "inc-checkout")
    door.deliver()
    room = rooms.channel_of(incident)
    assert room is not None
    assert room.label == "#inc-checkout"


def test_a_new_id_is_followed_by_all_that_stands_in_the_channel(door: Door, incident: Incident, channel: str) -> None:
    slack = door.slack
    old, here = slack.channel(channel).id, slack.workspace.channels
    here["C0MERGED"] = here.pop(old)
    here["C0MERGED"].id = "C0MERGED"
    slack.emit("channel_id_changed", old_channel_id=old, new_channel_id="C0MERGED")
    door.deliver()
    lifecycle.update(incident, text="we roll back", by=None, at=timezone.now())
    incident = door.house.settle(incident)
    assert not incident.effects.filter(state="failed").exists()
    (headline,) = slack.pinned("C0MERGED")
    assert "we roll back" in str(headline.attachments)
    assert old not in str(list(incident.resources.values_list("external", flat=True)))
    incident = door.house.retype(incident, "security", by="ann")
    assert "we roll back" not in str(slack.messages("C0MERGED"))


def test_a_new_id_and_name_of_the_channel_of_a_summary_are_followed(door: Door) -> None:
    incident = door.declared("keys", type="security")
    asked = lifecycle.open_up(incident, summary="It is over.", by=door.house.person("sam"), at=timezone.now())
    door.house.settle(incident)
    done = lifecycle.publish(incident, summary=asked.pk, by=door.house.person("ann"), at=timezone.now())
    incident = door.house.settle(incident)
    slack, here = door.slack, door.slack.workspace.channels
    old = slack.channel(f"inc-{done.codename}").id
    here["C0MERGED"] = here.pop(old)
    here["C0MERGED"].id = "C0MERGED"
    slack.emit("channel_id_changed", old_channel_id=old, new_channel_id="C0MERGED")
    slack.acts.join("ann", "C0MERGED")
    slack.acts.rename("ann", "C0MERGED", "what-happened")
    door.deliver()
    assert old not in str(list(incident.resources.values_list("external", flat=True)))
    assert incident.resources.get(kind="outlet").label == "#what-happened"
    writes = len(door.house.writes())
    door.house.settle(incident)
    assert "conversations.create" not in door.house.writes()[writes:]


def test_the_channel_of_a_private_incident_that_is_made_public_is_left_and_its_people_are_told(door: Door) -> None:
    incident = door.declared("keys", type="security")
    old = door.house.channel(incident)
    door.slack.acts.convert("ann", old, is_private=False)
    door.deliver()
    says = f"made #{old} public: everyone in the workspace can read it. Our messages there are withdrawn, and the"
    assert ("warned", f"{says} conversation moves to a new private channel.") in door.told(incident)
    incident = door.house.settle(incident)
    assert "keys" not in str(door.slack.messages(old))
    assert "conversation moves" in " ".join(door.slack.texts(door.house.channel(incident)))


def test_a_public_channel_made_private_is_noted(door: Door, incident: Incident, channel: str) -> None:
    door.slack.acts.convert("ann", channel, is_private=True)
    door.deliver()
    assert ("channel", f"made #{channel} private") in door.told(incident)


def test_what_became_of_a_person_is_asked_of_that_person_alone(door: Door) -> None:
    door.slack.acts.deactivate("eve")
    door.slack.acts.arrive("new", email="new@example.com")
    door.slack.calls.clear()
    door.deliver()
    assert door.house.person("eve").deactivated
    assert door.house.person("new").email == "new@example.com"
    assert not DirectoryRead.objects.get().stale
    assert not door.slack.calls.count("users.list")


def test_who_moves_is_in_another_time_zone_from_then_on(door: Door) -> None:
    eve = door.slack.person("eve")
    assert door.house.person("eve").zone == eve.tz
    eve.tz = "Asia/Tokyo"
    door.slack.emit("user_change", user=shapes.person(eve))
    door.deliver()
    assert door.house.person("eve").zone == "Asia/Tokyo"


def test_a_status_that_changes_costs_one_query(door: Door, django_assert_num_queries: object) -> None:
    door.slack.emit("user_change", user=shapes.person(door.slack.person("eve")))
    news = door.slack.take_deliveries()
    with django_assert_num_queries(1):  # type: ignore[operator]  # the fixture has no type to name
        assert {door.post(one).status_code for one in news} == {200}


def test_somebody_whom_only_a_group_names_is_looked_for_once(door: Door) -> None:
    door.slack.group("support").members.append("U0ELSEWHERE")
    workspace_cache.refresh()
    assert not Person.objects.get(chat_id="U0ELSEWHERE").can_join
    door.slack.calls.clear()
    workspace_cache.refresh()
    assert not door.slack.calls.count("users.list")


def test_a_changed_group_is_read_anew_soon(door: Door) -> None:
    workspace_cache.refresh()
    door.slack.acts.set_group("support", ["sue", "eve"])
    door.deliver()
    assert DirectoryRead.objects.get().stale
