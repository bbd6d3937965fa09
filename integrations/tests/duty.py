"""A house with a pager: the stand-in account has the same people, and everyone the shipped types page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from django.db import connection
from django.utils import timezone

from incidents.models import Incident
from integrations.pagerduty.fake import FakeAccount
from integrations.pagerduty.tests.straight import SENDER, StraightPager, pager_on
from integrations.tests import house as building
from integrations.tests import once
from integrations.tests.house import GROUPS, House
from workflows import ports
from workflows.models import Page
from workflows.oncall import pager_cache

ON_CALL = {"Major incidents": "max", "Security": "sid", "Engineering": "eve"}  # by escalation policy
CONNECTIONS: Final = 20  # as in a worker
WAITS_S: Final = 60  # for one of them, as on a machine that is busy


@dataclass(slots=True)
class Duty:
    """The house, the account, and the pager between them."""

    house: House
    account: FakeAccount
    pager: StraightPager

    def opened(self, incident: Incident) -> list[str]:
        """Return the incident's pages in the account, in the order in which they were opened: *service: status*."""
        rows = {page.dedup_key: page.name for page in Page.objects.filter(incident=incident)}
        found = [(rows.get(one.key or ""), one.status) for one in self.account.account.incidents.values()]
        return [f"{name}: {status}" for name, status in found if name]

    def times_rung(self, handle: str) -> int:
        """Return how often a person was notified."""
        user = self.account.user(handle).id
        return sum(one.user == user for one in self.account.rang)


def account() -> FakeAccount:
    """Create an account with everyone from the house, a policy for each name that types page, and a role's schedule."""
    made = FakeAccount(clock=lambda: timezone.now().timestamp())
    people = [one for members in GROUPS.values() for one in members]
    made.add_user("firekind", email=SENDER)
    for handle in dict.fromkeys([*people, *ON_CALL.values(), "dee"]):
        made.add_user(handle, email=f"{handle}@example.com")
    for name, handle in ON_CALL.items():
        made.add_policy(name, handle)
        made.add_service(f"{name} service", policy=name)
    made.add_service("Firekind", policy="Major incidents")
    made.add_schedule("Platform leadership", ["pia"])
    return made


@contextmanager
def duty(others: Iterable[str] = ()) -> Iterator[Duty]:
    """Put a workspace and an account behind the ports, with these additional people. Needs a database."""
    slack = building.workspace(others=("dee", "out", *ON_CALL.values(), *others))
    with building.house(slack) as house:
        made = account()
        pager = pager_on(made)
        with ports.using(chat=house.chat, pager=pager):
            pager_cache.refresh(at=timezone.now())
            pager_cache.refresh_shifts(at=timezone.now())
            yield Duty(house, made, pager)


@contextmanager
def pooled_duty() -> Iterator[Duty]:
    """Build a house whose rows other threads see; together they have as many connections as a worker's threads."""
    with duty() as made:
        options = connection.settings_dict["OPTIONS"]
        connection.close()
        options["pool"] = {"min_size": 1, "max_size": CONNECTIONS, "timeout": WAITS_S}
        yield made
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL wrapper alone, which this is
        del options["pool"]


@contextmanager
def copied(built: Duty) -> Iterator[Duty]:
    """Put an untouched copy of what was built once behind the ports."""
    made = once.copied(built)
    made.pager = pager_on(made.account)  # PagerDuty's own client cannot be copied
    with ports.using(chat=made.house.chat, pager=made.pager):
        yield made
