"""A second PagerDuty account: the same people, policies and schedule under different ids."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.utils import timezone

from incidents.models import Incident
from integrations.pagerduty.fake import FakeAccount
from integrations.pagerduty.tests.straight import SENDER, StraightPager
from integrations.tests.duty import ON_CALL, Duty
from integrations.tests.house import GROUPS
from workflows import ports
from workflows.models import Resource
from workflows.oncall import refresh
from workflows.reconcile import sweep

KEY = "another"


def account() -> FakeAccount:
    """Create an account with the same people, policies and schedule under different ids."""
    made = FakeAccount(api_key=KEY, clock=lambda: timezone.now().timestamp())
    made.add_user("firekind", email=SENDER, id="Q9FIREKIND")
    people = [one for members in GROUPS.values() for one in members]
    for handle in dict.fromkeys([*people, *ON_CALL.values(), "dee"]):
        made.add_user(handle, email=f"{handle}@example.com", id=f"Q9U{handle.upper()}")
    for name, handle in ON_CALL.items():
        made.add_policy(name, handle.title(), id=f"Q9P{name[:3].upper()}")
        made.add_service(f"{name} service", policy=name, id=f"Q9S{name[:3].upper()}")
    made.add_service("Firekind", policy="Major incidents", id="Q9SFIREKIND")
    made.add_schedule("Platform leadership", ["Pia"], id="Q9SCHED")
    return made


@pytest.fixture
def other() -> FakeAccount:
    """The account that is not connected yet."""
    return account()


@contextmanager
def connected(duty: Duty, pager: StraightPager) -> Iterator[None]:
    """Connect an account like a process restarted with its key; it is soon read."""
    with ports.using(chat=duty.house.chat, pager=pager):
        yield


def read() -> None:
    """Read the connected account, as a worker does now and then."""
    refresh.keep(at=timezone.now())


def settle(duty: Duty, incident: Incident) -> Incident:
    """Settle like a worker that has read the account."""
    read()
    for pk in sweep.unsettled():
        assert pk
    return duty.house.settle(incident)


def gaps(incident: Incident) -> list[str]:
    """Return the gaps about things in an account that is not connected."""
    found = Resource.objects.filter(incident=incident, kind="gap").values_list("label", flat=True)
    return [text for text in found if "PagerDuty account" in text]
