"""A clock is set while regular looks are at work, or hosts' clocks differ: each thing is done once, and soon.

What a process remembers in memory is held to the same as the rows of ``test_clock_ahead``.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from audit import tasks as audit_tasks
from audit.sealed import sealing
from incidents.lifecycle import misses
from integrations.tests.another_workspace import connected, other
from integrations.tests.house import House
from integrations.tests.test_announced_again import refused_thrice
from integrations.tests.test_clock_ahead import FAR, soon
from integrations.tests.test_clock_jumps import HOUR_S, clock_off
from integrations.tests.test_group_sync import WRITE, inside, rule, turn
from integrations.tests.test_missed import managers, miss, read
from workflows import pager_account, ports, tasks
from workflows.chat_port import Chat
from workflows.effects import workspaces
from workflows.effects.failing import announcements
from workflows.models import Effect, PagerRead
from workflows.pager_port import Pager
from workflows.reconcile import missed
from workflows.usergroups import group_rules, sync, workspace_cache

__all__ = ["managers", "other"]
OFF = [-HOUR_S, -60.0, 0.0, 60.0, HOUR_S]


@pytest.mark.parametrize("ahead_s", FAR)
def test_a_workspace_that_gave_no_answer_is_asked_again_soon(house: House, other: Any, ahead_s: float) -> None:
    other.faults.add("ratelimited", method="users.list", retry_after_s=60)
    with connected(house, other):
        with clock_off(ahead_s):
            assert not workspaces.follow(house.chat, at=timezone.now())
        other.faults.clear()
        assert workspaces.follow(house.chat, at=soon())


@pytest.mark.parametrize("ahead_s", FAR)
def test_a_workspace_that_could_not_be_read_is_read_soon(
    house: House, ahead_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_reads", tasks._WorkspaceReads())
    workspace_cache.mark_stale()
    house.slack.faults.add("ratelimited", method="usergroups.list", retry_after_s=60)
    with clock_off(ahead_s):
        tasks.refresh_directory()
    house.slack.faults.clear()
    with clock_off(120):
        assert workspace_cache.is_known_old()
        tasks.refresh_directory()
        assert not workspace_cache.is_known_old()


class Account:
    """A pager that was connected with other settings."""

    connection = "new"


@pytest.mark.parametrize("ahead_s", FAR)
def test_pages_are_not_held_back_for_longer_than_a_moment(db: None, ahead_s: float) -> None:
    pager = cast("Pager", Account())
    read = PagerRead.objects.create(connection="old", directory_at=timezone.now())
    with clock_off(ahead_s):
        assert not pager_account.is_known(pager, at=timezone.now())
        pager_account.arrive(pager, [], people=[], at=timezone.now())
    assert pager_account.is_known(pager, at=soon())
    assert pager_account.is_unread(pager, read, at=soon())


@pytest.mark.parametrize("off_s", OFF)
def test_managers_are_told_at_once_whatever_the_clock_of_the_host_that_heard_it(
    house: House, managers: Any, off_s: float
) -> None:
    with clock_off(off_s):
        miss(house, "quiet-heron")
    assert missed.tell_managers(at=timezone.now() + timedelta(seconds=5)) == 1
    assert "quiet-heron" in read(house, "lea")


@pytest.mark.parametrize("off_s", [-2 * HOUR_S, *OFF, 2 * HOUR_S])
def test_nobody_misses_more_than_five_times_an_hour_or_waits_for_longer(house: House, off_s: float) -> None:
    for n in range(misses.MOST):
        with clock_off(off_s if n % 2 else 0):
            miss(house, f"quiet-heron-{n}")
    for off in (off_s, 0.0):
        with clock_off(off), pytest.raises(misses.TooManyMisses):
            misses.must_have_tries(house.person("eve"), at=timezone.now())
    misses.must_have_tries(house.person("eve"), at=soon(61))


@pytest.mark.parametrize("off_s", OFF)
def test_what_one_host_takes_on_no_other_does(house: House, managers: Any, off_s: float) -> None:
    miss(house, "quiet-heron")
    with clock_off(off_s):
        assert len(misses.untold(at=timezone.now() + timedelta(seconds=2))) == 1
    assert not misses.untold(at=timezone.now() + timedelta(seconds=5))
    assert len(misses.untold(at=timezone.now() + misses.TRIED_AGAIN + timedelta(seconds=5))) == 1


@pytest.mark.parametrize("off_s", [-24 * HOUR_S, *OFF, 24 * HOUR_S])
def test_the_newest_head_is_published_whatever_the_clock_of_the_host(
    house: House, off_s: float, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    house.declare()
    sealing.seal(at=sealing.now())
    with clock_off(off_s), caplog.at_level("INFO"):
        audit_tasks.publish()
    assert [one for one in caplog.messages if one.startswith("audit head ")]


@pytest.mark.parametrize("off_s", [-24 * HOUR_S, *OFF, 24 * HOUR_S])
@pytest.mark.parametrize("news", ["shifts", "rule", "hand"])
def test_a_group_follows_its_news_whatever_host_looked_before(house: House, off_s: float, news: str) -> None:
    now = timezone.now()
    turn("ann")
    one = rule()
    PagerRead.objects.create(shifts_at=now, directory_at=now, shifts_until=now + timedelta(days=14))
    with clock_off(off_s):
        workspace_cache.refresh(at=timezone.now())
        sync.sync(at=timezone.now())
    assert inside(house) == ["ann"]
    before = len(house.slack.calls.since(0))
    if news == "shifts":
        turn("ben")
        PagerRead.objects.update(shifts_at=soon())
    elif news == "rule":
        with clock_off(60):
            group_rules.edit(
                one, sources=[], permanent=[house.person("ben")], by=house.person("lea"), at=timezone.now()
            )
    else:
        house.slack.acts.set_group("support", ["eve"])
        workspace_cache.refresh(at=soon())
    assert sync.due(at=soon(3)) == ["support"]
    sync.sync(at=soon(3))
    assert inside(house) == {"shifts": ["ann", "ben"], "rule": ["ben"], "hand": ["ann"]}[news]
    assert sync.due(at=soon(4)) == []
    assert len(house.slack.calls.since(0)) - before < 9


class SlowGroups:
    """A chat that takes so long to write a group that another host looks meanwhile."""

    def __init__(self, chat: Chat, off_s: float) -> None:
        self.chat, self.off_s = chat, off_s

    def __getattr__(self, name: str) -> Any:
        return getattr(self.chat, name)

    def set_group(self, group: str, members: list[str]) -> None:
        """Write it, after another host looked whose clock is off."""
        with clock_off(self.off_s), ports.using(chat=self.chat):
            sync.sync(at=timezone.now())
        self.chat.set_group(group, members)


@pytest.mark.parametrize("off_s", OFF)
def test_a_group_that_one_host_writes_no_other_does(house: House, off_s: float) -> None:
    now = timezone.now()
    turn("ann")
    rule()
    PagerRead.objects.create(shifts_at=now, directory_at=now, shifts_until=now + timedelta(days=14))
    workspace_cache.refresh(at=now)
    with ports.using(chat=cast("Chat", SlowGroups(house.chat, off_s))):
        sync.sync(at=timezone.now())
    assert (inside(house), house.slack.count(WRITE)) == (["ann"], 1)


@pytest.mark.parametrize("ahead_s", FAR)
def test_what_the_announcement_channel_refused_thrice_is_tried_again_soon(house: House, ahead_s: float) -> None:
    incident = refused_thrice(house)
    failed = Effect.objects.filter(incident=incident, state=Effect.State.FAILED)
    assert failed.update(ended_at=timezone.now() + timedelta(seconds=ahead_s)) == 1
    assert sum(announcements.retry(at=soon(minutes)) for minutes in (2, 62, 122)) == 1
