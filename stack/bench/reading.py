"""The share of page reads that remains while others declare continuously."""

from __future__ import annotations

import asyncio

from stack.bench import load, signing
from stack.bench.load import Answers
from stack.bench.table import Figure, ReportTable
from stack.outside import Records, Visitor, until
from stack.supervisor.running import Stack

READERS, DECLARERS = 4, 4
ROUNDS = 4
QUIET_S, BUSY_S = 2.0, 4.0


def measure(stack: Stack, table: ReportTable, records: Records) -> None:
    """Read pages in alternating quiet and busy periods, so that both meet the same conditions; quiet comes last."""
    table.head(f"Reading with {READERS} clients while {DECLARERS} clients declare without pause")
    port = int(stack.env["PORT"])
    cookie = Visitor(stack.base_url).sign_in_as("Ada Okafor").cookie
    until(records.settled, what="the effects of earlier incidents", timeout_s=120)
    page = load.get(f"/incidents/{records.codenames()[0]}/", port=port, cookie=cookie)
    asyncio.run(load.clients(port, page, count=READERS, seconds=1))
    quiet, during, declared, owed = _quiet(port, page), Answers(), Answers(), 0
    for _ in range(ROUNDS):
        read, acknowledged = asyncio.run(_busy(stack, page))
        during += read
        declared += acknowledged
        owed += sum(1 for _ in records.rows("SELECT FROM workflows_effect WHERE state IN ('waiting', 'running')"))
        until(records.settled, what="the effects of the benchmark's incidents", timeout_s=300)
        quiet += _quiet(port, page)
    reference = (
        f"{during.per_s:.0f} of {quiet.per_s:.0f} a second, {ROUNDS} times by turns; {declared.per_s:.1f} declared "
        f"a second, acknowledged in {declared.median_ms:.0f} ms, p99 {declared.percentile_ms(0.99):.0f}; {owed} owed"
    )
    share = during.per_s / quiet.per_s * 100
    table.add(Figure("share of page reads that remains", share, 90, " %", reference, "2 %, 0.3 %", more=True))


def _quiet(port: int, page: load.Ask) -> Answers:
    return asyncio.run(load.clients(port, page, count=READERS, seconds=QUIET_S)).must_be(200)


async def _busy(stack: Stack, page: load.Ask) -> tuple[Answers, Answers]:
    port = int(stack.env["PORT"])
    declare = signing.declare(stack.env, sandbox_url=stack.sandbox_url)
    reading, declaring = await asyncio.gather(
        load.clients(port, page, count=READERS, seconds=BUSY_S),
        load.clients(port, declare, count=DECLARERS, seconds=BUSY_S),
    )
    return reading.must_be(200), declaring.must_be(200)
