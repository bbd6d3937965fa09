from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Codename, Event, Incident, Participant
from integrations.tests.house import House
from workflows.models import Effect, Planned, Resource
from workflows.reconcile import sweep


def copies(incident: Incident, count: int) -> None:
    """Make settled look-alikes of a settled incident, row by row as it was written."""
    names = [f"twin-{incident.pk}-{number}" for number in range(count)]
    Incident.objects.bulk_create(_twin(Incident, incident, codename=name) for name in names)
    twins = list(Incident.objects.filter(codename__in=names))
    Codename.objects.bulk_create(Codename(name=twin.codename, incident=twin) for twin in twins)
    for model in (Event, Resource, Effect, Planned, Participant):
        rows: list[Any] = list(model._default_manager.filter(incident=incident))
        made = [_twin(model, row, incident_id=twin.pk) for twin in twins for row in rows]
        if model is Resource:
            named = {twin.pk: twin.codename for twin in twins}
            for row in made:
                row.spec = _renamed(row.spec, incident.codename, named[row.incident_id])
        model._default_manager.bulk_create(made, batch_size=2_000)


def _twin(model: type[Any], row: Any, **changes: Any) -> Any:
    fields = [field for field in model._meta.concrete_fields if field.name != "id" and not field.generated]
    return model(**({field.attname: getattr(row, field.attname) for field in fields} | changes))


def _renamed(value: object, old: str, new: str) -> object:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [_renamed(one, old, new) for one in value]
    if isinstance(value, dict):
        return {key: _renamed(one, old, new) for key, one in value.items()}
    return value


@pytest.mark.slow
def test_a_sweep_over_a_thousand_settled_incidents_calls_nobody_and_asks_no_more_queries(house: House) -> None:
    incident = house.declare()
    copies(incident, 9)
    house.slack.calls.clear()

    def look() -> tuple[list[object], int]:
        at = timezone.now()
        with CaptureQueriesContext(connection) as asked:
            found = [*sweep.unsettled(), *sweep.unplanned(at=at), *sweep.due(at=at)]
        return found, len(asked)

    few, queries_for_ten = look()
    copies(house.declare(), 989)
    house.slack.calls.clear()
    many, queries_for_a_thousand = look()
    assert Incident.objects.filter(active=True).count() == 1000
    assert not few
    assert not many
    assert queries_for_a_thousand <= queries_for_ten
    assert not list(house.slack.calls)


def test_the_sweep_finds_what_a_lost_hint_was_about(house: House) -> None:
    incident = lifecycle.declare("Lost", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
    assert sweep.unplanned(at=timezone.now()) == [incident.pk]
    house.settle(incident)
    assert not sweep.unplanned(at=timezone.now())


def test_an_update_that_falls_due_is_said_once(house: House) -> None:
    incident = house.declare(type="major")
    later = incident.declared_at + timedelta(minutes=31)
    assert sweep.fall_due(at=incident.declared_at + timedelta(minutes=29)) == 0
    assert sweep.fall_due(at=later) == 1
    assert sweep.fall_due(at=later) == 0
    house.settle(incident)
    assert sum("update is due" in text for text in house.slack.texts(house.channel(incident))) == 1
