"""Pages with 10,000 incidents, each next to a bare view of the same server in the same minute."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass

import psycopg

from config.env import ROOT
from stack import seed
from stack.bench import load
from stack.bench.load import Answers
from stack.bench.table import TIMES, Figure, ReportTable
from stack.outside import Visitor
from stack.seed import wording
from stack.supervisor.running import Stack

INCIDENTS, EVENTS = 10_000, 50
ROUNDS = 25
AT_ONCE, AT_ONCE_S, TURNS = 16, 2.4, 3
ORDINARY, EVERYWHERE = "U0SEED0000", "U0SEED0001"


@dataclass(frozen=True, slots=True)
class Aim:
    """One kind of page and its limits."""

    name: str
    path: str
    times: float
    queries: int
    kilobytes: float
    neighbours: str


def fill(stack: Stack) -> list[Aim]:
    """Write the incidents and return the pages to measure."""
    with psycopg.connect(stack.database_url) as connection:
        amount = seed.Amount(incidents=INCIDENTS, events=EVENTS, in_all_private=EVERYWHERE)
        written = seed.fill(connection, amount)
        private = set(written.private)
        public = [one for one in written.codenames if one not in private]
        seed.lengthen(connection, public[10], events=500)
        seed.lengthen(connection, public[20], events=10_000)
    seed.tidy(stack.database_url)
    near, far = "273 to 2,900", "455 to 1,735"
    return [
        # One of the queries looks for sample data, which only the sandbox has; a search looks for hits and old
        # codenames.
        Aim("list", "/", 40, 8, 25, "233 to 1,120"),
        Aim("search, two words", "/?q=checkout+slow", 40, 10, 25, near),
        Aim("search, one rare word", "/?q=certificate+zone", 40, 10, 25, near),
        Aim("filter, active", "/?status=active", 40, 8, 25, near),
        Aim("filter, one type", "/?type=security", 40, 8, 25, near),
        Aim("filter, mine", "/?me=in", 40, 8, 25, near),
        # With all of its panels, so there are no further requests.
        Aim("incident, 500 events", f"/incidents/{public[10]}/", 50, 24, 40, far),
        Aim("incident, 10,000 events", f"/incidents/{public[20]}/", 50, 24, 40, far),
    ]


def measure(stack: Stack, table: ReportTable) -> None:
    """Measure every page as an ordinary person and as a member of every private incident."""
    aims = fill(stack)
    for chat_id, who in ((ORDINARY, "an ordinary person"), (EVERYWHERE, "a member of 3,000 private incidents")):
        visitor = Visitor(stack.base_url).sign_in_as(wording.person(int(chat_id[-4:])))
        counted = queries(stack, visitor, [aim.path for aim in aims])
        for at_once in (1, AT_ONCE):
            table.head(f"{INCIDENTS:,} incidents of {EVENTS} events, two web workers, {at_once} at once, as {who}")
            for aim in aims:
                _times(stack, table, aim, visitor.cookie, at_once=at_once)
        _long_over_short(stack, table, aims, visitor.cookie)
        table.head(f"Queries and compressed size, as {who}")
        for aim in aims:
            size = len(visitor.get(aim.path, **{"Accept-Encoding": "gzip"}).body) / 1000
            table.add(Figure(f"{aim.name}: queries", counted[aim.path], aim.queries))
            table.add(Figure(f"{aim.name}: compressed", size, aim.kilobytes, " kB"))


def _times(stack: Stack, table: ReportTable, aim: Aim, cookie: str, *, at_once: int) -> None:
    port = int(stack.env["PORT"])
    page, bare = load.get(aim.path, port=port, cookie=cookie), load.get("/health", port=port)
    found, reference = asyncio.run(_alone(port, page, bare) if at_once == 1 else _together(port, page, bare))
    found.must_be(200)
    said = f"{found.median_ms:.1f} ms (p99 {found.percentile_ms(0.99):.0f}) over {reference.median_ms:.2f} ms"
    table.add(Figure(aim.name, found.median_ms / reference.median_ms, aim.times, TIMES, said, aim.neighbours))


def _long_over_short(stack: Stack, table: ReportTable, aims: list[Aim], cookie: str) -> None:
    port = int(stack.env["PORT"])
    short, long = (load.get(aim.path, port=port, cookie=cookie) for aim in aims[-2:])
    short_, long_ = asyncio.run(load.in_turn(port, [short, long], rounds=2 * ROUNDS))
    said = f"{long_.median_ms:.1f} ms over {short_.median_ms:.1f} ms, asked in turn"
    table.add(Figure("10,000 events over 500", long_.median_ms / short_.median_ms, 1.1, TIMES, said))


async def _alone(port: int, page: load.Ask, bare: load.Ask) -> tuple[Answers, Answers]:
    await load.in_turn(port, [page, bare], rounds=3)
    found, reference = await load.in_turn(port, [page, bare], rounds=ROUNDS)
    return found, reference


async def _together(port: int, page: load.Ask, bare: load.Ask) -> tuple[Answers, Answers]:
    found, reference = Answers(), Answers()
    for _ in range(TURNS):
        reference += await load.clients(port, bare, count=AT_ONCE, seconds=AT_ONCE_S / TURNS / 2)
        found += await load.clients(port, page, count=AT_ONCE, seconds=AT_ONCE_S / TURNS)
    return found, reference


def queries(stack: Stack, visitor: Visitor, paths: list[str]) -> dict[str, int]:
    """Count the queries of each page for the signed-in person."""
    argv = [sys.executable, "-m", "stack.bench.queries", visitor.cookie, *paths]
    done = subprocess.run(argv, env=stack.env, cwd=ROOT, capture_output=True, text=True, check=True)
    counted: dict[str, int] = json.loads(done.stdout)
    return counted
