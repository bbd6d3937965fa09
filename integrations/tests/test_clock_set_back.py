"""A clock is set while regular looks are at work, or hosts' clocks differ: each thing is done once, and soon.

What a process remembers in memory is held to the same as the rows of ``test_clock_ahead``.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest
from django.utils import timezone

from incidents import lifecycle
from integrations.tests.another_workspace import connected, other
from integrations.tests.house import House
from integrations.tests.test_clock_ahead import FAR, soon
from integrations.tests.test_clock_jumps import HOUR_S, clock_off
from integrations.tests.test_missed import managers
from workflows import pager_account, tasks
from workflows.effects import workspaces
from workflows.effects.failing import announcements
from workflows.models import Effect, PagerRead
from workflows.pager_port import Pager
from workflows.usergroups import workspace_cache

__all__ = ["managers", "other"]


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


@pytest.mark.parametrize("ahead_s", FAR)
def test_what_the_announcement_channel_refused_thrice_is_tried_again_soon(house: House, ahead_s: float) -> None:
    incident = house.declare("Checkout is slow")
    house.slack.acts.archive("dee", "incidents")
    lifecycle.rename(incident, title="Checkout is down", by=house.person("dee"), at=house.now())
    house.settle(incident)
    for _ in range(2):
        house.slack.acts.unarchive("dee", "incidents")
        announcements.retry(at=timezone.now())
        house.slack.acts.archive("dee", "incidents")
        house.settle(incident)
    house.slack.acts.unarchive("dee", "incidents")
    failed = Effect.objects.filter(incident=incident, state=Effect.State.FAILED)
    assert failed.update(ended_at=timezone.now() + timedelta(seconds=ahead_s)) == 1
    assert sum(announcements.retry(at=soon(minutes)) for minutes in (2, 62, 122)) == 1
