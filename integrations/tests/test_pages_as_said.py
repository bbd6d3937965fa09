"""What a retype's plan says about pages that are owed, open or ended is what then happens at PagerDuty."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.policies import types
from incidents.policies.policy import Policy
from integrations.tests.duty import Duty
from workflows.models import Page
from workflows.paging import poll_pages
from workflows.planning.wording.plan_sum import NO_ONE
from workflows.reconcile import retyping


@pytest.mark.parametrize("to", ["outage", "ambiguous"])
def test_whom_a_page_on_its_way_will_reach_is_said_before_the_retype_is_confirmed(duty: Duty, to: str) -> None:
    house = duty.house
    types.add(Policy("outage", "Outage", "All is down", pages=("Major incidents",)), by=None, at=house.now())
    duty.pager.rest.is_down = True
    incident = house.declare(type="major")
    assert not duty.times_rung("max")
    plan = retyping.preview(incident, to=house.type(to), by=house.person("dee"))
    pages = [line for line in plan.lines if line.key == "page" and line.sign == "+"]
    retyping.confirm(incident, to=house.type(to), by=house.person("dee"), at=house.now(), digest=plan.digest)
    duty.pager.rest.is_down = False
    house.settle(incident)
    assert duty.times_rung("max") == len(pages)
    assert (NO_ONE in plan.reach) == (not duty.times_rung("max"))
    assert ("Pages" in plan.in_short) == bool(duty.times_rung("max"))


@pytest.mark.parametrize("ended", [0, 1, 2])
def test_as_many_titles_are_said_to_change_as_pages_are_open(duty: Duty, ended: int) -> None:
    house = duty.house
    policy = Policy("both", "Both", "All is down", pages=("Major incidents", "Engineering"))
    types.add(policy, by=None, at=house.now())
    incident = house.declare("Zanzibar", type="both")
    pages = list(duty.account.account.incidents.values())
    for page in pages[:ended]:
        duty.account.acts.resolve("max", page.number)
    Page.objects.update(looked_at=None)
    poll_pages.look_again(at=timezone.now() + timedelta(minutes=5))
    incident = house.settle(incident)
    plan = retyping.preview(incident, to=house.type("security"), by=house.person("dee"))
    house.retype(incident, "security")
    changed = sum("Zanzibar" not in page.title for page in pages)
    said = [int(match[1]) for note in plan.notes if (match := re.match(r"The titles? of (\d+) pages?", note.text))]
    assert sum(said) == changed == 2 - ended


def test_no_title_is_said_to_change_of_a_page_that_was_never_opened(duty: Duty) -> None:
    duty.pager.rest.is_down = True
    incident = duty.house.declare(type="major")
    plan = retyping.preview(incident, to=duty.house.type("security"), by=duty.house.person("dee"))
    assert not [note.text for note in plan.notes if note.text.startswith("The titles of")]
