"""User groups follow who is on call: written when they differ, never emptied, corrected after someone edits them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from incidents.models import Person
from incidents.people import person_matching
from integrations.tests.house import House
from integrations.tests.losing import lost
from workflows import tasks
from workflows.models import GroupChange, GroupRule, PagerRead, PagerTarget, PagerUser, Shift
from workflows.oncall import people as matching
from workflows.usergroups import history, sync, workspace_cache

NINE = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
WRITE = "usergroups.users.update"


def at(minutes: float) -> datetime:
    return NINE + timedelta(minutes=minutes)


def turn(handle: str, start: datetime | None = None, end: datetime | None = None, *, subject: str = "SCHED") -> None:
    PagerTarget.objects.get_or_create(pager_id=subject, defaults={"kind": "schedule", "name": subject.title()})
    person = person_matching.by_chat_id(f"U0{handle.upper()}")
    PagerUser.objects.get_or_create(pager_id=handle, defaults={"name": handle.title(), "person": person})
    Shift.objects.create(subject=subject, user=handle, start_at=start, end_at=end)


def rule(handle: str = "support", *subjects: str, permanent: tuple[Person, ...] = ()) -> GroupRule:
    sources = [{"subject": one, "level": 0} for one in subjects or ("SCHED",)]
    made = GroupRule.objects.create(handle=handle, sources=sources, created_at=at(-60))
    made.permanent.set(permanent)
    return made


def read(minutes: float, *, groups: bool = True) -> None:
    when = at(minutes)
    values = {"shifts_at": when, "directory_at": when, "shifts_until": when + timedelta(days=14)}
    PagerRead.objects.update_or_create(pk=1, defaults=values)
    if groups:
        workspace_cache.refresh(at=when)


def inside(house: House, handle: str = "support") -> list[str]:
    ids = house.slack.group(handle).members
    return sorted(house.slack.workspace.people[one].handle for one in ids)


def says(one: GroupRule) -> list[str]:
    return list(GroupChange.objects.filter(rule=one).order_by("pk").values_list("says", flat=True))


def test_a_hand_over_and_an_override_are_met_within_seconds(house: House) -> None:
    turn("ann", end=NINE)
    turn("ben", NINE, at(10))
    turn("cat", at(10))
    one = rule()
    read(-1)
    sync.sync(at=at(-0.5))
    assert inside(house) == ["ann"]
    assert sync.due(at=at(-0.1)) == []
    assert sync.due(at=at(0.5)) == ["support"]
    sync.sync(at=at(0.5))
    assert inside(house) == ["ben"]
    sync.sync(at=at(10.5))
    assert inside(house) == ["cat"]
    assert says(one) == ["First check.", "Handover.", "Handover."]
    assert house.slack.count(WRITE) == 3


def test_a_second_look_calls_nobody(house: House) -> None:
    turn("ann")
    rule()
    read(0)
    sync.sync(at=at(0.1))
    before = house.slack.count()
    assert [one.state for one in sync.sync(at=at(0.5))] == ["true"]
    assert house.slack.count() == before
    assert sync.due(at=at(0.5)) == []


def test_what_somebody_edits_by_hand_is_put_right_and_said(house: House) -> None:
    turn("ann")
    one = rule()
    read(0)
    sync.sync(at=at(0.1))
    house.slack.acts.set_group("support", ["eve", "eli"])
    workspace_cache.refresh(at=at(1))
    assert sync.due(at=at(1)) == ["support"]
    [found] = sync.sync(at=at(1))
    assert inside(house) == ["ann"]
    assert (found.joined, found.left) == (("U0ANN",), ("U0ELI", "U0EVE"))
    assert says(one)[-1] == "Someone changed the group in Slack; Firekind restored it."


def test_what_a_restore_made_us_forget_is_named_before_it_is_set_again_and_nobody_is_blamed(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    turn("ann")
    one = rule()
    now = timezone.now()
    PagerRead.objects.create(pk=1, shifts_at=now, directory_at=now, shifts_until=now + timedelta(days=14))
    house.declare("Known")
    sync.sync(at=timezone.now())
    call_command("restored")
    assert "@support" not in capsys.readouterr().out
    with lost():
        GroupRule.objects.update(active=False)
        house.slack.acts.set_group("support", ["eve", "eli"])
    call_command("restored")
    assert "  @support: + Ann, - Eli, - Eve" in capsys.readouterr().out
    assert inside(house) == ["eli", "eve"]
    sync.sync(at=timezone.now())
    assert inside(house) == ["ann"]
    assert says(one)[-1].startswith("It was changed after the point the database was restored to")


def test_two_that_follow_one_group_do_not_undo_each_other_without_end(house: House) -> None:
    """For example another Firekind, or PagerDuty itself, maintains the same group."""
    turn("ann", end=at(30))
    turn("ben", at(30))
    one = rule()
    read(0)
    sync.sync(at=at(0.1))
    for minute in range(1, 30):
        the_other_writes(house, minute)
    assert house.slack.count(WRITE) == 1 + history.RESTORED_AT_MOST
    one.refresh_from_db()
    assert (inside(house), one.state, one.says) == (["eve"], "waiting", history.CONTESTED)
    assert says(one)[-1] == history.CONTESTED, "its history says it once"
    sync.sync(at=at(30.1))
    assert inside(house) == ["ben"], "a handover is carried out all the same"
    the_other_writes(house, 31)
    assert inside(house) == ["eve"]
    for minute in (40, 50, 60, 70):
        sync.sync(at=at(minute))
    assert inside(house) == ["ben"], "it is tried again each hour"


@pytest.mark.parametrize("change", ["handover", "edited"])
def test_a_handover_or_a_new_rule_that_slack_rate_limits_is_carried_out_all_the_same(house: House, change: str) -> None:
    turn("ann", end=at(30))
    turn("ben" if change == "handover" else "ann", at(30))
    one = rule()
    read(0)
    sync.sync(at=at(0.1))
    for minute in range(1, 30):
        the_other_writes(house, minute)
    assert inside(house) == ["eve"], "it is contested"
    if change == "edited":
        one.permanent.add(house.person("ben"))
        GroupRule.objects.filter(pk=one.pk).update(edited_at=at(30))
    house.slack.faults.add("ratelimited", method=WRITE, times=1)
    sync.sync(at=at(30.1), only=["support"])
    assert inside(house) == ["eve"]
    sync.sync(at=at(32))
    assert "ben" in inside(house)


def the_other_writes(house: House, minute: float) -> None:
    house.slack.acts.set_group("support", ["eve"])
    workspace_cache.refresh(at=at(minute))
    if sync.due(at=at(minute)):
        sync.sync(at=at(minute))


def test_a_group_is_never_emptied_and_the_rule_says_so_once(house: House) -> None:
    turn("ann", end=NINE)
    one = rule()
    read(-1)
    sync.sync(at=at(-0.5))
    for minute in (1, 2):
        sync.sync(at=at(minute))
    one.refresh_from_db()
    assert inside(house) == ["ann"]
    assert one.state == "waiting"
    assert "No one is on call" in one.says
    assert len(says(one)) == 2


def test_people_who_cannot_be_members_are_left_out_and_the_rest_is_written(house: House) -> None:
    guest = house.slack.add_person("gus", name="Gus", is_restricted=True)
    workspace_cache.refresh(at=at(-2), everybody=True)
    turn("gus")
    turn("ann")
    Shift.objects.create(subject="SCHED", user="nobody-knows")
    rule(permanent=(house.person("lea"),))
    read(0)
    sync.sync(at=at(0.5))
    assert guest.id not in house.slack.group("support").members
    assert inside(house) == ["ann", "lea"]


def test_a_group_that_does_not_exist_is_said_and_found_once_it_is_made(house: House) -> None:
    turn("ann")
    one = rule("web-oncall")
    read(0)
    sync.sync(at=at(0.1))
    one.refresh_from_db()
    assert (one.state, "no user group @web-oncall" in one.says) == ("failed", True)
    house.slack.add_group("web-oncall", members=["eve"])
    workspace_cache.refresh(at=at(1))
    assert sync.due(at=at(1)) == ["web-oncall"]
    sync.sync(at=at(1))
    assert inside(house, "web-oncall") == ["ann"]


def test_a_workspace_that_lets_only_admins_change_groups_is_explained_once_and_not_asked_again(house: House) -> None:
    turn("ann")
    rules = [rule("support"), rule("security")]
    read(0)
    house.slack.workspace.anyone_edits_groups = False
    for minute in (0.1, 0.2, 30):
        sync.sync(at=at(minute))
    assert house.slack.count(WRITE) == 1
    for one in rules:
        one.refresh_from_db()
        assert one.state == "failed"
        assert one.says.startswith("Only admins can change user groups in this workspace")
        assert len(says(one)) == 1
    house.slack.workspace.anyone_edits_groups = True
    assert [one.state for one in sync.sync(at=at(31), only=["support"])] == ["true"]
    assert inside(house) == ["ann"]


def test_one_group_that_fails_does_not_stop_the_others(house: House) -> None:
    turn("ann")
    first, second = rule("leadership"), rule("support")
    read(0)
    house.slack.faults.add("error", method=WRITE, times=1, error="invalid_users")
    sync.sync(at=at(0.1))
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, second.state) == ("failed", "true")


def test_a_rate_limit_stops_the_method_for_as_long_as_slack_asks(house: House) -> None:
    turn("ann")
    rule("leadership")
    rule("support")
    read(0)
    house.slack.faults.add("ratelimited", method=WRITE, times=1, retry_after_s=30)
    assert {one.state for one in sync.sync(at=at(0.1))} == {"waiting"}
    sync.sync(at=at(0.3))
    assert house.slack.count(WRITE) == 1
    sync.sync(at=at(0.7))
    assert (inside(house), inside(house, "leadership")) == (["ann"], ["ann"])
    assert house.slack.count(WRITE) == 3


def test_an_answer_that_was_lost_is_looked_for_and_not_written_again(house: House) -> None:
    turn("ann")
    one = rule()
    read(0)
    house.slack.faults.add("drop", method=WRITE, times=1)
    sync.sync(at=at(0.1))
    one.refresh_from_db()
    assert one.state == "waiting"
    sync.sync(at=at(1))
    one.refresh_from_db()
    assert one.state == "true"
    assert house.slack.count(WRITE) == 1


def test_two_who_look_at_once_write_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    turn("ann")
    rule()
    read(0)
    plain = house.chat.set_group

    def while_calling(chat_id: str, members: list[str]) -> None:
        assert sync.sync(at=at(0.1)) == [], "somebody else holds the claim"
        plain(chat_id, members)

    monkeypatch.setattr(house.chat, "set_group", while_calling)
    sync.sync(at=at(0.1))
    assert house.slack.count(WRITE) == 1


def test_schedules_that_were_not_read_change_nothing(house: House) -> None:
    turn("ann")
    one = rule()
    workspace_cache.refresh(at=at(0))
    sync.sync(at=at(0.1))
    one.refresh_from_db()
    assert (one.state, house.slack.count(WRITE)) == ("waiting", 0)
    read(1)
    sync.sync(at=at(14 * 24 * 60 + 2))
    one.refresh_from_db()
    assert (one.state, house.slack.count(WRITE)) == ("waiting", 0)


def test_a_source_that_is_gone_holds_the_group_as_it_is(house: House) -> None:
    turn("ann")
    turn("ben", subject="OTHER")
    one = rule("support", "SCHED", "OTHER")
    PagerTarget.objects.filter(pager_id="OTHER").update(gone=True)
    read(0)
    sync.sync(at=at(0.1))
    one.refresh_from_db()
    assert (one.state, house.slack.count(WRITE)) == ("waiting", 0)
    assert "“Other” no longer exists" in one.says


def test_fifty_groups_of_two_hundred_people_cost_one_call_each_that_changed(house: House) -> None:
    handles = [f"p{n}" for n in range(200)]
    for handle in handles:
        house.slack.add_person(handle)
    for n in range(50):
        house.slack.add_group(f"group-{n}", members=handles[:1])
    workspace_cache.refresh(at=at(-5), everybody=True)
    PagerTarget.objects.create(pager_id="BIG", kind="schedule", name="Big")
    known = {one.chat_id: one for one in Person.objects.all()}
    PagerUser.objects.bulk_create(
        PagerUser(pager_id=h, name=h, person=known[house.slack.person(h).id]) for h in handles
    )
    Shift.objects.bulk_create(
        Shift(subject="BIG", user=handle, end_at=at(60) if handle == "p199" else None) for handle in handles
    )
    for n in range(50):
        rule(f"group-{n}", "BIG")
    read(0)
    before = house.slack.count()
    sync.sync(at=at(0.1))
    assert house.slack.count() - before == 50
    assert len(house.slack.group("group-7").members) == 200
    with CaptureQueriesContext(connection) as queries:
        sync.sync(at=at(0.2))
    assert house.slack.count() - before == 50, "a second run makes none"
    assert len(queries) <= 12, "and asks the database as often as for one group"
    house.slack.acts.set_group("group-3", ["p1"])
    workspace_cache.refresh(at=at(0.5))
    before = house.slack.count(WRITE)
    sync.sync(at=at(0.6))
    assert house.slack.count(WRITE) - before == 1


def test_those_who_belong_in_a_group_are_invited_even_if_slack_refuses_the_edit(house: House) -> None:
    turn("ann")
    rule("support")
    now = datetime.now(UTC)
    PagerRead.objects.create(pk=1, shifts_at=now, directory_at=now, shifts_until=now + timedelta(days=1))
    house.slack.workspace.anyone_edits_groups = False
    found = workspace_cache.members(["support", "security"])
    assert [one.name for one in found["support"] or ()] == ["Ann"]
    assert [one.name for one in found["security"] or ()] == ["Sam", "Sia"]


def test_expanding_groups_without_rules_costs_no_more_queries(house: House) -> None:
    with CaptureQueriesContext(connection) as queries:
        workspace_cache.members(["support", "security"])
    assert len(queries) == 2


def test_a_beat_with_nothing_due_asks_the_database_once_and_slack_never(house: House) -> None:
    turn("ann")
    rule()
    now = timezone.now()
    PagerRead.objects.create(pk=1, shifts_at=now, directory_at=now, shifts_until=now + timedelta(days=14))
    tasks.keep_groups()
    assert inside(house) == ["ann"]
    before = house.slack.count()
    with CaptureQueriesContext(connection) as queries:
        tasks.keep_groups()
    assert (len(queries), house.slack.count()) == (1, before)


def test_a_match_by_hand_brings_somebody_in_at_the_next_beat(house: House) -> None:
    turn("ann")
    rule()
    user = PagerUser.objects.create(pager_id="PDEE", name="Dee Dee")
    Shift.objects.create(subject="SCHED", user="PDEE")
    now = timezone.now()
    PagerRead.objects.create(pk=1, shifts_at=now, directory_at=now, shifts_until=now + timedelta(days=14))
    tasks.keep_groups()
    assert inside(house) == ["ann"]
    matching.match(user, person=house.person("dee"), by=house.person("lea"), at=timezone.now())
    tasks.keep_groups()
    assert inside(house) == ["ann", "dee"]


def test_who_belongs_in_a_group_is_in_the_channel_though_slack_refuses_the_edit(house: House) -> None:
    incident = house.declare(type="isolated")
    turn("eve")
    rule("support")
    now = timezone.now()
    PagerRead.objects.create(pk=1, shifts_at=now, directory_at=now, shifts_until=now + timedelta(days=14))
    house.slack.workspace.anyone_edits_groups = False
    house.settle(incident)
    channel = house.slack.channel(house.channel(incident))
    assert house.slack.person("eve").id in channel.members
