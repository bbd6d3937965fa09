"""The app is uninstalled while people respond: what failed is reported once, and done once retried."""

from __future__ import annotations

from collections import Counter

import pytest
from django.utils import timezone

from incidents import lifecycle
from integrations.slack.tests.door import Door
from workflows.models import Effect
from workflows.reconcile import sweep
from workflows.status import progress


@pytest.mark.parametrize("error", ["account_inactive", "token_revoked", "invalid_auth"])
@pytest.mark.parametrize("type", ["ambiguous", "security"])
def test_what_could_not_be_done_is_said_once_and_not_that_this_could_not_be_said(
    door: Door, type: str, error: str
) -> None:
    incident = door.declared(type=type)
    door.slack.faults.add("error", error=error)
    lifecycle.set_lead(incident, lead=door.house.person("eve"), by=None, at=timezone.now())
    lifecycle.update(incident, text="we look", by=None, at=timezone.now())
    incident = door.house.settle(incident)
    said = Counter(text.partition(":")[0] for kind, text in door.told(incident) if kind == "failed")
    assert said
    assert max(said.values()) == 1, said
    assert "Could not post what failed" not in said
    door.slack.faults.clear()
    for one in Effect.objects.filter(incident=incident, state="failed"):
        progress.retry(one.pk, incident, by=None, at=timezone.now())
    incident = door.house.settle(incident)
    assert sweep.unsettled() == []
    assert not Effect.objects.filter(incident=incident, state__in=["waiting", "running", "failed"]).exists()
    assert "we look" in str(door.slack.messages(door.house.channel(incident)))
