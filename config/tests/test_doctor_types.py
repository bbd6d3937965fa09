"""The doctor says what types ask for in vain, before the first incident misses it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from config.doctor import vendors
from incidents.tests import shipped
from integrations.tests import duty as on_duty
from integrations.tests import house as building
from integrations.tests.duty import Duty
from integrations.tests.house import House
from integrations.tests.test_absent_groups import WHY
from workflows import ports
from workflows.oncall import pager_cache
from workflows.usergroups import workspace_cache

pytestmark = pytest.mark.django_db
FINE = ["ok"]


def levels() -> list[str]:
    return [one.level for one in vendors.types()]


@pytest.mark.parametrize(("away", "why", "to_do", "back"), WHY)
def test_a_missing_group_is_named_once_for_all_types(
    away: Callable[[House], object], why: str, to_do: str, back: Callable[[House], object]
) -> None:
    with building.house() as house:
        assert levels() == FINE
        away(house)
        workspace_cache.refresh()
        (said,) = [one for one in vendors.types() if "@support" in one.says]
        assert said.level == "warning"
        assert why in said.says
        assert to_do in said.says
        assert said.says.endswith("The same goes for Major.")
        back(house)
        workspace_cache.refresh()
        assert levels() == FINE


def _policy(duty: Duty) -> None:
    policy = duty.account.policy("Security")
    policy.name = "Renamed"
    duty.account.service("Security service").name = "Renamed service"


def _levels(duty: Duty) -> None:
    duty.account.policy("Security").levels.clear()


def _rules(duty: Duty) -> None:
    duty.account.user("sid").notified_of = []


def _window(duty: Duty) -> None:
    for service in duty.account.account.services.values():
        service.status = "maintenance"


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_policy, "no escalation policy or service Security"),
        (_levels, "No one is on call for Security"),
        (_rules, "no rule to notify Sid"),
        (_window, "for Security is in a maintenance window"),
    ],
)
def test_a_page_that_would_not_reach_anyone_is_named(spoil: Callable[[Duty], object], says: str) -> None:
    with on_duty.duty() as duty:
        assert levels() == FINE
        spoil(duty)
        pager_cache.refresh(at=timezone.now() + timedelta(hours=1))
        pager_cache.refresh_shifts(at=timezone.now() + timedelta(hours=1))
        assert any(says in one.says for one in vendors.types())


def test_where_nothing_is_connected_nothing_is_asked_for() -> None:
    shipped.bring()
    with ports.using():
        assert levels() == FINE
