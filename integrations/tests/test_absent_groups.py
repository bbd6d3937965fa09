"""What people are told to do about a missing group can be done in that workspace, and then brings its members in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from incidents.models import Incident
from integrations.tests.house import House
from workflows.models import Group, GroupRule
from workflows.reconcile import retyping
from workflows.status import missing, progress
from workflows.usergroups import sync, workspace_cache

HANDLE: Final = "support"


def taken_away(house: House) -> None:
    group = house.slack.group(HANDLE)
    del house.slack.workspace.groups[group.id]


def disabled(house: House) -> None:
    house.slack.group(HANDLE).enabled = False
    house.slack.group(HANDLE).updated = 1


def unpaid(house: House) -> None:
    house.slack.workspace.plan = "free"


def created(house: House) -> None:
    house.slack.add_group(HANDLE, members=["sue", "ben"])


def enabled(house: House) -> None:
    house.slack.group(HANDLE).enabled = True


def paid(house: House) -> None:
    house.slack.workspace.plan = "pro"


WHY: Final[list[tuple[Callable[[House], object], str, str, Callable[[House], object]]]] = [
    (taken_away, "There is no user group @support", "Create @support", created),
    (disabled, "@support is disabled", "Enable @support", enabled),
    (unpaid, "User groups need a paid Slack plan", "Bring people in by name", paid),
]


def gap(house: House, incident: Incident) -> str:
    (found,) = [one.says for one in progress.of(incident).gaps if one.key == f"gap/group/{HANDLE}"]
    return str(found)


@pytest.mark.parametrize(("away", "why", "to_do", "back"), WHY)
def test_a_missing_group_says_why_it_brings_no_one_in_and_what_can_be_done(
    house: House, away: Callable[[House], object], why: str, to_do: str, back: Callable[[House], object]
) -> None:
    away(house)
    workspace_cache.refresh()
    incident = house.declare()
    plan = retyping.preview(incident, to=house.type("isolated"), by=house.person("dee"))
    (line,) = [one.text for one in plan.lines if one.key == f"group/{HANDLE}"]
    incident = house.retype(incident, "isolated")
    for said in (line, gap(house, incident)):
        assert why in said
        assert to_do in said
    back(house)
    missing.mended(f"gap/group/{HANDLE}", incident, by=house.person("dee"), at=house.now())
    incident = house.settle(incident)
    assert {"sue", "ben"} <= house.slack.members(house.channel(incident))
    assert not [one for one in progress.of(incident).gaps if one.key == f"gap/group/{HANDLE}"]


@pytest.mark.parametrize(("away", "says"), [(taken_away, "Create it there"), (disabled, "Enable it"), (unpaid, "paid")])
def test_a_rule_for_a_group_that_is_away_says_what_can_be_done(
    house: House, away: Callable[[House], object], says: str
) -> None:
    rule = GroupRule.objects.create(handle=HANDLE, created_at=house.now())
    away(house)
    workspace_cache.refresh()
    sync.sync(at=house.now(), only=[rule.handle])
    assert says in GroupRule.objects.get().says


def test_a_disabled_group_gives_way_to_one_in_use_with_its_handle_and_no_one_is_read_again(house: House) -> None:
    disabled(house)
    house.slack.group(HANDLE).members.append("U0LONGGONE")
    house.slack.workspace.groups["S0NEW"] = type(house.slack.group(HANDLE))("S0NEW", HANDLE, "Support", ["USUE"])
    workspace_cache.refresh()
    assert Group.objects.get(handle=HANDLE).chat_id == "S0NEW"
    calls = house.slack.calls.count("users.list")
    workspace_cache.refresh()
    assert house.slack.calls.count("users.list") == calls
