"""Figures over ten thousand incidents are what SQL works out in another way, and not only over a handful."""

from __future__ import annotations

import pytest
from django.db import connection
from django.http import QueryDict

from incidents.models import IncidentType, Person
from incidents.tests import shipped
from insights import histories
from insights.figures import distribution
from insights.figures.chapters import FIGURES
from insights.insight_filters import InsightFilters
from insights.tests import lived
from insights.views.charts import looks
from stack import seed

INCIDENTS, EVENTS = 10_000, 4
# Every third is retyped to the next type of the list, and the others are led at once: seeded timelines hold neither.
RETYPED = """
    WITH next AS (
        SELECT slug, lead(slug, 1, 'ambiguous') OVER (ORDER BY position, slug) AS to_slug FROM incidents_incidenttype)
    INSERT INTO incidents_event (incident_id, n, kind, at, recorded_at, by_id, source, text, data, link)
    SELECT i.id, i.last_n + 1, CASE i.id % 3 WHEN 0 THEN 'retyped' ELSE 'led' END,
           i.declared_at + i.id % 97 * interval '1 second', now(), i.lead_id, 'web', '',
           CASE i.id % 3 WHEN 0 THEN jsonb_build_object('from', t.slug, 'to', next.to_slug)
                         ELSE '{"name": "Someone"}'::jsonb END, ''
      FROM incidents_incident i JOIN incidents_incidenttype t ON t.id = i.type_id JOIN next ON next.slug = t.slug
"""
NOW_OF = """
    UPDATE incidents_incident i SET last_n = last_n + 1, type_id = coalesce(t.id, i.type_id),
           policy_version_id = coalesce(t.current_id, i.policy_version_id),
           clear_at = CASE WHEN e.data ->> 'from' = 'ambiguous' THEN e.at
                           WHEN was.slug <> 'ambiguous' THEN i.clear_at END
      FROM incidents_event e LEFT JOIN incidents_incidenttype t ON t.slug = e.data ->> 'to', incidents_incidenttype was
     WHERE was.id = i.type_id AND e.incident_id = i.id AND e.n = i.last_n + 1
"""
SAID = {
    "held": lived.HELD,
    "paths": lived.CHANGES,
    "mitigate": lived.MITIGATE,
    "lead": lived.LEAD,
    "first-human": lived.SECOND,
    "clarity": lived.CLARITY,
}


@pytest.fixture
def everywhere(db: None) -> Person:
    """Seed them, and give who takes part in every private one."""
    types: dict[str, IncidentType] = shipped.bring()
    assert len(types) > 1
    person = Person.objects.create(name="Ada", chat_id="UADA")
    amount = seed.Amount(incidents=INCIDENTS, events=EVENTS, in_all_private="UADA")
    connection.ensure_connection()
    seed.fill(connection.connection, amount)
    with connection.cursor() as cursor:
        cursor.execute(RETYPED)
        cursor.execute(NOW_OF)
    return person


def test_figures_of_ten_thousand_equal_what_sql_says(everywhere: Person) -> None:
    filters = InsightFilters.read(QueryDict("since=2000-01-01"))
    assert filters.incidents(everywhere).count() == INCIDENTS
    for slug, sql in SAID.items():
        figure, times = FIGURES[slug], slug != "paths"
        known = filters.known(everywhere)
        rows = figure.rows(histories.read(filters.incidents(everywhere), *figure.needs, known=known), looks())
        found = {
            row.key: (
                len(row.counted),
                *(distribution.percentile(row.times, share) for share in (0.5, 0.9) if times),
            )
            for row in rows
        }
        said = lived.asked(sql)
        assert said, slug
        if slug in {"held", "paths"}:
            assert found == said, slug
        else:
            alone = next(iter(found.values()))  # one type needs no row of all
            assert found.get("all", alone) == said["all"], slug
