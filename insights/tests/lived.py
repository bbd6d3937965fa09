"""Small random lives of incidents, made by the verbs, and their figures computed in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random

from django.db import connection

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person

SLUGS = ("ambiguous", "ambiguous", "isolated", "major", "time-bomb")


def live(
    types: Mapping[str, IncidentType], people: tuple[Person, Person], *, now: datetime, count: int, seed: int
) -> list[Incident]:
    """Create recent incidents, declared by someone or the pager: led, retyped, mitigated, ended, reopened."""
    chance = Random(seed)
    return [_one(types, people, now - timedelta(hours=chance.randint(2, 1_400)), chance) for _ in range(count)]


def _one(types: Mapping[str, IncidentType], people: tuple[Person, Person], at: datetime, chance: Random) -> Incident:
    first, second = people

    def later() -> datetime:
        nonlocal at
        at += timedelta(seconds=chance.choice((20, 90, 600, 5_000, 90_000)))
        return at

    by = chance.choice((first, first, None))
    made = lifecycle.declare("Something is slow", by=by, at=at, type=types[chance.choice(SLUGS)])
    if chance.random() < 0.7:
        lifecycle.set_lead(made, lead=second, by=chance.choice(people), at=later())
    for _ in range(chance.randint(0, 3)):
        to = types[chance.choice(SLUGS)]
        if to.pk != made.type_id:
            made = lifecycle.retype(made, to=to, by=first, at=later())
    if chance.random() < 0.5:
        made = lifecycle.mitigate(made, by=second, at=later())
    if chance.random() < 0.7:
        made = lifecycle.resolve(made, by=first, at=later())
        if chance.random() < 0.5:
            made = lifecycle.reopen(made, by=second, at=later())
            to = types[chance.choice(SLUGS)]
            made = lifecycle.retype(made, to=to, by=first, at=later()) if to.pk != made.type_id else made
            made = chance.choice((lifecycle.resolve, lifecycle.cancel))(made, by=first, at=later())
    return made


# Each gives name, count, p50 and p90; without times, name and count.
HELD = """
    WITH taken AS (
        SELECT (SELECT coalesce(t.data ->> 'to', t.data ->> 'type') FROM incidents_event t
                 WHERE t.incident_id = e.incident_id AND t.kind IN ('declared', 'retyped') AND t.n <= e.n
                 ORDER BY t.n DESC LIMIT 1) AS slug, e.kind, e.at,
               coalesce(lead(e.at) OVER (PARTITION BY e.incident_id ORDER BY e.n), i.ended_at) AS until
          FROM incidents_event e JOIN incidents_incident i ON i.id = e.incident_id
         WHERE e.kind IN ('declared', 'retyped', 'reopened', 'resolved', 'cancelled'))
    SELECT slug, count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM until - at)),
           percentile_disc(0.9) WITHIN GROUP (ORDER BY extract(epoch FROM until - at))
      FROM taken WHERE until IS NOT NULL AND kind NOT IN ('resolved', 'cancelled') GROUP BY slug
"""
UNTIL = """
    SELECT 'all', count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM {until} - declared_at)),
           percentile_disc(0.9) WITHIN GROUP (ORDER BY extract(epoch FROM {until} - declared_at))
      FROM incidents_incident i WHERE {until} IS NOT NULL {more}
"""
CLARITY = UNTIL.format(
    until="clear_at",
    more="AND (SELECT data ->> 'type' FROM incidents_event WHERE incident_id = i.id AND n = 1) = 'ambiguous'",
)
MITIGATE = UNTIL.format(until="coalesce(mitigated_at, CASE WHEN status = 'resolved' THEN ended_at END)", more="")
LEAD = UNTIL.format(until="(SELECT min(at) FROM incidents_event WHERE incident_id = i.id AND kind = 'led')", more="")
SECOND = UNTIL.format(
    until="(SELECT min(at) FROM incidents_event WHERE incident_id = i.id AND by_id <> coalesce(i.declared_by_id, 0))",
    more="",
)
PATHS = """
    SELECT row_number() OVER (PARTITION BY e.incident_id ORDER BY e.n) || '_' || (e.data ->> 'from') || '_' ||
           (e.data ->> 'to') AS key FROM incidents_event e WHERE e.kind = 'retyped'
"""
CHANGES = f"SELECT key, count(*) FROM ({PATHS}) AS changes GROUP BY key"  # noqa: S608 (nothing from outside in it)


def asked(sql: str) -> dict[str, tuple[float, ...]]:
    """Return what the database says, by the first column."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return {row[0]: tuple(float(value) for value in row[1:]) for row in cursor.fetchall() if row[1]}
