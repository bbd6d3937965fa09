"""The stream that says *changed, now at n*."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest
from django.db import connection

from incidents import listening, live, timeline
from incidents.listening import Hub
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

SOON_S = 10


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    """Give streams a hub that hears the test alone."""
    made = Hub()
    monkeypatch.setattr(live, "hub", made)
    monkeypatch.setattr(made, "_ensure", lambda: None)
    may(monkeypatch, see=True)
    return made


def may(monkeypatch: pytest.MonkeyPatch, *, see: bool) -> None:
    monkeypatch.setattr(live, "_allowed_of", lambda incident, people: people if see else set())


async def following(stream: AsyncIterator[str]) -> str:
    return await asyncio.wait_for(anext(stream), SOON_S)


def test_it_says_at_once_what_was_missed_and_then_what_comes(hub: Hub) -> None:
    async def listen() -> list[str]:
        stream = live.changes(7, n=5, seen=3, person=Person())
        said = [await following(stream)]
        hub.tell(7, 6)
        said.append(await following(stream))
        await stream.aclose()
        return said

    first, second = asyncio.run(listen())
    assert "event: changed\ndata: 5\n\n" in first
    assert second == "id: 6\nevent: changed\ndata: 6\n\n"


def test_nothing_was_missed_when_the_cursor_is_current(hub: Hub) -> None:
    async def listen() -> str:
        stream = live.changes(7, n=5, seen=5, person=Person())
        said = await following(stream)
        await stream.aclose()
        return said

    assert "event:" not in asyncio.run(listen())


def test_it_ends_with_a_bye_once_access_is_gone(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    async def listen() -> list[str]:
        stream = live.changes(7, n=5, seen=5, person=Person())
        await following(stream)
        may(monkeypatch, see=False)
        hub.tell(7, 6)
        return [said async for said in stream]

    assert asyncio.run(listen()) == ["event: bye\ndata: gone\n\n"]


def test_it_ends_at_once_when_access_went_before_it_listened(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    may(monkeypatch, see=False)

    async def listen() -> list[str]:
        return [said async for said in live.changes(7, n=5, seen=3, person=Person())]

    assert asyncio.run(listen()) == ["event: bye\ndata: gone\n\n"]


def test_streams_that_hear_of_the_same_change_ask_once(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[frozenset[int]] = []

    def answer(incident: int, people: frozenset[int]) -> frozenset[int]:
        asked.append(people)
        return people

    async def listen() -> None:
        streams = [live.changes(7, n=5, seen=5, person=Person(pk=pk)) for pk in range(20)]
        await asyncio.gather(*map(following, streams))
        monkeypatch.setattr(live, "_allowed_of", answer)
        hub.tell(7, 6)
        await asyncio.gather(*map(following, streams))
        for stream in streams:
            await stream.aclose()

    asyncio.run(listen())
    assert asked == [frozenset(range(20))]


def test_a_quiet_stream_beats_and_ends_by_itself(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HEARTBEAT_S", 0.02)
    monkeypatch.setattr(live, "LASTS_S", 0.09)

    async def listen() -> list[str]:
        return [said async for said in live.changes(7, n=5, seen=5, person=Person())]

    said = asyncio.run(listen())
    assert said.count(": still here\n\n") >= 2
    assert not any("bye" in one for one in said)


def test_a_slow_reader_keeps_only_the_newest_number(hub: Hub) -> None:
    async def listen() -> int:
        with hub.listening(7) as heard:
            for n in (1, 2, 3):
                hub.tell(7, n)
            hub.tell(8, 99)
            return await heard.get()

    assert asyncio.run(listen()) == 3


def test_a_stream_that_ends_leaves_nothing_behind(hub: Hub) -> None:
    async def listen() -> bool:
        with hub.listening(7):
            pass
        return bool(hub._queues)

    assert not asyncio.run(listen())


def test_the_database_is_heard_and_heard_again_after_it_was_away(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "WAITS_S", (0.05,))
    parameters = listening.parameters()
    monkeypatch.setattr(listening, "parameters", lambda: parameters)

    async def listen() -> tuple[int, int, int]:
        hub = Hub()
        with hub.listening(7) as heard:
            first = await _told(heard, parameters, n=5)
            await asyncio.to_thread(_cut, parameters)
            resync = await asyncio.wait_for(heard.get(), SOON_S)
            second = await _told(heard, parameters, n=6)
        assert hub._task is not None
        hub._task.cancel()
        return first, resync, second

    assert asyncio.run(listen()) == (5, 0, 6)


async def _told(heard: listening.Heard, parameters: dict[str, object], *, n: int) -> int:
    """Notify until it was heard: whether the listener listens already cannot be seen from outside."""
    for _ in range(100):
        await asyncio.to_thread(_notify, parameters, f"7:{n}")
        try:
            if await asyncio.wait_for(heard.get(), 0.1) == n:
                return n
        except TimeoutError:
            continue
    raise AssertionError("nothing was heard")


def _notify(parameters: dict[str, object], payload: str) -> None:
    with psycopg.connect(**(parameters | {"application_name": "test"}), autocommit=True) as outside:  # type: ignore[arg-type]  # plain connection options
        outside.execute("SELECT pg_notify(%s, %s)", [timeline.CHANNEL, payload])


def _cut(parameters: dict[str, object]) -> None:
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s AND datname = %s"
    with psycopg.connect(**(parameters | {"application_name": "test"}), autocommit=True) as outside:  # type: ignore[arg-type]  # plain connection options
        outside.execute(cut, ["firekind live", parameters["dbname"]])


def test_its_headers_keep_proxies_and_caches_out(
    incident: Incident, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "let_go", lambda: None)
    response = browse(ada).get(f"/incidents/{incident.codename}/stream?n=0", headers={"Accept-Encoding": "gzip"})
    assert response["Content-Type"] == "text/event-stream"
    assert response["Cache-Control"] == "no-store"
    assert response["X-Accel-Buffering"] == "no"
    assert "Content-Encoding" not in response


def test_access_is_asked_of_the_database(
    secret: Incident, ada: Person, eve: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "let_go", lambda: None)
    both = frozenset({ada.pk, eve.pk})
    assert live._allowed_of(secret.pk, both) == {ada.pk}
    Person.objects.filter(pk=ada.pk).update(deactivated=True)
    assert live._allowed_of(secret.pk, both) == set()
    assert connection.connection is not None
