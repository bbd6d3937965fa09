from __future__ import annotations

import pytest

from incidents import lifecycle, visibility
from incidents.models import Person
from integrations.tests.house import GROUPS, House, house, workspace
from workflows.models import DirectoryRead, Effect, Group
from workflows.reconcile import retyping
from workflows.status import missing, progress
from workflows.usergroups import workspace_cache

pytestmark = pytest.mark.usefixtures("no_pages")


def test_declaring_opens_a_channel_and_brings_the_right_people_in(house: House) -> None:
    incident = house.declare()
    name = house.channel(incident)
    assert name == f"inc-{incident.codename}"
    assert house.slack.members(name) == {"firekind", "dee", "ann", "ben", "lea"}
    assert house.slack.topic(name) == "Ambiguous · Open · No lead yet"
    assert [bookmark["title"] for bookmark in house.slack.bookmarks(name)] == ["Incident page"]
    assert len(house.slack.pinned(name)) == 1
    assert len(house.slack.texts("incidents")) == 1


def test_declaring_takes_the_smallest_number_of_calls(house: House) -> None:
    house.slack.calls.clear()
    house.declare()
    assert sorted(house.writes()) == [
        "bookmarks.add",
        "chat.postMessage",  # the headline
        "chat.postMessage",  # the announcement
        "conversations.create",
        "conversations.invite",
        "conversations.setTopic",
        "pins.add",
    ]
    assert not [call.method for call in house.slack.calls if call.method not in house.writes()]


def test_reconciling_a_settled_incident_calls_nobody(house: House) -> None:
    incident = house.declare()
    house.slack.calls.clear()
    house.settle(incident)
    assert not list(house.slack.calls)


def test_the_plan_shown_before_a_move_to_private_names_everything(house: House) -> None:
    incident = house.declare()
    plan = retyping.preview(incident, to=house.type("security"), by=house.person("dee"))
    lines = [str(line) for line in plan.lines]
    assert lines[:5] == [
        "- end access for Ann, Ben, Lea",
        "~ move the conversation to a new private channel",
        "+ invite Sam, Sia (@security)",
        "+ invite Dee (declared it, retyped it)",
        "+ invite Pat (the one of @platform-leadership)",
    ]
    assert f"- archive #inc-{incident.codename}" in lines
    assert "~ withdraw the announcement in #incidents" in lines
    assert any("have already read it" in note.text for note in plan.notes)
    begins = "Brings in 3 more people · 3 lose access · opens 1 channel · posts in 2 channels · "
    assert plan.in_short.startswith(begins)


def test_who_owns_what_comes_next_and_is_shut_out_is_warned_of_until_they_come_along(house: House) -> None:
    incident = house.declare()
    ann, ben, dee = (house.person(name) for name in ("ann", "ben", "dee"))
    lifecycle.update(incident, text="Slow", next_step="Look at the pool", owner=ann, by=dee, at=house.now())
    lifecycle.add_followup(incident, text="Drain it", phase="during", owner=ben, by=dee, at=house.now())
    lifecycle.add_followup(incident, text="Fill it", phase="during", owner=ann, by=dee, at=house.now())

    def warned(to: str = "security", *bring: Person) -> list[str]:
        found = retyping.preview(incident, to=house.type(to), by=dee, bring=bring)
        return [line.text for line in found.lines if line.is_warning]

    bens = "Ben owns task 1 and loses access."
    assert warned() == ["Ann owns the next step and task 2, and loses access.", bens]
    assert warned("security", ann) == [bens]
    assert warned("major") == []
    lifecycle.finish_followup(incident, n=1, by=ben, at=house.now())
    assert warned("security", ann) == []


def test_a_move_to_private_takes_the_new_people_along_and_leaves_nothing_behind(house: House) -> None:
    incident = house.declare("Someone has our keys")
    lifecycle.update(incident, text="The keys of checkout leaked", by=house.person("ann"), at=house.now())
    incident = house.settle(incident)
    old = house.channel(incident)
    incident = house.retype(incident, "security", bring=["ben"])
    new = house.channel(incident)
    assert house.slack.members(new) == {"firekind", "dee", "ben", "sam", "sia", "pat"}
    assert house.slack.channel(new).is_private
    assert house.slack.channel(old).is_archived
    assert house.slack.topic(old) == ""
    assert not house.slack.bookmarks(old)
    said = " ".join([*house.slack.texts(old), *house.slack.texts("incidents")])
    assert "keys" not in said
    assert "keys" in " ".join(house.slack.texts(new))
    assert incident.codename not in " ".join(house.slack.texts("incidents"))


def test_a_private_incident_closes_at_once_to_those_left_behind(house: House) -> None:
    incident = house.declare()
    assert visibility.may_see(house.person("out"), incident)
    retyping.confirm(incident, to=house.type("security"), by=house.person("dee"), at=house.now())
    assert not visibility.may_see(house.person("out"), incident)
    assert not visibility.may_see(house.person("ann"), incident)
    assert visibility.may_see(house.person("dee"), incident)
    incident = house.settle(incident)
    assert visibility.may_see(house.person("sam"), incident)


def test_from_private_the_channel_stays_and_the_plan_says_who_will_read_it(house: House) -> None:
    incident = house.declare(type="security")
    room = house.channel(incident)
    plan = retyping.preview(incident, to=house.type("isolated"), by=house.person("dee"))
    assert any("@support) will be able to read the private history." in note.text for note in plan.notes)
    incident = house.retype(incident, "isolated")
    assert house.channel(incident) == room
    assert incident.private
    assert house.slack.channel(room).is_private
    assert not house.slack.texts("incidents")


def test_there_and_back_invites_nobody_twice(house: House) -> None:
    incident = house.declare()
    incident = house.retype(incident, "major")
    house.slack.calls.clear()
    incident = house.retype(incident, "ambiguous")
    incident = house.retype(incident, "major")
    assert "conversations.invite" not in house.writes()
    assert "conversations.create" not in house.writes()


def test_a_plan_that_changed_meanwhile_is_shown_instead(house: House) -> None:
    incident = house.declare()
    shown = retyping.preview(incident, to=house.type("major"), by=house.person("dee"))
    lifecycle.set_lead(incident, lead=house.person("cat"), by=house.person("dee"), at=house.now())
    house.settle(incident)
    with pytest.raises(retyping.PlanChanged) as changed:
        retyping.confirm(incident, to=house.type("major"), by=house.person("dee"), at=house.now(), digest=shown.digest)
    assert changed.value.plan.digest != shown.digest
    again = house.now()
    retyping.confirm(incident, to=house.type("major"), by=None, at=again, digest=None)


def test_who_left_by_hand_is_not_fetched_back(house: House) -> None:
    from workflows.channels import rooms

    incident = house.declare()
    channel = rooms.channel_of(incident)
    assert channel is not None
    house.slack.acts.leave("ann", channel.external["name"])
    rooms.left(incident, person=house.person("ann"), channel_id=channel.external_id, at=house.now())
    incident = house.retype(incident, "time-bomb")
    assert "ann" not in house.slack.members(house.channel(incident))
    assert "eve" in house.slack.members(house.channel(incident))


def test_a_missing_group_is_a_gap_and_not_a_failure(db: None) -> None:
    groups = {handle: members for handle, members in GROUPS.items() if handle != "support"}
    with house(workspace(groups)) as home:
        incident = home.declare(type="isolated")
        gaps = progress.of(incident).gaps
        assert len(gaps) == 1
        assert "no user group @support" in gaps[0].says
        assert not Effect.objects.filter(incident=incident).exclude(state="done").exists()
        assert incident.events.filter(kind="gap").count() == 1
        home.slack.add_group("support", members=["ben"])
        from workflows.usergroups import workspace_cache

        workspace_cache.refresh()
        incident = home.settle(incident)
        assert not progress.of(incident).gaps
        assert incident.events.filter(kind="gap_closed").count() == 1


def test_a_group_of_guests_is_missing_on_the_plan_and_after_it_until_someone_can_be_invited(house: House) -> None:
    house.slack.add_group("support", members=["ben"])
    house.slack.person("ben").is_restricted = True
    workspace_cache.refresh(everybody=True)
    incident = house.declare(type="internal")
    shown = retyping.preview(incident, to=house.type("isolated"), by=house.person("dee"))
    assert any(line.sign == "!" and "@support has no one who can be invited" in line.text for line in shown.lines)
    incident = house.retype(incident, "isolated")
    (gap,) = progress.of(incident).gaps
    assert "@support has no one who can be invited" in gap.says
    with pytest.raises(lifecycle.Refused, match="@support has no one"):
        missing.mended(gap.key, incident, by=house.person("dee"), at=house.now())
    house.slack.add_group("support", members=["ben", "lea"])
    assert missing.mended(gap.key, incident, by=house.person("dee"), at=house.now()).startswith("Thanks")
    incident = house.settle(incident)
    assert not progress.of(incident).gaps
    assert "lea" in house.slack.members(house.channel(incident))


def test_a_guest_does_not_read_that_people_come_in_where_nobody_does(house: House) -> None:
    house.slack.add_person("gus", name="Gus", is_restricted=True)
    workspace_cache.refresh(everybody=True)
    incident = house.declare()
    lifecycle.bring_in(incident, people=[house.person("gus")], by=house.person("dee"), at=house.now())
    incident = house.settle(incident)
    shown = {
        slug: retyping.preview(incident, to=house.type(slug), bring=(), by=house.person("gus"))
        for slug in ("internal", "isolated", "security")
    }
    brings = {slug: any("bring in" in line.text for line in plan.lines) for slug, plan in shown.items()}
    assert brings == {"internal": False, "isolated": True, "security": True}
    assert "- end access for 3 people" in map(str, shown["security"].lines)
    assert "3 lose access" in shown["security"].in_short


def test_guests_bots_and_leavers_of_a_group_stay_out(db: None) -> None:
    slack = workspace()
    slack.add_person("gus", name="Gus", email="gus@example.com", is_restricted=True)
    slack.add_person("bot", name="Robot", is_bot=True)
    slack.add_person("old", name="Old", email="old@example.com", deleted=True)
    with house(slack) as home:
        from workflows.models import Group

        ids = [slack.person(handle).id for handle in ("gus", "bot", "old")]
        group = Group.objects.get(handle="incident-response")
        group.members = [*group.members, *ids]
        group.save()
        incident = home.declare()
        assert slack.members(home.channel(incident)) == {"firekind", "dee", "ann", "ben", "lea"}


def test_an_update_is_posted_and_kept_current_everywhere(house: House) -> None:
    incident = house.declare()
    lifecycle.update(incident, text="We rolled back", by=house.person("ann"), at=house.now())
    incident = house.settle(incident)
    assert any("We rolled back" in text for text in house.slack.texts(house.channel(incident)))
    n = incident.events.get(kind="updated").n
    lifecycle.edit(incident, n=n, text="We rolled back to Tuesday", by=house.person("ann"), at=house.now())
    house.settle(incident)
    posts = [text for text in house.slack.texts(house.channel(incident)) if "rolled back" in text]
    assert posts
    assert all("Tuesday" in text for text in posts)


def test_resolving_brings_topic_headline_and_announcement_up_to_date(house: House) -> None:
    incident = house.declare()
    lifecycle.resolve(incident, by=house.person("dee"), at=house.now(), text="It was DNS")
    incident = house.settle(incident)
    assert "Resolved" in house.slack.topic(house.channel(incident))
    lifecycle.archive_channel(incident, by=house.person("dee"), at=house.now())
    incident = house.settle(incident)
    assert house.slack.channel(house.channel(incident)).is_archived
    lifecycle.reopen(incident, by=house.person("dee"), at=house.now())
    incident = house.settle(incident)
    assert "Unarchive it in Slack" in progress.of(incident).gaps[0].says


def test_groups_that_cannot_be_read_are_a_gap_until_they_are(house: House) -> None:
    DirectoryRead.objects.all().delete()
    Group.objects.all().delete()
    incident = house.declare()
    (gap,) = progress.of(incident).gaps
    assert "@incident-response, @leadership-oncall" in gap.says
    assert house.slack.members(house.channel(incident)) == {"firekind", "dee"}
    workspace_cache.refresh()
    incident = house.settle(incident)
    assert not progress.of(incident).gaps
    assert house.slack.members(house.channel(incident)) == {"firekind", "dee", "ann", "ben", "lea"}
