"""While Slack is not connected a plan says only that, nothing is owed there, and what is due is done once it is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle
from integrations.tests.house import House
from workflows import ports
from workflows.models import Effect
from workflows.planning.actions import KINDS
from workflows.reconcile import reconcile, retyping, sweep

TYPES = ["ambiguous", "internal", "security", "time-bomb", "isolated", "major"]


def chat_kinds() -> set[str]:
    return {name for name, kind in KINDS.items() if kind.port == "chat"}


@pytest.mark.parametrize("before", TYPES)
def test_a_plan_promises_nothing_in_slack_while_that_is_not_connected(house: House, before: str) -> None:
    incident = house.declare(type=before)
    with ports.using(chat=None):
        for to in TYPES:
            if to == before:
                continue
            plan = retyping.preview(incident, to=house.type(to), by=house.person("dee"))
            assert not [one.sentence for one in plan.actions if one.kind in chat_kinds()], to
            assert [line.key for line in plan.lines if line.key == "chat"], "it is said that Slack is not connected"
        reconcile.reconcile(incident.pk, at=timezone.now())
        assert not Effect.objects.filter(incident=incident, state__in=["waiting", "running", "failed"]).exists()


@pytest.mark.parametrize(
    ("before", "after"), [("ambiguous", "security"), ("ambiguous", "major"), ("major", "internal")]
)
def test_what_a_retype_asked_for_meanwhile_is_done_once_slack_is_connected(
    house: House, before: str, after: str
) -> None:
    incident = house.declare("Someone has our keys", type=before)
    old = house.channel(incident)
    with ports.using(chat=None):
        incident = house.retype(incident, after)
        lifecycle.update(incident, text="we rotate", by=None, at=timezone.now())
        incident = house.settle(incident)
    later = timezone.now() + timedelta(minutes=2)
    assert incident.pk in sweep.unplanned(at=later), "the sweep looks again"
    incident = house.settle(incident)
    assert "we rotate" in str(house.slack.messages(house.channel(incident)))
    if after == "security":
        assert "keys" not in str([house.slack.messages(old), house.slack.messages("incidents")])
    assert incident.pk not in sweep.unplanned(at=later)
    assert sweep.unsettled() == []
