"""Pages and regular looks as ended incidents accumulate: each compared with the smallest size."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping
from typing import Any, Final

import psycopg

from stack import seed
from stack.bench import load
from stack.bench.table import TIMES, Figure, ReportTable
from stack.outside import Visitor
from stack.seed import wording
from stack.supervisor.running import Stack

SIZES: Final = (1_000, 10_000, 100_000, 1_000_000)
MOST: Final = "GROWTH_MOST"  # how far to go; a million takes a quarter of an hour, and some 10 GiB
USUAL: Final = 100_000
AT_A_TIME: Final = 50_000
EVENTS: Final = 5
OPEN: Final = 30  # at any size: ended incidents accumulate, open ones do not
LONG: Final = 500  # events of the incident whose page is requested
ROUNDS: Final = 15
ORDINARY, EVERYWHERE = "U0SEED0000", "U0SEED0001"
GROWN: Final = 3.0  # at most, compared with the smallest size
# Shorter times count as this: below it PostgreSQL spends longer on planning than on reading, depending on whether it
# keeps one plan for any value, which it stops doing as its estimates grow.
PLANNING_MS: Final = 3.0
# In one process, after each ran once, so that one-time work is done. Leaves out looks that read a vendor and then visit
# every open incident: there are equally many of those at any size.
TIMED: Final = """
import json, time
from config.celery import app
from config.process.looks import REGULAR
from workflows.channels import room_looks
room_looks.look = lambda *_, **__: False
app.loader.import_default_modules()
def took(name):
    began = time.perf_counter()
    app.tasks[name]()
    return 1000 * (time.perf_counter() - began)
names = sorted(REGULAR - {f"workflows.tasks.{one}" for one in ("audit", "refresh_directory", "refresh_on_call")})
for name in names:
    took(name)
print(json.dumps({name: min(took(name) for _ in range(5)) for name in names}))
"""
SEALED: Final = """
from django.utils import timezone
from audit.sealed import sealing
while sealing.seal(at=timezone.now()):
    pass
"""
# Chain links over many rows at once stay open for a while, and until more rows arrive: each look reads them again until
# then. No installation writes this fast, so they are closed before looks are timed.
CLOSED: Final = """
import time
from django.utils import timezone
from audit import noting
from audit.models import Seal
from audit.sealed import sealing
while Seal.objects.latest("n").at + sealing.NUMBERED_FOR > timezone.now():
    time.sleep(1)
for _ in range(2):
    noting.note("sign-in", by=None, at=timezone.now())
    sealing.seal(at=timezone.now())
"""
# Marks the members of these channels as just read, as in a running stack, because the channels exist in no workspace. A
# look that asked would find them gone, and their incidents would be planned again at each size. So turns are computed,
# and no one asks the vendor.
READ: Final = """
    INSERT INTO workflows_membersread (channel_id, at)
    SELECT id, now() FROM workflows_resource WHERE kind = 'channel' ON CONFLICT (channel_id) DO UPDATE SET at = now()
"""
PAGES: Final = {
    "list": "/",
    "search, two words": "/?q=checkout+slow",
    "search, one rare word": "/?q=certificate+zone",
    "search, nothing found": "/?q=xylographic",
    "filter, one type": "/?type=security",
    "filter, one service": "/?service=checkout",
    "filter, a service of none": "/?service=nothing",
    "filter, somebody in few": "/?person=nobody",
    "jump, letters of none": "/jump?q=zqzq",
    "reviews": "/reviews",
}


def measure(stack: Stack, table: ReportTable) -> None:
    """Fill step by step, and compare the largest size with the smallest."""
    found: dict[int, dict[str, float]] = {}
    sealed, sealing_us = 0, 0.0
    for size in sizes(os.environ):
        grow(stack, size)
        before = _rows(stack)
        sealed_s = _took_s(stack, "shell", "-c", SEALED)
        found[size] = _pages(stack)
        stack.manage("shell", "-c", CLOSED)
        found[size] |= _looks(stack)
        sealing_us = 1e6 * sealed_s / (before - sealed)
        sealed = before
    least, most = min(found), max(found)
    table.head(f"{most:,} incidents of {EVENTS} events, {OPEN} of them open, over {least:,}")
    for name in found[most]:
        reference = f"{', '.join(f'{found[size][name]:.1f}' for size in found)} ms with {_told(found)}"
        table.add(Figure(name, grown(found[least][name], found[most][name]), GROWN, TIMES, reference))
    rows = _rows(stack)
    table.head("What grows with every row, by its nature")
    verified_s = _took_s(stack, "audit", "verify")
    table.add(Figure("sealing, for a row", sealing_us, 200, " µs", "in batches, as entries come"))
    reference = f"{rows:,} rows in {verified_s:.0f} s: it reads all there is"
    table.add(Figure("verifying the whole audit, for a row", 1e6 * verified_s / rows, 200, " µs", reference))


def grown(least_ms: float, most_ms: float) -> float:
    """Return how many times as long something takes, where more than planning is measured."""
    return max(most_ms, PLANNING_MS) / max(least_ms, PLANNING_MS)


def _told(found: Mapping[int, object]) -> str:
    return ", ".join(f"{size:,}" for size in found)


def _rows(stack: Stack) -> int:
    """Count what is sealed: events and audit entries."""
    with psycopg.connect(stack.database_url) as connection:
        counted = "SELECT (SELECT count(*) FROM incidents_event) + (SELECT count(*) FROM audit_entry)"
        return _one(connection.execute(counted.encode()))


def _took_s(stack: Stack, *words: str) -> float:
    began = time.monotonic()
    stack.manage(*words)
    return time.monotonic() - began


def _one(cursor: psycopg.Cursor[Any]) -> int:
    row = cursor.fetchone()
    assert row is not None, "a count has a row"
    return int(row[0])


def sizes(env: Mapping[str, str]) -> tuple[int, ...]:
    """Return the numbers of incidents to measure at, smallest first."""
    most = int(env.get(MOST, USUAL))
    return SIZES[:1] + tuple(size for size in SIZES[1:] if size <= most)


def grow(stack: Stack, size: int) -> None:
    """Write incidents until there are this many."""
    with psycopg.connect(stack.database_url) as connection:
        while (missing := size - _one(connection.execute("SELECT count(*) FROM incidents_incident"))) > 0:
            is_first = missing == size
            part = min(missing, AT_A_TIME)
            active = OPEN / part if is_first else 0.0
            amount = seed.Amount(incidents=part, events=EVENTS, active=active, in_all_private=EVERYWHERE)
            written = seed.fill(connection, amount)
            if is_first:
                public = next(one for one in written.codenames if one not in set(written.private))
                seed.lengthen(connection, public, events=LONG)
            connection.commit()
    seed.tidy(stack.database_url)


def _pages(stack: Stack) -> dict[str, float]:
    """Return how long pages take in ms: for an ordinary person, and for one who is in every private incident."""
    port, found = int(stack.env["PORT"]), dict[str, float]()
    paths = PAGES | {f"incident, {LONG} events": f"/incidents/{_longest(stack)}/"}
    for chat_id, who in ((ORDINARY, ""), (EVERYWHERE, ", in every private one")):
        visitor = Visitor(stack.base_url).sign_in_as(wording.person(int(chat_id[-4:])))
        asks = [load.get(path, port=port, cookie=visitor.cookie) for path in paths.values()]
        asyncio.run(load.in_turn(port, asks, rounds=3))
        for name, answers in zip(paths, asyncio.run(load.in_turn(port, asks, rounds=ROUNDS)), strict=True):
            answers.must_be(200)
            found[name + who] = answers.median_ms
    return found


def _longest(stack: Stack) -> str:
    with psycopg.connect(stack.database_url) as connection:
        row = connection.execute("SELECT codename FROM incidents_incident WHERE last_n = %s", [LONG]).fetchone()
    assert row is not None, "it was lengthened"
    return str(row[0])


def _looks(stack: Stack) -> dict[str, float]:
    """Return how long each regular look takes in ms."""
    with psycopg.connect(stack.database_url) as connection:
        connection.execute(READ.encode())
    took: dict[str, float] = json.loads(stack.manage("shell", "-c", TIMED).stdout.splitlines()[-1])
    return {f"look {name.replace('.tasks', '')}": ms for name, ms in took.items()}
