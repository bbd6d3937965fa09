"""What a plan says of refused steps is read at the same cost, however many years of refusals there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from incidents.models import Incident, Person
from integrations.tests import house as building
from integrations.tests.house import House
from stack.tests.test_growth import RowsRead, explaining, total
from workflows.effects.failing import refused_last
from workflows.models import Effect
from workflows.planning.actions import Action
from workflows.reconcile import retyping

YEARS, MORE_YEARS = 2, 6
A_YEAR = 365  # one refusal a day
OFTEN: Any = {
    "refused": {"state": Effect.State.FAILED, "error_code": "restricted_action"},
    "refused because of what was asked": {"state": Effect.State.FAILED, "error_code": "user_not_found"},
    "refused and announced": {"state": Effect.State.FAILED, "error_code": "restricted_action", "channel": "incidents"},
    "done": {"state": Effect.State.DONE, "error_code": ""},
}
COPIED = """
    INSERT INTO workflows_effect (incident_id, key, thing, kind, verb, spec, labels, sentence, sign, method, rank, room,
      needs, after, revision, state, unsure, abandoned, token, attempt, due_at, error, error_code, created_at, tried_at)
    SELECT incident_id, 'copy/' || %(name)s || '/' || n, thing, kind, verb, spec || %(spec)s, labels, sentence, sign,
           method, rank, room, needs, after, revision, %(state)s, false, false, 1, 1, due_at, error, %(code)s,
           created_at, tried_at - n * interval '1 day'
      FROM workflows_effect, generate_series(%(first)s::int, %(last)s::int) n WHERE id = %(id)s
"""

pytestmark = pytest.mark.django_db


@pytest.fixture
def house() -> Iterator[House]:
    """Build the house."""
    with building.house() as house:
        yield house


@pytest.mark.parametrize("reader", ["dee", "eve", None])
@pytest.mark.parametrize("often", OFTEN)
def test_reading_what_was_refused_does_not_grow_with_years(house: House, often: str, reader: str | None) -> None:
    refused, steps = _refused(house)
    by = house.person(reader) if reader else None
    _repeat(refused, often, since=1, until=YEARS * A_YEAR)
    few, said = _read(steps, by=by)
    _repeat(refused, often, since=YEARS * A_YEAR + 1, until=MORE_YEARS * A_YEAR)
    more, same = _read(steps, by=by)
    assert said == same
    assert bool(said) == (reader != "eve"), "she may not learn that there is a private incident"
    assert total(more) <= total(few) + 5, more
    if reader != "eve":  # of what she may not see, a year is read
        assert total(more) < A_YEAR / 2, more


def _refused(house: House) -> tuple[Effect, tuple[Action, ...]]:
    """Return a step that Slack refused in a private incident, and those of a plan that is about to take it."""
    known = house.declare("Known")
    house.slack.faults.add("error", method="conversations.create", error="restricted_action")
    incident = house.retype(house.declare("Refused"), "security")
    effect = Effect.objects.get(incident=incident, state=Effect.State.FAILED, kind="channel")
    return effect, _plan(known, house)


def _plan(incident: Incident, house: House) -> tuple[Action, ...]:
    return retyping.preview(incident, to=house.type("security"), by=house.person("dee")).actions


def _repeat(effect: Effect, often: str, *, since: int, until: int) -> None:
    """Copy a step, once for each day so long ago, with what else differs."""
    other = OFTEN[often]
    spec = connection.ops.adapt_json_value({"channel": other["channel"]} if "channel" in other else {}, None)
    of: dict[str, Any] = {"id": effect.pk, "name": often, "spec": spec, "first": since, "last": until}
    with connection.cursor() as cursor:
        cursor.execute(COPIED, of | {"state": other["state"], "code": other["error_code"]})
        cursor.execute("REINDEX TABLE workflows_effect")
        cursor.execute("ANALYZE")
        cursor.execute("SET LOCAL enable_seqscan = off")  # as in test_growth: small tables must be read like large ones
        cursor.execute("SET LOCAL cpu_tuple_cost = 10")


def _read(steps: tuple[Action, ...], *, by: Person | None) -> tuple[list[RowsRead], list[str]]:
    read: list[RowsRead] = []
    with connection.execute_wrapper(explaining(read)):
        said = list(refused_last.ahead(steps, by=by))
    return read, said
