"""Many live pages at once, at a real web process."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, closing
from typing import Any, TypeVar

import httpx
import psycopg
import pytest

from stack.bench.turning import sessions
from stack.outside import Visitor
from stack.supervisor.running import Stack

pytestmark = pytest.mark.workers

T = TypeVar("T")
STREAMS, A_PERSON = 60, 20  # each person may only have so many
SOON_S = 20


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run it on its own loop in its own thread, because another test's browser may occupy this thread's loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@pytest.fixture
def ada(running_stack: Stack) -> Iterator[Visitor]:
    """Yield Ada, signed in; the people of a new workspace are read within seconds."""
    run(_until_people(running_stack))
    with closing(Visitor(running_stack.base_url)) as visitor:
        yield visitor.sign_in_as("Ada Okafor")


async def _until_people(stack: Stack) -> None:
    async with httpx.AsyncClient(base_url=stack.base_url) as client:
        for _ in range(100):
            if "Ada Okafor" in (await client.get("/sign-in/")).text:
                return
            await asyncio.sleep(0.3)


def declared(ada: Visitor, title: str) -> str:
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', ada.get("/declare").source)
    assert token is not None
    page = ada.post("/declare", {"csrfmiddlewaretoken": token[1], "title": title})
    return page.headers["location"].strip("/").split("/")[1]


def write(ada: Visitor, codename: str, text: str) -> None:
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', ada.get(f"/incidents/{codename}/").source)
    assert token is not None
    sent = {"csrfmiddlewaretoken": token[1], "kind": "note", "text": text}
    assert ada.post(f"/incidents/{codename}/write", sent).status == 302


def connections(stack: Stack) -> int:
    with psycopg.connect(stack.database_url) as outside:
        found = outside.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()").fetchone()
    assert found is not None
    return int(found[0])


def test_streams_hold_no_connection_and_all_hear_of_a_change(running_stack: Stack, ada: Visitor) -> None:
    codename = declared(ada, "Many are watching")
    before = connections(running_stack)
    heard, during = run(_watch(running_stack, ada, codename))
    assert heard == STREAMS
    assert during - before < STREAMS / 2  # workers come and go with connections of their own meanwhile


async def _watch(stack: Stack, ada: Visitor, codename: str) -> tuple[int, int]:
    limits = httpx.Limits(max_connections=None)
    cookies = await asyncio.to_thread(sessions, stack.base_url)
    async with (
        httpx.AsyncClient(base_url=stack.base_url, timeout=SOON_S, limits=limits) as client,
        AsyncExitStack() as open_streams,
    ):
        path = f"/incidents/{codename}/stream?n=999999"
        whose = [{"Cookie": cookies[n // A_PERSON]} for n in range(STREAMS)]
        asked = [client.stream("GET", path, headers=headers) for headers in whose]
        streams = [await open_streams.enter_async_context(one) for one in asked]
        listening = [asyncio.create_task(_first_change(one)) for one in streams]
        await asyncio.sleep(0.5)
        during = await asyncio.to_thread(connections, stack)
        await asyncio.to_thread(write, ada, codename, "something new")
        heard = await asyncio.wait_for(asyncio.gather(*listening), SOON_S)
    return sum(heard), during


async def _first_change(stream: httpx.Response) -> bool:
    async for line in stream.aiter_lines():
        if line == "event: changed":
            return True
    return False
