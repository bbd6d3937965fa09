"""What a plan says about a page in an account with unusual rotas: who is paged, and what to do if no one is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from integrations.pagerduty.tests.straight import SETUP
from integrations.tests.duty import Duty
from workflows.oncall import pager_cache
from workflows.reconcile import retyping

GIVEN: Any = SETUP  # has the fields of the settings
UNHEARD = "The page to Major incidents notifies no one"
POLICIES = [  # the levels of the policy, who is paged, and whether the plan says no one is
    ([["max"]], "max", False),
    ([["Nobody"], ["eve", "eve"], ["max"]], "eve", False),
    ([["Nobody"], ["firekind"]], "", True),
]


@pytest.mark.parametrize(("levels", "who", "is_unheard"), POLICIES)
def test_the_plan_names_who_is_then_paged_or_says_that_no_one_is(
    duty: Duty, monkeypatch: pytest.MonkeyPatch, levels: list[list[str]], who: str, is_unheard: bool
) -> None:
    monkeypatch.setattr(django_settings, "FIREKIND", replace(django_settings.FIREKIND, pagerduty=GIVEN))
    duty.account.add_schedule("Nobody")
    duty.account.add_policy("Major incidents", *levels)
    pager_cache.refresh(at=timezone.now())
    pager_cache.refresh_shifts(at=timezone.now())
    incident = duty.house.declare("Checkout is down")
    plan = retyping.preview(incident, to=duty.house.type("major"), by=duty.house.person("dee"))
    pages = [line.text for line in plan.lines if line.key == "page"]
    names = [duty.account.user(handle).name for handle in ("max", "eve", "firekind")]
    assert len(pages) == 1
    assert [name for name in names if name in pages[0]] == ([who.title()] if who else [])
    assert any(line.text.startswith(UNHEARD) for line in plan.lines) == is_unheard
    incident = duty.house.retype(incident, "major")
    duty.house.settle(incident)
    assert {one.user for one in duty.account.rang} == ({duty.account.user(who).id} if who else set())
