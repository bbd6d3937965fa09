"""A load generator light enough to share two cores with what it measures: keep-alive sockets, no library."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Self

from stack.errors import StackError
from stack.processes.ports import LOOPBACK

PATIENCE_S = 30
Ask = Callable[[], bytes]


@dataclass(slots=True)
class Answers:
    """The answers to some clients: how long each took, how it began, and its size."""

    times_s: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    took_s: float = 0.0

    @property
    def per_s(self) -> float:
        """Answers per second."""
        return len(self.times_s) / self.took_s

    @property
    def median_ms(self) -> float:
        """The median time in milliseconds."""
        return median(self.times_s) * 1000

    def percentile_ms(self, share: float) -> float:
        """Return the time within which that share of the answers arrived."""
        ordered = sorted(self.times_s)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000

    @property
    def summary(self) -> str:
        """How long the answers took, and how many there were of each status."""
        statuses = ", ".join(f"{count:,} of {status}" for status, count in sorted(self.statuses.items()))
        return f"median {self.median_ms:.0f} ms, p99 {self.percentile_ms(0.99):.0f}; {statuses}"

    def __iadd__(self, more: Self) -> Self:
        """Add later answers."""
        self.times_s += more.times_s
        self.statuses += more.statuses
        self.took_s += more.took_s
        return self

    def must_be(self, status: int) -> Answers:
        """Return self, or raise StackError for another status: a refusal is fast and would flatter the figure."""
        if set(self.statuses) != {status}:
            raise StackError(f"The benchmark expected answers {status} and got {dict(self.statuses)}.")
        return self


async def clients(port: int, ask: Ask, *, count: int, seconds: float = 0, each: int = 0) -> Answers:
    """Have that many clients send requests back to back, for a time or a number of requests each."""
    answers = Answers()
    began = time.perf_counter()
    ends = began + seconds if seconds else float("inf")
    await asyncio.gather(*(_client(port, ask, answers, ends=ends, each=each) for _ in range(count)))
    answers.took_s = time.perf_counter() - began
    return answers


async def paced(port: int, ask: Ask, *, per_s: float, seconds: float, over: int) -> Answers:
    """Send this many requests a second over that many connections; a late request counts from when it was due."""
    answers = Answers()
    began = time.perf_counter()
    dues = iter([began + n / per_s for n in range(round(per_s * seconds))])
    await asyncio.gather(*(_when_due(port, ask, answers, dues) for _ in range(over)))
    answers.took_s = time.perf_counter() - began
    return answers


async def in_turn(port: int, asks: list[Ask], *, rounds: int) -> list[Answers]:
    """Send several requests in turn over one connection, so that all of them meet the same conditions."""
    return await in_turn_among([(port, ask) for ask in asks], rounds=rounds)


async def in_turn_among(asks: list[tuple[int, Ask]], *, rounds: int) -> list[Answers]:
    """Send several requests in turn, each to its port, over one connection to each server."""
    found = [Answers() for _ in asks]
    began = time.perf_counter()
    connections = {port: await _Connection.open(port) for port, _ in asks}
    for _ in range(rounds):
        for (port, ask), answers in zip(asks, found, strict=True):
            await connections[port].ask(ask(), answers)
    for connection in connections.values():
        connection.close()
    for answers in found:
        answers.took_s = time.perf_counter() - began
    return found


def get(path: str, *, port: int, cookie: str = "") -> Ask:
    """Build the request for a page, as a browser that accepts compression would."""
    lines = [f"GET {path} HTTP/1.1", f"Host: {LOOPBACK}:{port}", "Accept: text/html", "Accept-Encoding: gzip"]
    lines += [f"Cookie: {cookie}"] if cookie else []
    raw = ("\r\n".join(lines) + "\r\n\r\n").encode()
    return lambda: raw


async def _client(port: int, ask: Ask, answers: Answers, *, ends: float, each: int) -> None:
    connection = await _Connection.open(port)
    asked = 0
    while time.perf_counter() < ends and (not each or asked < each):
        await connection.ask(ask(), answers)
        asked += 1
    connection.close()


async def _when_due(port: int, ask: Ask, answers: Answers, dues: Iterator[float]) -> None:
    connection = await _Connection.open(port)
    for due in dues:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        await connection.ask(ask(), answers, due=due)
    connection.close()


class _Connection:
    """One keep-alive connection that sends a request and waits."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> _Connection:
        return cls(*await asyncio.open_connection(LOOPBACK, port, limit=1 << 22))

    def close(self) -> None:
        self._writer.close()

    async def ask(self, raw: bytes, answers: Answers, *, due: float | None = None) -> None:
        began = time.perf_counter() if due is None else due
        self._writer.write(raw)
        async with asyncio.timeout(PATIENCE_S):
            head = await self._reader.readuntil(b"\r\n\r\n")
            await self._reader.readexactly(_length(head))
        answers.times_s.append(time.perf_counter() - began)
        answers.statuses[int(head[9:12])] += 1


def _length(head: bytes) -> int:
    name, _, rest = head.lower().partition(b"content-length:")
    if not rest:
        raise StackError(f"The web sent an answer without a length: {name[:100]!r}")
    return int(rest.partition(b"\r\n")[0])
