"""Attacks on the web from the loopback: how each affects people's pages, and whether its memory is given back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psutil
import psycopg

from config.env import ROOT
from stack import seed
from stack.bench import attacks, load
from stack.bench.load import Answers
from stack.bench.table import TIMES, Figure, ReportTable
from stack.errors import StackError
from stack.outside import Visitor
from stack.seed import wording
from stack.supervisor.running import Stack

INCIDENTS, EVENTS = 500, 10
AT_ONCE, SECONDS, TURNS = 4, 6.0, 3
BEGINS_S, SETTLES_S, REST_S = 4.0, 1.0, 15.0
MIB: Final = 1 << 20


def measure(stack: Stack, table: ReportTable) -> None:
    """Measure a page during each attack, next to the same page before it; and the memory after all of them."""
    port = int(stack.env["PORT"])
    with psycopg.connect(stack.database_url) as connection:
        seed.fill(connection, seed.Amount(incidents=INCIDENTS, events=EVENTS))
    seed.tidy(stack.database_url)
    cookie = Visitor(stack.base_url).sign_in_as(wording.person(0)).cookie
    page = load.get("/", port=port, cookie=cookie)
    web = psutil.Process(stack.processes["web"].pid)
    asyncio.run(load.clients(port, page, count=AT_ONCE, seconds=SECONDS))
    before = _resident(web)
    table.head(f"p99 of a page, {AT_ONCE} at once, during each attack, over quiet")
    worst = 0.0
    for name in attacks.ATTACKS:
        found, quiet, most = Answers(), Answers(), 0.0
        for _ in range(TURNS):  # in turns, so that both meet the same conditions
            quiet += asyncio.run(load.clients(port, page, count=AT_ONCE, seconds=SECONDS / TURNS))
            with _attacked(name, port):
                found += asyncio.run(load.clients(port, page, count=AT_ONCE, seconds=SECONDS / TURNS))
                most = max(most, _resident(web))
            time.sleep(SETTLES_S)
        worst = max(worst, most - before)
        _add(table, name, found, quiet)
    table.head("Memory of the web process")
    table.add(Figure("grown at most while attacked", worst, 64, " MiB", f"{before:.0f} MiB before"))
    time.sleep(REST_S)
    table.add(Figure("not given back after it", _resident(web) - before, 32, " MiB", f"{REST_S:.0f} s later"))
    table.add(Figure("files still open", float(len(web.net_connections("tcp"))), 8))


def _add(table: ReportTable, name: str, found: Answers, quiet: Answers) -> None:
    lost = sum(count for status, count in found.statuses.items() if status != 200)
    p99, base = found.percentile_ms(0.99), quiet.percentile_ms(0.99)
    said = f"{p99:.0f} ms over {base:.0f} ms, {found.per_s:.0f} a second over {quiet.per_s:.0f}"
    table.add(Figure(name, p99 / base, 2, TIMES, f"{said}, {lost} lost"))


@contextmanager
def _attacked(name: str, port: int) -> Iterator[None]:
    """Run an attack during the block."""
    argv = [sys.executable, "-c", "from stack.bench import attacks; attacks.main()", name, str(port)]
    with subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, text=True) as attacker:
        assert attacker.stdin is not None
        try:
            time.sleep(BEGINS_S)
            yield
            if attacker.poll() is not None:
                raise StackError(f"The attack {name!r} ended before it was told to.")
        finally:
            attacker.stdin.close()


def _resident(web: psutil.Process) -> float:
    return float(web.memory_info().rss) / MIB
