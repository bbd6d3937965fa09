"""A page that is owed already stands in the plan of the next retype: it pages somebody after that was confirmed."""

from __future__ import annotations

import pytest

from incidents.policies import types
from incidents.policies.policy import Policy
from integrations.tests.duty import Duty
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
