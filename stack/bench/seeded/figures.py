"""Insights pages for a period with 10,000 incidents, in a database of that many, then of ten times as many."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import psycopg

from stack import seed
from stack.bench import load
from stack.bench.seeded import pages
from stack.bench.table import TIMES, Figure, ReportTable
from stack.outside import Visitor
from stack.seed import wording
from stack.seed.filling import APART
from stack.supervisor.running import Stack

INCIDENTS, EVENTS = 10_000, 50
OLDER, OLDER_EVENTS = 90_000, 5  # before the period
ROUNDS = 12
CHAPTERS = ("types", "response", "interruptions", "evidence", "follow-ups")
MOST_MS, MOST_QUERIES, FLAT = 300, 8, 1.15


def measure(stack: Stack, table: ReportTable) -> None:
    """Measure every page for someone who may see all incidents, before and after older ones were written."""
    now = datetime.now(UTC)
    since = (now - APART * INCIDENTS - timedelta(days=1)).date().isoformat()
    with psycopg.connect(stack.database_url) as connection:
        amount = seed.Amount(incidents=INCIDENTS, events=EVENTS, in_all_private=pages.EVERYWHERE, lives=True)
        seed.fill(connection, amount, at=now)
    seed.tidy(stack.database_url)
    visitor = Visitor(stack.base_url).sign_in_as(wording.person(int(pages.EVERYWHERE[-4:])))
    paths = {slug: f"/insights/{slug}?since={since}" for slug in CHAPTERS}
    few = _answers(stack, table, visitor, paths, held=INCIDENTS)
    with psycopg.connect(stack.database_url) as connection:
        amount = seed.Amount(incidents=OLDER, events=OLDER_EVENTS, lives=True)
        seed.fill(connection, amount, at=now - APART * INCIDENTS - timedelta(days=2), seed=3)
    seed.tidy(stack.database_url)
    many = _answers(stack, table, visitor, paths, held=INCIDENTS + OLDER)
    table.head(f"{INCIDENTS + OLDER:,} incidents over {INCIDENTS:,}")
    for slug in CHAPTERS:
        said = f"{many[slug]:.0f} ms over {few[slug]:.0f} ms"
        table.add(Figure(f"{slug}", many[slug] / few[slug], FLAT, TIMES, said))


def _answers(
    stack: Stack, table: ReportTable, visitor: Visitor, paths: dict[str, str], *, held: int
) -> dict[str, float]:
    """Return the median of each page in milliseconds, requested in turn with a bare view."""
    table.head(f"Insights over {INCIDENTS:,} incidents of a period, {held:,} in the database")
    port = int(stack.env["PORT"])
    queries = pages.queries(stack, visitor, list(paths.values()))
    medians = {}
    for slug, path in paths.items():
        asks = [load.get(path, port=port, cookie=visitor.cookie), load.get("/health", port=port)]
        asyncio.run(load.in_turn(port, asks, rounds=2))
        found, bare = asyncio.run(load.in_turn(port, asks, rounds=ROUNDS))
        found.must_be(200)
        medians[slug] = found.median_ms
        said = f"p90 {found.percentile_ms(0.9):.0f} ms, over {bare.median_ms:.2f} ms"
        table.add(Figure(slug, found.median_ms, MOST_MS, " ms", said))
        table.add(Figure(f"{slug}: queries", queries[path], MOST_QUERIES))
    return medians
