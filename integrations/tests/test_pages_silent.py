"""People that PagerDuty has no rule to notify are named before a page to them is counted on, and once it is out."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from integrations.tests.duty import Duty
from workflows.models import Page
from workflows.oncall import callees, pager_cache
from workflows.paging import paging, poll_pages
from workflows.planning.wording.plan_sum import NO_ONE
from workflows.reconcile import retyping
from workflows.status import progress


def unruled(duty: Duty, handle: str, *rules: str) -> None:
    """Leave someone only these rules, and read the account again."""
    duty.account.user(handle).notified_of = [*rules]
    pager_cache.refresh(at=timezone.now() + timedelta(hours=1))


@pytest.mark.parametrize("rules", [(), ("low",)])
def test_who_is_notified_of_nothing_is_named_before_a_page_is_counted_on(duty: Duty, rules: tuple[str, ...]) -> None:
    unruled(duty, "max", *rules)
    house = duty.house
    incident = house.declare()
    plan = retyping.preview(incident, to=house.type("major"), by=house.person("dee"))
    (line,) = [one for one in plan.lines if one.key.startswith("silent/")]
    assert "no rule to notify Max" in line.text
    assert "Call them" in line.text
    assert "Pages Max (without notifying everyone)" in plan.in_short
    assert NO_ONE not in plan.reach

    incident = house.retype(incident, "major")
    assert not duty.times_rung("max")
    assert Page.objects.get(incident=incident).status == "triggered"
    (said,) = [event.text for event in incident.events.filter(kind="page") if event.text.startswith("paged")]
    assert "no rule to notify Max of an urgent page: call them" in said
    assert not [gap for gap in progress.of(incident).gaps if gap.key.startswith("gap/silent/")]
    assert any("no rule to notify Max" in text for text in house.slack.texts(house.channel(incident)))


def test_who_a_page_moves_on_to_is_named_as_well(duty: Duty) -> None:
    levels = duty.account.policy("Major incidents").levels
    levels.append(replace(levels[0], targets=[duty.account.user("eve").id]))
    unruled(duty, "eve")
    incident = duty.house.declare(type="major")
    assert not incident.events.filter(text__contains="no rule").exists()
    (page,) = duty.account.account.incidents.values()
    duty.account.acts.escalate("max", page.number)
    Page.objects.update(looked_at=None)
    poll_pages.look_again(at=timezone.now() + timedelta(minutes=5))
    (said,) = incident.events.filter(text__contains="no rule")
    assert "no rule to notify Eve of an urgent page: call them" in said.text


def test_nothing_is_said_of_people_that_pagerduty_notifies(duty: Duty) -> None:
    unruled(duty, "max", "high")
    incident = duty.house.declare(type="major")
    assert duty.times_rung("max") == 1
    assert not incident.events.filter(text__contains="no rule").exists()


def test_a_person_who_is_paged_by_name_is_named_as_well(duty: Duty) -> None:
    unruled(duty, "eve")
    house = duty.house
    incident = house.declare()
    (eve,) = [one for one in callees.everyone(at=timezone.now()) if one.ref == f"user/{duty.account.user('eve').id}"]
    paging.ask(incident, target=eve.ref, by=house.person("dee"), at=house.now())
    incident = house.settle(incident)
    assert not duty.times_rung("eve")
    assert incident.events.filter(kind="page", text__contains="no rule to notify Eve").exists()


def test_a_rule_that_is_added_is_seen(duty: Duty) -> None:
    unruled(duty, "max")
    unruled(duty, "max", "high", "low")
    house = duty.house
    plan = retyping.preview(house.declare(), to=house.type("major"), by=house.person("dee"))
    assert not [one for one in plan.lines if one.key.startswith("silent/")]
