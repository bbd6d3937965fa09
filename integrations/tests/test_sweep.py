from __future__ import annotations

from datetime import timedelta
from typing import Final

import pytest
from django.db import connection
from django.db.models import Model
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from psycopg import sql

from incidents import lifecycle
from incidents.models import Codename, Event, Incident, Participant
from integrations.tests.house import House
from workflows.effects.effect_queue import HASTY
from workflows.models import Effect, Planned, Resource
from workflows.planning.actions import KINDS
from workflows.reconcile import sweep

TWINS = """
    INSERT INTO {table} (incident_id, {columns})
    SELECT twin.id, {columns} FROM {table}, (SELECT id FROM incidents_incident WHERE codename = ANY (%s)) AS twin (id)
     WHERE incident_id = %s ORDER BY twin.id, {table}.id
"""
RENAMED = """
    UPDATE workflows_resource SET spec = replace(spec::text, %s, twin.codename)::jsonb
      FROM incidents_incident AS twin WHERE twin.id = incident_id AND twin.codename = ANY (%s)
"""


def copies(incident: Incident, count: int) -> None:
    """Create settled copies of a settled incident, row by row as it was written."""
    names = [f"twin-{incident.pk}-{number}" for number in range(count)]
    given = {name: getattr(incident, name) for name in _columns(Incident)}
    Incident.objects.bulk_create(Incident(**given | {"codename": name}) for name in names)
    twins = list(Incident.objects.filter(codename__in=names))
    Codename.objects.bulk_create(Codename(name=twin.codename, incident=twin) for twin in twins)
    with connection.cursor() as cursor:
        for model in (Event, Resource, Effect, Planned, Participant):
            columns = sql.SQL(", ").join(sql.Identifier(name) for name in _columns(model) if name != "incident_id")
            table = sql.Identifier(model._meta.db_table)
            cursor.execute(sql.SQL(TWINS).format(table=table, columns=columns), [names, incident.pk])
        cursor.execute(RENAMED, [incident.codename, names])
        cursor.execute("ANALYZE")  # autovacuum would have done so by the time there are this many


def _columns(model: type[Model]) -> list[str]:
    fields = model._meta.concrete_fields
    return [field.attname for field in fields if field.name != "id" and not field.generated]


@pytest.mark.slow
def test_a_sweep_over_a_thousand_settled_incidents_calls_nobody_and_asks_no_more_queries(house: House) -> None:
    incident = house.declare()
    copies(incident, 9)
    house.slack.calls.clear()

    def look() -> tuple[list[int], int]:
        at = timezone.now()
        with CaptureQueriesContext(connection) as asked:
            found = [*sweep.unsettled(), *sweep.unplanned(at=at), *sweep.due(at=at, kinds=HASTY)]
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


KIND_OF: Final = {KINDS[kind].port: kind for kind in HASTY}


def owe(incident: Incident, kind: str) -> None:
    """Add a due effect of a kind."""
    at = timezone.now()
    state = {"state": "waiting", "due_at": at, "created_at": at, "rank": 1, "revision": incident.revision}
    Effect.objects.create(incident=incident, key=f"{kind}/drawn", thing=kind, kind=kind, verb="create", **state)


@pytest.mark.parametrize("port", KIND_OF)
def test_what_waits_for_one_port_hides_nothing_that_others_are_asked_for(
    house: House, monkeypatch: pytest.MonkeyPatch, port: str
) -> None:
    """However many wait, and for however long: a vendor may be silent for hours, or disconnected."""
    monkeypatch.setattr(sweep, "AT_MOST", 4)
    first = house.declare()
    owe(first, KIND_OF[port])
    copies(first, 40)
    others = {house.declare(): kind for one, kind in KIND_OF.items() if one != port}
    for incident, kind in others.items():
        owe(incident, kind)
    last = house.declare()
    owe(last, KIND_OF[port])
    found = sweep.due(at=timezone.now(), kinds=HASTY)
    assert {last.pk, *(incident.pk for incident in others)} <= {*found}
    assert len(found) == 4 + len(others)
    turns = range(1000)
    assert any(first.pk in sweep.due(at=timezone.now(), kinds=HASTY) for _ in turns), "it waits for good"
