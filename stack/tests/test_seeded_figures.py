"""Figures over thousands of incidents match an independent SQL computation, not only for a handful.

`FIREKIND_SEEDED_INCIDENTS=10000` uses as many as `make bench ARGS=insights` measures.
"""

from __future__ import annotations

import os

import pytest
from django.db import connection
from django.http import QueryDict

from incidents.models import IncidentType, Person
from incidents.tests import shipped
from insights import histories
from insights.figures import distribution
from insights.figures.chapters import FIGURES
from insights.figures.figure import FigureRow
from insights.insight_filters import InsightFilters
from insights.tests import lived
from insights.views.charts import looks
from stack import seed
from stack.tests import lives_in_sql

INCIDENTS, EVENTS = int(os.environ.get("FIREKIND_SEEDED_INCIDENTS", "2500")), 4
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
    """Seed them, and return the person who takes part in every private one."""
    types: dict[str, IncidentType] = shipped.bring()
    assert len(types) > 1
    person = Person.objects.create(name="Ada", chat_id="UADA")
    amount = seed.Amount(incidents=INCIDENTS, events=EVENTS, in_all_private="UADA", lives=True)
    connection.ensure_connection()
    seed.fill(connection.connection, amount)
    return person


def test_figures_of_thousands_equal_what_sql_says(everywhere: Person) -> None:
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
            alone = next(iter(found.values()))  # a single type needs no row for all
            assert found.get("all", alone) == said["all"], slug
    for slug, sql in (lives_in_sql.MARKED | lives_in_sql.TIMED).items():
        figure = FIGURES[slug]
        known = filters.known(everywhere)
        rows = figure.rows(histories.read(filters.incidents(everywhere), *figure.needs, known=known), looks())
        asked = lived.asked(sql)
        assert asked, slug
        named = {row.label if slug in lives_in_sql.BY_LABEL else row.key: row for row in rows if row.key != "all"}
        assert {name: _said(row, timed=slug in lives_in_sql.TIMED) for name, row in named.items()} == asked, slug


def _said(row: FigureRow, *, timed: bool) -> tuple[float, ...]:
    """Return the count and the percentiles, or the count and how many are marked."""
    if timed:
        return (len(row.counted), *(distribution.percentile(row.times, share) for share in (0.5, 0.9)))
    return (len(row.counted), row.marked)
