"""What was not planned yet is kept by the database itself, whoever writes the incident or the plan."""

from __future__ import annotations

import pytest
from django.db.models import F
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from incidents.tests import shipped
from workflows.models import Planned, Unplanned
from workflows.reconcile import sweep

pytestmark = pytest.mark.django_db


@pytest.fixture
def incident() -> Incident:
    shipped.bring()
    return lifecycle.declare("Checkout is slow", by=None, at=timezone.now())


def _plan(incident: Incident, revision: int) -> None:
    Planned.objects.update_or_create(
        incident=incident, defaults={"revision": revision, "at": timezone.now(), "look_again_at": None}
    )


def test_a_declared_incident_waits_for_its_plan(incident: Incident) -> None:
    assert sweep.unplanned(at=timezone.now()) == [incident.pk]
    _plan(incident, incident.revision)
    assert sweep.unplanned(at=timezone.now()) == []


def test_facts_that_moved_while_it_was_planned_still_wait(incident: Incident) -> None:
    before = incident.revision
    Incident.objects.filter(pk=incident.pk).update(revision=F("revision") + 1)
    _plan(incident, before)
    assert sweep.unplanned(at=timezone.now()) == [incident.pk]
    _plan(incident, before + 1)
    assert not Unplanned.objects.exists()


def test_what_leaves_the_facts_as_they_were_asks_for_no_plan(incident: Incident) -> None:
    _plan(incident, incident.revision)
    Incident.objects.filter(pk=incident.pk).update(title="Checkout is down", revision=F("revision"))
    assert sweep.unplanned(at=timezone.now()) == []
