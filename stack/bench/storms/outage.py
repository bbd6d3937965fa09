"""What people notice while the database, the broker or Slack is away: how long they wait, and when it is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from typing import Final

from stack.bench import declaring, load, signing
from stack.bench.load import Answers, Ask
from stack.bench.table import Figure, ReportTable
from stack.errors import StackError
from stack.outside import Records, SandboxWorkspace, Visitor, until
from stack.processes.process import Process
from stack.services.away import frozen, gone
from stack.supervisor.running import Stack

READERS: Final = 4  # enough to keep a web process busy
COMMANDS_PER_S: Final = 5
CONNECTIONS: Final = 24  # so that a command is sent when it is due, however long earlier ones wait
BEFORE_S, AWAY_S, SECONDS = 2, 5, 12
BACK_S: Final = 30
DECLARED: Final = 3
WINDOWS, SLOW_S = 40, 10
ANSWERED: Final = {200, 503}
Trouble = Callable[[Process], AbstractContextManager[None]]
TROUBLES: Final[dict[str, Trouble]] = {"frozen": frozen, "gone": gone}


def measure(stack: Stack, table: ReportTable) -> None:
    """Measure it on a stack with a worker."""
    with closing(Records(stack.database_url)) as records:
        declaring.warm(stack, records)
        codename = records.codenames()[0]
    with closing(Visitor(stack.base_url)) as visitor:
        page = load.get(f"/incidents/{codename}/", port=_port(stack), cookie=visitor.sign_in_as("Ada Okafor").cookie)
    for name, trouble in TROUBLES.items():
        beside = f"while {READERS} clients read and {COMMANDS_PER_S} a second declare"
        table.head(f"PostgreSQL {name} for {AWAY_S} s, {beside}")
        _without_a_database(stack, table, page, trouble)
    for name, trouble in TROUBLES.items():
        table.head(f"Redis {name}, while somebody declares")
        _without_a_broker(stack, table, trouble)
    table.head(f"Slack, slower than {SLOW_S} s in every call")
    _without_slack(stack, table)


def _without_a_database(stack: Stack, table: ReportTable, page: Ask, trouble: Trouble) -> None:
    declare = signing.declare(stack.env, sandbox_url=stack.sandbox_url)
    commands, pages, back_s = asyncio.run(_beside(stack, page, declare, trouble))
    table.add(Figure("answer to a command, the slowest", max(commands.times_s), 2.5, " s", commands.summary))
    table.add(Figure("answer to a page, the slowest", max(pages.times_s), 2.5, " s", pages.summary))
    table.add(Figure("until a page is shown again", back_s, 5, " s", "from the moment that the server is back"))
    with closing(Records(stack.database_url)) as records:
        until(records.settled, what="the effects of what was declared", timeout_s=120)


async def _beside(stack: Stack, page: Ask, declare: Ask, trouble: Trouble) -> tuple[Answers, Answers, float]:
    port = _port(stack)
    reading = asyncio.create_task(load.clients(port, page, count=READERS, seconds=SECONDS))
    commanding = asyncio.create_task(
        load.paced(port, declare, per_s=COMMANDS_PER_S, seconds=SECONDS, over=CONNECTIONS),
    )
    await asyncio.sleep(BEFORE_S)
    with trouble(stack.servers["postgres"]):
        await asyncio.sleep(AWAY_S)
    back_at = time.perf_counter()
    while (await load.clients(port, page, count=1, each=1)).statuses[200] == 0:
        if time.perf_counter() - back_at > BACK_S:
            raise StackError(f"The web has shown no page for {BACK_S} s, though PostgreSQL is back.")
        await asyncio.sleep(0.1)
    back_s = time.perf_counter() - back_at
    commands, pages = await commanding, await reading
    if unexpected := (set(commands.statuses) | set(pages.statuses)) - ANSWERED:
        raise StackError(f"The benchmark expected answers {ANSWERED} and got {unexpected}.")
    return commands.must_be(200), pages, back_s


def _without_a_broker(stack: Stack, table: ReportTable, trouble: Trouble) -> None:
    with closing(Records(stack.database_url)) as records, trouble(stack.servers["redis"]):
        times = [declaring.declare_once(stack, records) for _ in range(DECLARED)]
    said = ", ".join(f"{took_s:.1f}" for took_s in times)
    table.add(Figure("from declaring to the last effect, the slowest", max(times), 10, " s", f"{said} s"))


def _without_slack(stack: Stack, table: ReportTable) -> None:
    workspace = SandboxWorkspace(stack.sandbox_url)
    window = signing.command(stack.env, "declare", sandbox_url=stack.sandbox_url, numbered=False)
    workspace.fault("latency", ms=SLOW_S * 1000)
    try:
        answers = asyncio.run(load.clients(_port(stack), window, count=WINDOWS, each=1)).must_be(200)
    finally:
        workspace.no_faults()
    name = f"answer to {WINDOWS} at once who ask for a window, the slowest"
    table.add(Figure(name, max(answers.times_s), 2.5, " s", answers.summary))


def _port(stack: Stack) -> int:
    return int(stack.env["PORT"])
