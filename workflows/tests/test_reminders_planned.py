"""Plans say which reminders of status updates start, stop or change, and those are what people then get."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Event, Incident, IncidentType, Person
from incidents.policies import types
from workflows.planning.plan import Plan
from workflows.reconcile import retyping, sweep

CADENCES = [None, 15, 60]
KEY = "reminder"
Said = list[tuple[str, str]]

pytestmark = pytest.mark.django_db


def edited(kind: IncidentType, every: int | None) -> IncidentType:
    """Return the type with a newest version that asks for updates this often."""
    if kind.policy.update_every_min != every:
        types.edit(kind, policy=replace(kind.policy, update_every_min=every), by=None, at=timezone.now())
    return IncidentType.objects.select_related("current").get(pk=kind.pk)


def said(plan: Plan) -> Said:
    return [(line.sign, line.text) for line in plan.lines if line.key == KEY]


def expected(was: int | None, every: int | None) -> Said:
    if was == every:
        return []
    if every is None:
        return [("-", "no longer ask for status updates")]
    sign, before = ("+", "") if was is None else ("~", f" instead of every {was} minutes")
    return [(sign, f"ask for a status update every {every} minutes{before}")]


def reminders(incident: Incident) -> int:
    """Count the reminders of the next two hours without an update."""
    before = Event.objects.filter(incident=incident, kind="due").count()
    sweep.fall_due(at=timezone.now() + timedelta(hours=2))
    return Event.objects.filter(incident=incident, kind="due").count() - before


def declared(kind: IncidentType, every: int | None, ada: Person) -> tuple[Plan, Incident]:
    """Declare as a type that asks this often, and return what was shown before."""
    kind = edited(kind, every)
    plan = retyping.preview_declare(type=kind, by=ada)
    return plan, lifecycle.declare("Checkout fails", type=kind, by=ada, at=timezone.now())


def retyped(incident: Incident, to: IncidentType, every: int | None, ada: Person) -> Plan:
    """Retype to a type that asks this often; the timeline keeps what was shown."""
    to = edited(to, every)
    plan = retyping.preview(incident, to=to, by=ada)
    retyping.confirm(incident, to=to, by=ada, at=timezone.now(), digest=plan.digest)
    kept = Event.objects.get(incident=incident, kind="retyped").data["changes"]
    assert [(sign, text) for sign, text, key, _ in kept if key == KEY] == said(plan)
    return plan


def adopted(incident: Incident, every: int | None, ada: Person) -> Plan:
    """Adopt a version of the same type that asks this often."""
    plan = retyping.preview_policy(incident, edited(incident.type, every).policy)
    lifecycle.adopt(Incident.objects.get(pk=incident.pk), by=ada, at=timezone.now())
    return plan


@pytest.mark.parametrize("was", CADENCES)
@pytest.mark.parametrize("every", CADENCES)
@pytest.mark.parametrize("way", ["retype", "policy"])
def test_a_plan_says_what_becomes_of_reminders_and_it_comes_so(
    way: str, was: int | None, every: int | None, ada: Person, shipped: dict[str, IncidentType]
) -> None:
    plan, incident = declared(shipped["ambiguous"], was, ada)
    assert said(plan) == expected(None, was)
    plan = retyped(incident, shipped["isolated"], every, ada) if way == "retype" else adopted(incident, every, ada)
    assert said(plan) == said(plan.without_names()) == expected(was, every)
    assert reminders(Incident.objects.get(pk=incident.pk)) == int(every is not None)
