"""Everything at once: open timelines, commands, webhooks, page reads and a large profile, and how long each waits."""

from __future__ import annotations

import asyncio
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Final

from stack.bench import load, memory, signing
from stack.bench.load import Answers
from stack.bench.storms import storm
from stack.bench.table import Figure, ReportTable
from stack.outside import Api, Records, Visitor, until
from stack.processes.ports import LOOPBACK
from stack.supervisor.running import Stack

STREAMS, INCIDENTS, PEOPLE = 200, 10, 10
COMMANDS_PER_S, SECONDS, CONNECTIONS = 50, 60, 100
WEBHOOKS: Final = 2_000
READERS, READS_PER_S = 8, 4
GROWN_MIB: Final = 150
PROFILE_MB: Final = 100
READ_S: Final = 120  # no one waits for it: the page says that it is being read
NAMES: Final = "SELECT name FROM incidents_person WHERE email <> '' ORDER BY id LIMIT %s"
MAIL: Final = "SELECT email FROM incidents_person WHERE email <> '' AND user_id IS NOT NULL ORDER BY id LIMIT 1"
CHANNELS: Final = """
    SELECT i.codename, r.external_id AS channel FROM incidents_incident i
      JOIN workflows_resource r ON r.incident_id = i.id AND r.kind = 'channel' AND r.external_id <> ''
     ORDER BY i.id LIMIT %s
"""
RECORDED: Final = """
    SELECT e.n, extract(epoch FROM e.recorded_at)::float8 AS at FROM incidents_event e
      JOIN incidents_incident i ON i.id = e.incident_id WHERE i.codename = %s AND e.recorded_at >= to_timestamp(%s)
     ORDER BY e.n
"""
READ: Final = """
    SELECT extract(epoch FROM e.read_at - e.added_at)::float8 AS seconds, e.state FROM evidence_evidence e
     WHERE e.state <> 'reading'
"""
Heard = list[tuple[int, float]]  # the newest number that a stream reported, and when


def measure(stack: Stack, table: ReportTable, records: Records) -> None:
    """Measure it on a stack with a worker that was started with the storm's ``ENV``."""
    title = f"{STREAMS} open timelines, {COMMANDS_PER_S} commands a second for {SECONDS} s, {WEBHOOKS:,} webhooks"
    table.head(f"At once: {title}, reads, and a profile of {PROFILE_MB} MB")
    port = int(stack.env["PORT"])
    declare = signing.declare(stack.env, sandbox_url=stack.sandbox_url)
    asyncio.run(load.clients(port, declare, count=1, each=INCIDENTS)).must_be(200)
    until(records.settled, what="the effects of the benchmark's incidents", timeout_s=120)
    rooms = records.rows(CHANNELS, INCIDENTS)
    codenames = [str(room["codename"]) for room in rooms]
    cookies = [_cookie(stack, str(row["name"])) for row in records.rows(NAMES, PEOPLE)]
    note = signing.command(
        stack.env, "note seen", sandbox_url=stack.sandbox_url, channels=[str(room["channel"]) for room in rooms]
    )
    api, profile = _api(stack, records), large_profile(PROFILE_MB * 1_000_000)
    before, began = memory.resident(stack), time.time()
    page = load.get(f"/incidents/{codenames[0]}/", port=port, cookie=cookies[0])
    with ThreadPoolExecutor(1) as thread:
        sending = thread.submit(api.send, codenames[-1], profile, title="The whole night", file_name="night.folded")
        commands, webhooks, reads, heard = asyncio.run(_at_once(port, note, page, codenames, cookies))
        sending.result()
    grown = memory.resident(stack) - before
    table.add(Figure("acknowledgement, the slowest", max(commands.times_s), 3, " s", commands.summary))
    delays = sorted(_delays(records, heard, since=began, until_s=began + SECONDS))
    share = f"{len(delays):,} deliveries, median {delays[len(delays) // 2]:.2f} s"
    table.add(Figure("a live event, p95", delays[int(len(delays) * 0.95)], 1, " s", share))
    table.add(Figure("a page, p99", reads.percentile_ms(0.99) / 1000, 2, " s", reads.summary))
    table.add(
        Figure("webhooks that were taken", webhooks.statuses[202], WEBHOOKS, reference=webhooks.summary, more=True)
    )
    until(lambda: records.rows(READ), what="the large profile was not read", timeout_s=READ_S * 2)
    [read] = records.rows(READ)
    size = f"{len(profile) / 1e6:.0f} MB of folded stacks; {read['state']}"
    table.add(Figure("the profile, sent until read", read["seconds"], READ_S, " s", size))
    table.add(Figure("memory, grown by", grown, GROWN_MIB, " MiB", f"{before:.0f} MiB before"))


def _api(stack: Stack, records: Records) -> Api:
    [person] = records.rows(MAIL)
    made = stack.manage("evidence_token", str(person["email"]), "--name", "the crowd")
    return Api(stack.base_url, made.stdout.split()[-1])


def large_profile(size: int) -> bytes:
    """Make folded stacks of about this many bytes: the same thousands of paths twenty times over."""
    chance, lines, length = random.Random(PROFILE_MB), list[str](), 0  # noqa: S311 (no secret)
    while length < size / 20:
        depth = chance.randint(12, 40)
        frames = [f"service.module_{level}.function_{chance.randint(0, 3 * level)}" for level in range(depth)]
        lines.append(f"{';'.join(frames)} {chance.randint(1, 90)}\n")
        length += len(lines[-1])
    return "".join(lines).encode() * 20


def _cookie(stack: Stack, name: str) -> str:
    with closing(Visitor(stack.base_url)) as visitor:
        return visitor.sign_in_as(name).cookie


async def _at_once(
    port: int, note: load.Ask, page: load.Ask, codenames: list[str], cookies: list[str]
) -> tuple[Answers, Answers, Answers, list[tuple[str, Heard]]]:
    places = [(codenames[n // len(cookies) % len(codenames)], cookies[n % len(cookies)]) for n in range(STREAMS)]
    heard: list[tuple[str, Heard]] = [(codename, []) for codename, _ in places]
    listening = [
        asyncio.create_task(_listen(port, codename, cookie, said))
        for (codename, cookie), (_, said) in zip(places, heard, strict=True)
    ]
    commands, webhooks, reads = await asyncio.gather(
        load.paced(port, note, per_s=COMMANDS_PER_S, seconds=SECONDS, over=CONNECTIONS),
        storm.storm(port, storm.requests(port, WEBHOOKS)),
        load.paced(port, page, per_s=READS_PER_S, seconds=SECONDS, over=READERS),
    )
    await asyncio.sleep(2)  # the last messages are on their way
    for task in listening:
        task.cancel()
    for found in await asyncio.gather(*listening, return_exceptions=True):
        if isinstance(found, Exception):
            raise found
    return commands.must_be(200), webhooks, reads.must_be(200), heard


async def _listen(port: int, codename: str, cookie: str, heard: Heard) -> None:
    """Read one timeline's stream until it is cancelled."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        head = f"GET /incidents/{codename}/stream HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\nCookie: {cookie}\r\n\r\n"
        writer.write(head.encode())
        async for line in reader:
            if line.startswith(b"id: "):
                heard.append((int(line[4:]), time.time()))
    finally:
        writer.close()


def _delays(records: Records, heard: list[tuple[str, Heard]], *, since: float, until_s: float) -> list[float]:
    """Return the seconds until each stream reported each of its incident's events."""
    recorded = {
        codename: [(int(row["n"]), float(row["at"])) for row in records.rows(RECORDED, codename, since)]
        for codename in {codename for codename, _ in heard}
    }
    return [
        delay
        for codename, said in heard
        for delay in waited([one for one in recorded[codename] if one[1] <= until_s], said)
    ]


def waited(recorded: list[tuple[int, float]], heard: Heard) -> list[float]:
    """Return the seconds until a stream reported each event; infinite for one that it never reported.

    A stream gives only the newest number, so an event is reported by its number or a later one.
    """
    found, told = [], iter(heard)
    newest, at = 0, float("inf")
    for n, since in recorded:
        while newest < n:
            newest, at = next(told, (n, float("inf")))
        found.append(at - since)
    return found
