"""From the stand-in account through the cache to Slack: a handover at nine with an override from ten past."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from integrations.pagerduty.fake import FakeAccount
from integrations.pagerduty.tests.straight import SENDER, StraightPager, pager_on
from integrations.tests import house as building
from integrations.tests.house import House
from workflows import ports
from workflows.models import GroupRule
from workflows.oncall import refresh
from workflows.usergroups import sync, workspace_cache

NINE = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
HOUR_S = 3600.0
PEOPLE = ("ann", "ben", "eve")


def at(minutes: float) -> datetime:
    return NINE + timedelta(minutes=minutes)


@dataclass(slots=True)
class Morning:
    """The house, the account, and a clock for both."""

    house: House
    account: FakeAccount
    pager: StraightPager
    now: datetime

    def beat(self, minutes: float) -> list[str]:
        """Run the beat's tasks once at a time, and return who is in the group."""
        self.now = at(minutes)
        refresh.keep(at=self.now)
        if sync.due(at=self.now):
            sync.sync(at=self.now)
        people = self.house.slack.workspace.people
        return sorted(people[one].handle for one in self.house.slack.group("support").members)


@pytest.fixture
def morning(db: None) -> Iterator[Morning]:
    with building.house(building.workspace(others=("dee", *PEOPLE))) as house:
        clock: list[Morning] = []
        account = FakeAccount(clock=lambda: clock[0].now.timestamp() if clock else at(-30).timestamp())
        account.add_user("firekind", email=SENDER)
        for handle in PEOPLE:
            account.add_user(handle, email=f"{handle}@example.com")
        pager = pager_on(account)
        clock.append(Morning(house, account, pager, at(-30)))
        with ports.using(chat=house.chat, pager=pager):
            workspace_cache.refresh(at=at(-30))
            yield clock[0]


def schedule(morning: Morning, *, v3: bool, attached: bool) -> str:
    """Ann hands over to Ben at nine; with ``attached`` a policy pages the schedule."""
    account = morning.account
    made = account.add_schedule("Support", ["ann", "ben"], start=NINE.timestamp() - 24 * HOUR_S, v3=v3)
    if attached:
        account.add_policy("Support policy", "Support")
        account.add_service("Support service", policy="Support policy")
    return made.id


@pytest.mark.parametrize("v3", [False, True], ids=["layers", "shifts"])
@pytest.mark.parametrize("attached", [False, True], ids=["alone", "attached"])
def test_the_group_is_right_within_seconds_of_a_hand_over_and_of_an_override(
    morning: Morning, v3: bool, attached: bool
) -> None:
    source = schedule(morning, v3=v3, attached=attached)
    morning.account.acts.set_override("Support", "eve", at(10).timestamp(), at(60).timestamp())
    GroupRule.objects.create(handle="support", sources=[{"subject": source, "level": 0}], created_at=at(-30))
    assert morning.beat(-1) == ["ann"]
    assert morning.beat(0.5) == ["ben"], "09:00:30"
    assert morning.beat(9.9) == ["ben"]
    assert morning.beat(10.5) == ["eve"], "09:10:30"
    assert morning.beat(60.5) == ["ben"]
    assert morning.house.slack.count("usergroups.users.update") == 4


def test_a_level_of_a_policy_follows_its_schedule(morning: Morning) -> None:
    schedule(morning, v3=False, attached=True)
    policy = morning.account.policy("Support policy").id
    GroupRule.objects.create(handle="support", sources=[{"subject": policy, "level": 1}], created_at=at(-30))
    assert [morning.beat(minute) for minute in (-1, 0.5)] == [["ann"], ["ben"]]


def test_a_hand_over_happens_though_the_pager_is_down(morning: Morning) -> None:
    source = schedule(morning, v3=False, attached=True)
    GroupRule.objects.create(handle="support", sources=[{"subject": source, "level": 0}], created_at=at(-30))
    assert morning.beat(-1) == ["ann"]
    morning.pager.rest.is_down = True
    assert morning.beat(0.5) == ["ben"]


def test_an_override_that_is_made_on_the_spot_is_met_when_it_is_read(morning: Morning) -> None:
    source = schedule(morning, v3=False, attached=True)
    GroupRule.objects.create(handle="support", sources=[{"subject": source, "level": 0}], created_at=at(-30))
    assert morning.beat(0.5) == ["ben"]
    morning.account.acts.set_override("Support", "eve", at(2).timestamp(), at(60).timestamp())
    assert morning.beat(2.1) == ["eve"]
