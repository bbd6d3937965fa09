"""A worker that is asked to stop claims no more than it does: the rest is left for the next one, and was never sent."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle
from integrations.tests.house import House
from workflows.models import Effect
from workflows.performing import perform
from workflows.reconcile import reconcile


def test_what_no_thread_takes_any_more_is_given_back(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=house.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    with monkeypatch.context() as ending:
        ending.setattr("concurrent.futures.thread._shutdown", True)
        perform.drain(incident.pk)
    assert not Effect.objects.filter(incident=incident, unsure=True).exists()
    assert not Effect.objects.filter(incident=incident, state="running").exists()
    house.settle(incident)
    assert not Effect.objects.filter(incident=incident).exclude(state="done").exists()
    assert len(house.slack.texts("incidents")) == 1
