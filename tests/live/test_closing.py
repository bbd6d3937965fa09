"""The moment an incident becomes private, at a real web process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import Event

import httpx
import psycopg
import pytest

from stack.bench.turning import retype, sessions
from stack.outside import Visitor
from stack.outside.readers import END, HEARD, reading
from stack.supervisor.running import Stack
from tests.live.test_streams import ada, declared, run

__all__ = ["ada"]
pytestmark = pytest.mark.workers

STREAMS, FEW = 200, 20
# Less than the interval in which a stream checks its own access; how soon streams really end is measured by the
# benchmark.
BEFORE_THEY_ASK_S = 12
EAR = "firekind live"
LOADS, BEFORE, AT_ONCE = 320, 100, 16
PATIENCE_S = 60
SECRET = "The xylographic printer"


@dataclass(frozen=True, slots=True)
class Load:
    """One page that was requested: when that began, and whether it showed what the incident is about."""

    began_at: float
    status: int
    shows: bool


@pytest.fixture
def outsider(running_stack: Stack, ada: Visitor) -> Iterator[Visitor]:
    """Yield someone no policy brings in."""
    with closing(Visitor(running_stack.base_url)) as visitor:
        yield visitor.sign_in_as("Marcus Bell")


@contextmanager
def deaf(stack: Stack) -> Iterator[None]:
    """Repeatedly cut the connections on which web processes get notifications."""
    over = Event()

    def cut() -> None:
        with psycopg.connect(stack.database_url, autocommit=True) as outside:
            while not over.wait(0.02):
                outside.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", [EAR]
                )

    with ThreadPoolExecutor(1) as thread:
        cutting = thread.submit(cut)
        try:
            yield
        finally:
            over.set()
            cutting.result()


def client(stack: Stack, visitor: Visitor) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(
        base_url=stack.base_url, headers={"Cookie": visitor.cookie}, timeout=PATIENCE_S, limits=limits
    )


def test_streams_of_those_left_behind_end_because_they_are_told(
    running_stack: Stack, ada: Visitor, outsider: Visitor
) -> None:
    codename = declared(ada, f"{SECRET} leaks")
    path = f"/incidents/{codename}/stream?n=999999"
    with reading(running_stack.base_url, path, cookies=sessions(running_stack.base_url), count=STREAMS) as readers:
        readers.wait(HEARD)
        answered_at = retype(ada, codename)
        assert readers.wait(END) - answered_at < BEFORE_THEY_ASK_S
        assert not any(SECRET.encode() in came for came in readers.came)
    assert outsider.get(path).status == 404


def test_they_end_as_soon_when_nobody_hears_at_that_moment(
    running_stack: Stack, ada: Visitor, outsider: Visitor
) -> None:
    codename = declared(ada, f"{SECRET} leaks")
    path = f"/incidents/{codename}/stream?n=999999"
    with reading(running_stack.base_url, path, cookies=[outsider.cookie], count=FEW) as readers:
        readers.wait(HEARD)
        with deaf(running_stack):
            answered_at = retype(ada, codename)
        assert readers.wait(END) - answered_at < BEFORE_THEY_ASK_S
    assert outsider.get(path).status == 404


def test_no_page_that_begins_after_the_commit_shows_anything(
    running_stack: Stack, ada: Visitor, outsider: Visitor
) -> None:
    codename = declared(ada, f"{SECRET} leaks")
    answered_at, loads = run(_race(running_stack, ada, outsider, codename))
    assert len(loads) == LOADS
    before, after = ([one for one in loads if (one.began_at > answered_at) is late] for late in (False, True))
    assert any(one.shows for one in before)
    assert after
    assert {(one.status, one.shows) for one in after} == {(404, False)}
    assert {(one.status, one.shows) for one in before} <= {(200, True), (404, False)}


async def _race(stack: Stack, ada: Visitor, outsider: Visitor, codename: str) -> tuple[float, list[Load]]:
    loads: list[Load] = []
    left = iter(range(LOADS))
    enough = asyncio.Event()
    async with client(stack, outsider) as asking:

        async def load() -> None:
            for n in left:
                loads.append(await _load(asking, f"/incidents/{codename}/"))
                if n >= BEFORE:
                    enough.set()

        loading = [asyncio.create_task(load()) for _ in range(AT_ONCE)]
        await enough.wait()
        answered_at = await asyncio.to_thread(retype, ada, codename)
        await asyncio.gather(*loading)
        return answered_at, loads


async def _load(asking: httpx.AsyncClient, path: str) -> Load:
    began_at = time.monotonic()
    response = await asking.get(path)
    return Load(began_at, response.status_code, SECRET in response.text)
