"""A host's clock was ahead and is corrected: whatever it looked at then is looked at again, without an hour's wait.

If the clock was ahead by less than the interval between two looks, the next look is late by no more than that.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.lifecycle import access
from incidents.models import Participant
from integrations.pagerduty.models import Webhook
from integrations.pagerduty.webhooks import inbox
from integrations.tests.house import House
from integrations.tests.test_clock_jumps import HOUR_S, clock_off
from workflows import ports
from workflows.channels import membership
from workflows.models import DirectoryRead, Page, PagerRead, PagerTarget, Resource
from workflows.oncall import overrides, pager_cache, refresh
from workflows.oncall.pager_cache import What
from workflows.paging import poll_pages
from workflows.reconcile import reconcile, sweep
from workflows.usergroups import workspace_cache

FAR = [0.0, HOUR_S, 24 * HOUR_S]
AHEAD = [*FAR, 300.0]


def soon(minutes: int = 2) -> datetime:
    return timezone.now() + timedelta(minutes=minutes)


@pytest.mark.parametrize("ahead_s", FAR)
def test_who_was_removed_loses_the_page_as_soon_as_ever(house: House, ahead_s: float) -> None:
    incident = house.declare("keys", type="security")
    with clock_off(ahead_s):
        membership.poll(at=timezone.now())
        Participant.objects.update(since_at=timezone.now())
        Resource.objects.update(since_at=timezone.now())
    house.slack.acts.kick("dee", house.channel(incident), "sam")
    membership.poll(at=soon())
    assert not visibility.may_see(house.person("sam"), incident)


@pytest.mark.parametrize("off_s", [-60.0, 0.0, 60.0, 300.0])
def test_hosts_whose_clocks_differ_do_not_read_in_turns(house: House, off_s: float) -> None:
    """Each host accepts what the other has just looked at."""
    house.declare("keys", type="security")
    with clock_off(off_s):
        assert membership.poll(at=timezone.now()) == 1
        workspace_cache.refresh(at=timezone.now())
        refresh_at = timezone.now()
    assert membership.poll(at=timezone.now()) == 0
    assert not workspace_cache.is_old(at=timezone.now())
    with clock_off(off_s):
        assert membership.poll(at=refresh_at) == 0


@pytest.mark.parametrize("ahead_s", FAR)
def test_what_waits_for_a_connection_is_planned_again_as_soon_as_ever(house: House, ahead_s: float) -> None:
    incident = house.settle(house.declare())
    with clock_off(ahead_s), ports.using(chat=None):
        reconcile.reconcile(incident.pk, at=timezone.now())
    assert sweep.unplanned(at=soon()) == [incident.pk]
    assert "plan again" in sweep.waiting(at=soon())
    assert reconcile.catch_up(incident.pk, at=soon()) is not None


@pytest.mark.parametrize("ahead_s", FAR)
def test_a_page_whose_opening_was_given_up_is_asked_about_as_soon_as_ever(house: House, ahead_s: float) -> None:
    then = timezone.now() + timedelta(seconds=ahead_s)
    incident = house.declare("down")
    named = {"incident": incident, "key": "page/policy/P1", "dedup_key": "1", "status": Page.Status.OPENING}
    page = Page.objects.create(status_at=then, opened_at=then, **named)
    assert list(poll_pages.due(at=soon(11))) == [page]
    assert not poll_pages.due(at=then + timedelta(minutes=5)).exists()


@pytest.mark.parametrize("looked_at", [True, False])
@pytest.mark.parametrize("ahead_s", AHEAD)
def test_a_page_is_asked_about_as_soon_as_ever(house: House, ahead_s: float, looked_at: bool) -> None:
    then = timezone.now() + timedelta(seconds=ahead_s)
    page = Page.objects.create(
        incident=house.declare("down"),
        key="page/policy/P1",
        dedup_key="1",
        pager_id="Q1",
        status=Page.Status.TRIGGERED,
        status_at=then,
        opened_at=then,
        looked_at=then if looked_at else None,
    )
    assert list(poll_pages.due(at=soon())) == [page]
    assert not poll_pages.due(at=then + timedelta(seconds=5)).exists()


OLD: dict[str, Callable[[], bool]] = {
    "workspace": lambda: workspace_cache.is_old(at=soon()),
    "shifts": lambda: pager_cache.is_old(What.SHIFTS, PagerRead.objects.get(), at=soon()),
    "pager": lambda: pager_cache.is_old(What.DIRECTORY, PagerRead.objects.get(), at=soon(20)),
    "overrides": lambda: overrides.due(["S1"], at=soon(20)) == ["S1"],
}


@pytest.mark.parametrize("what", OLD)
@pytest.mark.parametrize("ahead_s", FAR)
def test_what_was_read_is_read_again_as_soon_as_ever(db: None, what: str, ahead_s: float) -> None:
    read = timezone.now() + timedelta(seconds=ahead_s)
    DirectoryRead.objects.update_or_create(pk=1, defaults={"groups_at": read, "people_at": read})
    PagerRead.objects.create(shifts_at=read, directory_at=read)
    PagerTarget.objects.create(pager_id="S1", kind="schedule", name="Primary", overrides_at=read)
    assert OLD[what]()


@pytest.mark.parametrize("ahead_s", AHEAD)
def test_nobody_is_thought_to_be_reading_still(db: None, ahead_s: float) -> None:
    read = timezone.now() + timedelta(seconds=ahead_s)
    PagerRead.objects.create(pk=1, reading_until=read + refresh.LEASE)
    with refresh._alone(soon(8)) as may:
        assert may


@pytest.mark.parametrize("ahead_s", FAR)
def test_whoever_asked_to_be_let_in_may_ask_again(house: House, ahead_s: float) -> None:
    out, code = house.person("out"), house.declare("keys", type="security").codename
    with clock_off(ahead_s):
        access.ask_in(code, person=out, because="I know it", at=timezone.now())
    access.ask_in(code, person=out, because="I know it", at=timezone.now() + access.EVERY)
    with pytest.raises(lifecycle.Refused, match="try again in 15 minutes"):
        access.ask_in(code, person=out, because="I know it", at=timezone.now() + access.EVERY)


@pytest.mark.parametrize("off_s", [-HOUR_S, -60.0, 0.0, 60.0, HOUR_S])
def test_a_webhook_waits_for_no_clock(db: None, off_s: float) -> None:
    body = b'{"event": {"id": "E1", "event_type": "incident.triggered", "occurred_at": "2026-11-24T10:00:00Z"}}'
    with clock_off(off_s):
        stored = inbox.store(body, key="K1", at=timezone.now())
    assert stored is not None
    Webhook.objects.update(state=Webhook.State.WAITING)
    assert inbox.waiting(at=timezone.now() + timedelta(seconds=1)) == stored.number
    tried: list[int] = []

    def act(webhook: Webhook, **more: Any) -> str:
        tried.append(webhook.pk)
        raise LookupError

    with clock_off(off_s):  # a second later: how far off it is can only be measured to the milliseconds of an answer
        assert inbox.take(act, at=timezone.now() + timedelta(seconds=1)) == 1
    assert inbox.waiting(at=timezone.now() + timedelta(seconds=5)) == stored.number
    assert inbox.take(act, at=timezone.now() + timedelta(seconds=5)) == 1
    assert len(tried) == 2
