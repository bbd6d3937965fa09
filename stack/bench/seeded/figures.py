"""Insights pages for a period with 10,000 incidents, in a database of that many and in one of ten times as many."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import psycopg

from stack import seed
from stack.bench import load
from stack.bench.seeded import pages
from stack.bench.table import TIMES, Figure, ReportTable
from stack.outside import Visitor
from stack.seed import wording
from stack.seed.filling import APART
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import throwaway

INCIDENTS, EVENTS = 10_000, 50
OLDER, OLDER_EVENTS = 90_000, 5  # before the period
ROUNDS: Final = 15
CHAPTERS = ("types", "response", "interruptions", "evidence", "follow-ups")
MOST_TIMES, MOST_QUERIES, FLAT = 300, 8, 1.15  # the first over a bare view, which takes about a millisecond
PROCESSES = ("sandbox", "web")


@dataclass(frozen=True, slots=True)
class FilledStack:
    """A stack with so many incidents, and someone who may see all of them."""

    stack: Stack
    held: int
    visitor: Visitor

    @property
    def port(self) -> int:
        """The port of its web process."""
        return int(self.stack.env["PORT"])


def measure(stack: Stack, table: ReportTable) -> None:
    """Measure every page for someone who may see all incidents, in both databases by turns."""
    now = datetime.now(UTC)
    since = (now - APART * INCIDENTS - timedelta(days=1)).date().isoformat()
    paths = {slug: f"/insights/{slug}?since={since}" for slug in CHAPTERS}
    with throwaway(processes=PROCESSES, preloaded=False) as larger:
        both = [_filled(stack, older=0, now=now), _filled(larger, older=OLDER, now=now)]
        counted = [pages.queries(one.stack, one.visitor, list(paths.values())) for one in both]
        answers = {slug: _answers(both, path) for slug, path in paths.items()}
    for place, one in enumerate(both):
        table.head(f"Insights over {INCIDENTS:,} incidents of a period, {one.held:,} in the database")
        for slug, path in paths.items():
            found, bare = answers[slug][2 * place : 2 * place + 2]
            said = f"{found.median_ms:.0f} ms (p90 {found.percentile_ms(0.9):.0f}) over {bare.median_ms:.2f} ms"
            table.add(Figure(slug, found.median_ms / bare.median_ms, MOST_TIMES, TIMES, said))
            table.add(Figure(f"{slug}: queries", counted[place][path], MOST_QUERIES))
    table.head(f"{INCIDENTS + OLDER:,} incidents over {INCIDENTS:,}, by turns")
    for slug, (few, _, many, _) in answers.items():
        said = f"{many.median_ms:.0f} ms over {few.median_ms:.0f} ms"
        table.add(Figure(slug, many.median_ms / few.median_ms, FLAT, TIMES, said))


def _filled(stack: Stack, *, older: int, now: datetime) -> FilledStack:
    """Write older incidents, and then those of the period."""
    began = now - APART * INCIDENTS - timedelta(days=2)
    if older:
        with psycopg.connect(stack.database_url) as connection:
            amount = seed.Amount(incidents=older, events=OLDER_EVENTS, lives=True)
            seed.fill(connection, amount, at=began, seed=3)
    with psycopg.connect(stack.database_url) as connection:
        amount = seed.Amount(incidents=INCIDENTS, events=EVENTS, in_all_private=pages.EVERYWHERE, lives=True)
        seed.fill(connection, amount, at=now)
    seed.tidy(stack.database_url)
    visitor = Visitor(stack.base_url).sign_in_as(wording.person(int(pages.EVERYWHERE[-4:])))
    return FilledStack(stack, INCIDENTS + older, visitor)


def _answers(both: list[FilledStack], path: str) -> list[load.Answers]:
    """Return each stack's answers to a page and to a bare view, requested in turn."""
    asks = [
        (one.port, ask)
        for one in both
        for ask in (
            load.get(path, port=one.port, cookie=one.visitor.cookie),
            load.get("/health", port=one.port),
        )
    ]
    asyncio.run(load.in_turn_among(asks, rounds=2))
    found = asyncio.run(load.in_turn_among(asks, rounds=ROUNDS))
    for answers in found:
        answers.must_be(200)
    return found
