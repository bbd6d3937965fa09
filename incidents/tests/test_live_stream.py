"""The stream that says *changed, now at n*."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from django.db import OperationalError

from incidents.live import listening, live_stream, watching
from incidents.live.listening import Hub
from incidents.live.watching import Viewer
from incidents.models import Incident, Person
from incidents.tests.conftest import Open
from incidents.tests.hubs import told_by_the_test

SOON_S = 10
ADA = Viewer(1, "of-ada")
BYE = "event: bye\ndata: gone\n\n"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    """Give streams a hub that only the test notifies."""
    may(monkeypatch, see=True)
    return told_by_the_test(monkeypatch, live_stream)


def may(monkeypatch: pytest.MonkeyPatch, *, see: bool) -> None:
    monkeypatch.setattr(watching, "allowed_of", lambda incident, readers: readers if see else frozenset())


@contextmanager
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Give streams a hub that beats but receives nothing."""
    made = Hub()
    monkeypatch.setattr(live_stream, "hub", made)
    monkeypatch.setattr(made, "_listen", partial(asyncio.sleep, SOON_S))
    yield made
    made.close()


async def following(stream: AsyncIterator[str]) -> str:
    return await asyncio.wait_for(anext(stream), SOON_S)


def first_said(*, n: int, seen: int) -> str:
    """Return a stream's first message."""

    async def listen() -> str:
        stream = live_stream.changes(7, n=n, seen=seen, reader=ADA)
        said = await following(stream)
        await stream.aclose()
        return said

    return asyncio.run(listen())


def test_it_says_at_once_that_a_page_shows_what_is_no_more(hub: Hub) -> None:
    assert "event: changed\ndata: 5\n\n" in first_said(n=5, seen=8)


def test_it_says_at_once_what_was_missed_and_then_what_comes(hub: Hub) -> None:
    async def listen() -> list[str]:
        stream = live_stream.changes(7, n=5, seen=3, reader=ADA)
        said = [await following(stream)]
        hub.tell(7, 6)
        said.append(await following(stream))
        await stream.aclose()
        return said

    first, second = asyncio.run(listen())
    assert "event: changed\ndata: 5\n\n" in first
    assert second == "id: 6\nevent: changed\ndata: 6\n\n"


def test_what_comes_while_it_gives_way_is_told_in_one(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    async def listen() -> list[str]:
        asked, over = asyncio.Event(), asyncio.Event()

        async def give_way() -> None:
            asked.set()
            await over.wait()

        monkeypatch.setattr(live_stream, "give_way", give_way)
        stream = live_stream.changes(7, n=5, seen=5, reader=ADA)
        await following(stream)
        hub.tell(7, 6)
        waiting = asyncio.create_task(following(stream))
        await asyncio.wait_for(asked.wait(), SOON_S)
        hub.tell(7, 7)
        hub.tell(7, 8)
        over.set()
        said = [await waiting]
        hub.tell(7, 9)
        said.append(await following(stream))
        await stream.aclose()
        return said

    assert asyncio.run(listen()) == [f"id: {n}\nevent: changed\ndata: {n}\n\n" for n in (8, 9)]


def test_nothing_was_missed_when_the_cursor_is_current(hub: Hub) -> None:
    assert "event:" not in first_said(n=5, seen=5)


def test_it_ends_with_a_bye_once_access_is_gone(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    async def listen() -> list[str]:
        stream = live_stream.changes(7, n=5, seen=5, reader=ADA)
        await following(stream)
        may(monkeypatch, see=False)
        hub.tell(7, 6)
        return [said async for said in stream]

    assert asyncio.run(listen()) == [BYE]


def test_it_ends_at_once_when_access_went_before_it_listened(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    may(monkeypatch, see=False)

    async def listen() -> list[str]:
        return [said async for said in live_stream.changes(7, n=5, seen=3, reader=ADA)]

    assert asyncio.run(listen()) == [BYE]


def test_streams_that_hear_of_the_same_change_ask_once(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[frozenset[Viewer]] = []

    def answer(incident: int, readers: frozenset[Viewer]) -> frozenset[Viewer]:
        asked.append(readers)
        return readers

    many = [Viewer(person, f"of-{person}") for person in range(20)]

    async def listen() -> None:
        streams = [live_stream.changes(7, n=5, seen=5, reader=one) for one in many]
        await asyncio.gather(*map(following, streams))
        monkeypatch.setattr(watching, "allowed_of", answer)
        hub.tell(7, 6)
        await asyncio.gather(*map(following, streams))
        for stream in streams:
            await stream.aclose()

    asyncio.run(listen())
    assert asked == [frozenset(many)]


def test_whoever_comes_while_a_question_is_asked_shares_the_next(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[frozenset[Viewer]] = []
    begun, first = threading.Event(), threading.Event()

    def answer(incident: int, readers: frozenset[Viewer]) -> frozenset[Viewer]:
        asked.append(readers)
        begun.set()
        first.wait(SOON_S)
        return readers

    async def ask(reader: Viewer) -> bool:
        return await watching.may_go_on(reader, 7, within_s=SOON_S)

    async def come() -> None:
        monkeypatch.setattr(watching, "allowed_of", answer)
        asking = [asyncio.create_task(ask(ADA))]
        await asyncio.to_thread(begun.wait, SOON_S)
        for one in many:
            asking.append(asyncio.create_task(ask(one)))
            await asyncio.sleep(0.002)
        first.set()
        assert all(await asyncio.gather(*asking))

    many = [Viewer(person, f"of-{person}") for person in range(10)]
    asyncio.run(come())
    assert asked == [frozenset({ADA}), frozenset(many)]


def test_a_quiet_stream_beats_and_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "BEAT_S", 0.02)
    monkeypatch.setattr(live_stream, "LASTS_S", 0.3)
    may(monkeypatch, see=True)

    async def listen() -> list[str]:
        with quiet(monkeypatch):
            return [said async for said in live_stream.changes(7, n=5, seen=5, reader=ADA)]

    said = asyncio.run(listen())
    assert said.count(live_stream.HERE) >= 2
    assert not any("bye" in one for one in said)


def test_access_that_ends_without_a_word_is_noticed_at_the_next_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "BEAT_S", 0.02)
    may(monkeypatch, see=True)

    async def listen() -> list[str]:
        with quiet(monkeypatch):
            stream = live_stream.changes(7, n=5, seen=5, reader=ADA)
            await following(stream)
            may(monkeypatch, see=False)
            return [said async for said in stream]

    assert asyncio.run(listen())[-1] == BYE


def test_a_stream_ends_without_a_word_when_nobody_can_say_who_may_see(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def listen() -> list[str]:
        stream = live_stream.changes(7, n=5, seen=5, reader=ADA)
        await following(stream)
        monkeypatch.setattr(watching, "allowed_of", _fail)
        hub.tell(7, 6)
        return [said async for said in stream]

    assert asyncio.run(listen()) == []
    assert "OperationalError" in caplog.text


def _fail(*_: object) -> frozenset[Viewer]:
    raise OperationalError("the database is away")


def test_a_stream_does_not_wait_for_a_late_answer(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    late = threading.Event()

    def answer(incident: int, readers: frozenset[Viewer]) -> frozenset[Viewer]:
        late.wait(SOON_S)
        return readers

    async def listen() -> list[str]:
        stream = live_stream.changes(7, n=5, seen=5, reader=ADA)
        await following(stream)
        monkeypatch.setattr(watching, "ANSWER_S", 0.05)
        monkeypatch.setattr(watching, "allowed_of", answer)
        hub.tell(7, 6)
        said = [said async for said in stream]
        late.set()
        return said

    assert asyncio.run(listen()) == []


def test_its_headers_keep_proxies_and_caches_out(
    incident: Incident, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_stream, "let_go", lambda: None)
    response = browse(ada).get(f"/incidents/{incident.codename}/stream?n=0", headers={"Accept-Encoding": "gzip"})
    assert response["Content-Type"] == "text/event-stream"
    assert response["Cache-Control"] == "no-store, no-transform"
    assert response["X-Accel-Buffering"] == "no"
    assert "Content-Encoding" not in response


def test_watchers_are_told_how_many_streams_are_open(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(live_stream, "watchers", [told.append])

    async def listen() -> None:
        streams = [live_stream.changes(7, n=5, seen=5, reader=Viewer(n, f"of-{n}")) for n in (1, 2)]
        for stream in streams:
            await following(stream)
        for stream in streams:
            await stream.aclose()

    asyncio.run(listen())
    assert told == [1, 2, 1, 0]


def test_the_streams_of_a_person_are_counted_while_they_are_open(hub: Hub) -> None:
    async def open_two() -> list[int]:
        streams = [live_stream.changes(7, n=5, seen=5, reader=ADA) for _ in range(2)]
        counted = []
        for one in streams:
            await following(one)
            counted.append(live_stream.open_of(ADA.person))
        for one in streams:
            await one.aclose()
            counted.append(live_stream.open_of(ADA.person))
        return counted

    assert asyncio.run(open_two()) == [1, 2, 1, 0]


def test_a_person_who_has_many_gets_no_more_and_others_do(
    incident: Incident, ada: Person, ben: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_stream, "let_go", lambda: None)
    monkeypatch.setattr(live_stream, "open_of", {ada.pk: live_stream.A_PERSON, ben.pk: live_stream.A_PERSON - 1}.get)
    refused, given = (browse(person).get(f"/incidents/{incident.codename}/stream?n=0") for person in (ada, ben))
    assert (refused.status_code, refused["Retry-After"]) == (429, "60")
    assert given.status_code == 200
