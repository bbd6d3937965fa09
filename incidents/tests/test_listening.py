"""One database connection listens for all streams of a process."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from incidents import timeline
from incidents.live import listening
from incidents.live.listening import LOOK, Hub

SOON_S = 10


SEVERAL = 5


def quiet() -> Hub:
    """Return a hub that only the test notifies."""
    made = Hub()
    made._ensure = lambda: None  # type: ignore[method-assign]  # nothing else runs during the test
    return made


def test_a_slow_reader_keeps_only_the_newest_number() -> None:
    async def listen() -> int:
        hub = quiet()
        with hub.listening(7) as heard:
            for n in (1, 2, 3):
                hub.tell(7, n)
            hub.tell(8, 99)
            return await heard.get()

    assert asyncio.run(listen()) == 3


def test_a_look_replaces_no_number() -> None:
    async def listen() -> int:
        hub = quiet()
        with hub.listening(7) as heard:
            hub.tell(7, 5)
            hub.look()
            return await heard.get()

    assert asyncio.run(listen()) == 5


def test_a_stream_that_ends_leaves_nothing_behind() -> None:
    async def listen() -> bool:
        hub = quiet()
        with hub.listening(7):
            pass
        return bool(hub._queues)

    assert not asyncio.run(listen())


def test_everybody_looks_when_the_database_is_not_heard_any_more(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries, several = list[int](), asyncio.Event()

    async def refuse(**_: object) -> None:
        tries.append(1)
        if len(tries) == SEVERAL:
            several.set()
        raise psycopg.OperationalError("no more connections")

    async def listen() -> int:
        monkeypatch.setattr(listening, "WAITS_S", (0.0,))
        monkeypatch.setattr(listening, "parameters", dict)
        monkeypatch.setattr(psycopg.AsyncConnection, "connect", refuse)
        hub = quiet()
        with hub.listening(7) as heard:
            trying = asyncio.create_task(hub._listen())
            told = await asyncio.wait_for(heard.get(), SOON_S)
            await asyncio.wait_for(several.wait(), SOON_S)
            trying.cancel()
        return told

    assert asyncio.run(listen()) == LOOK
    assert caplog.text.count("lost the database") == 1, "it may last for hours"


def test_the_database_is_heard_and_heard_again_after_it_was_away(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "WAITS_S", (0.05,))
    parameters = listening.parameters()
    monkeypatch.setattr(listening, "parameters", lambda: parameters)

    async def listen() -> list[int]:
        hub, all_heard = Hub(), asyncio.Queue[int]()
        with hub.listening(7) as heard:
            reading = asyncio.create_task(_read(heard, all_heard))
            while all_heard.qsize() < 2:  # whether it listens already cannot be seen from outside
                await asyncio.to_thread(_notify, parameters, "7:5")
                await asyncio.sleep(0.02)
            await asyncio.to_thread(_notify, parameters, "7:6")
            await _through(6, all_heard)  # and so every 5, however late
            await asyncio.to_thread(_cut, parameters)
            lost = await _through(0, all_heard)
            await asyncio.to_thread(_notify, parameters, "7:7")
            again = await _through(7, all_heard)
            reading.cancel()
        hub.close()
        return lost + again

    assert asyncio.run(asyncio.wait_for(listen(), SOON_S)) == [LOOK, 0, 7]


async def _read(heard: listening.Heard, into: asyncio.Queue[int]) -> None:
    while True:
        into.put_nowait(await heard.get())


async def _through(n: int, told: asyncio.Queue[int]) -> list[int]:
    """Return the numbers received, up to this one."""
    got = [await told.get()]
    while got[-1] != n:
        got.append(await told.get())
    return got


def _notify(parameters: dict[str, object], payload: str) -> None:
    with psycopg.connect(**(parameters | {"application_name": "test"}), autocommit=True) as outside:  # type: ignore[arg-type]  # plain connection options
        outside.execute("SELECT pg_notify(%s, %s)", [timeline.CHANNEL, payload])


def _cut(parameters: dict[str, object]) -> None:
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s AND datname = %s"
    with psycopg.connect(**(parameters | {"application_name": "test"}), autocommit=True) as outside:  # type: ignore[arg-type]  # plain connection options
        outside.execute(cut, ["firekind live", parameters["dbname"]])
