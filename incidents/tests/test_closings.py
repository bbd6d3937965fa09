"""The stream that says which of the incidents on a page have closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.live import closings, listening, live_stream, watching
from incidents.live.listening import Hub
from incidents.live.watching import Viewer
from incidents.models import Codename, Incident, Person
from incidents.tests.conftest import Open
from incidents.tests.hubs import told_by_the_test

SOON_S = 10
ADA = Viewer(1, "of-ada")
HELLO = ": hello\n\n"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    """Give streams a hub that only the test notifies."""
    return told_by_the_test(monkeypatch, closings)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Return the incidents that everyone sees; the test removes some."""
    may = {7, 8, 9}
    monkeypatch.setattr(watching, "allowed_of", lambda one, readers: readers if one in may else frozenset())
    monkeypatch.setattr(watching, "redacted_at", lambda of: {})
    return may


@pytest.fixture
def words(seen: set[int], monkeypatch: pytest.MonkeyPatch) -> dict[int, float]:
    """Return when something was last redacted, by incident; the test adds redactions."""
    last = {7: 100.0}
    monkeypatch.setattr(watching, "redacted_at", lambda of: {one: last[one] for one in of if one in last})
    return last


def closed(*places: int) -> str:
    return "".join(f"event: closed\ndata: {place}\n\n" for place in places)


async def following(stream: AsyncIterator[str]) -> str:
    return await asyncio.wait_for(anext(stream), SOON_S)


async def opened(shown: dict[int, int], *already: int) -> tuple[AsyncIterator[str], str]:
    """Open a stream, and return it with its first messages."""
    stream = closings.closings(shown, closed=already, reader=ADA)
    return stream, await following(stream) + await following(stream)


def test_it_says_what_is_closed_at_first_and_what_closes_and_ends_with_the_last(hub: Hub, seen: set[int]) -> None:
    async def listen() -> list[str]:
        stream, first = await opened({0: 7, 2: 8, 3: 7}, 1)
        seen.remove(7)
        hub.tell(7, 5)
        said = [first, await following(stream)]
        seen.remove(8)
        hub.tell(8, 3)
        return [*said, *[one async for one in stream]]

    assert asyncio.run(listen()) == [f"{HELLO}{closed(1)}{live_stream.HERE}", closed(0, 3), closed(2)]


def test_what_closed_before_it_listened_is_said(hub: Hub, seen: set[int]) -> None:
    seen.clear()

    async def listen() -> list[str]:
        return [one async for one in closings.closings({0: 7, 1: 8}, closed=(), reader=ADA)]

    assert asyncio.run(listen()) == [HELLO, closed(0, 1)]


def test_it_asks_about_what_it_heard_of_and_about_one_of_all_at_a_beat(
    hub: Hub, seen: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def answer(incident: int, readers: frozenset[Viewer]) -> frozenset[Viewer]:
        asked.append(incident)
        return readers if incident in seen else frozenset()

    async def listen() -> list[str]:
        stream, _ = await opened({0: 7, 1: 8, 2: 9})
        monkeypatch.setattr(watching, "allowed_of", answer)
        hub.tell(9, 1)
        await following(stream)
        hub.look()
        await following(stream)
        assert asked == [9, 7]
        seen.clear()
        hub.look()
        return [one async for one in stream]

    assert asyncio.run(listen()) == [closed(0, 1, 2)]


def test_what_may_have_been_missed_is_asked_about_and_others_are_not_listened_to(hub: Hub, seen: set[int]) -> None:
    async def listen() -> str:
        stream, _ = await opened({0: 7, 1: 8})
        seen.remove(8)
        hub.tell(99, 1)
        hub.resync()
        return await following(stream)

    assert asyncio.run(listen()) == closed(1)


def test_it_ends_without_a_word_when_nobody_can_say_who_may_see(
    hub: Hub, seen: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unanswered(*_: object, **__: object) -> bool:
        raise watching.Unanswered

    async def listen() -> list[str]:
        stream, _ = await opened({0: 7})
        monkeypatch.setattr(watching, "ask", unanswered)
        hub.tell(7, 2)
        return [one async for one in stream]

    assert asyncio.run(listen()) == []


def test_it_ends_by_itself_counts_as_a_stream_and_leaves_nothing_behind(
    hub: Hub, seen: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closings, "LASTS_S", 0.05)

    async def listen() -> list[str]:
        stream, _ = await opened({0: 7})
        assert live_stream.open_of(ADA.person) == 1
        return [one async for one in stream]

    assert asyncio.run(listen()) == []
    assert live_stream.open_of(ADA.person) == 0
    assert not hub._several


def test_several_are_heard_while_nobody_reads_one_incident(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "BEAT_S", 0.02)

    async def listen() -> set[int]:
        made = Hub()
        monkeypatch.setattr(made, "_listen", lambda: asyncio.sleep(SOON_S))
        with made.listening_to(frozenset({7})) as heard:
            found = await asyncio.wait_for(heard.get(), SOON_S)
        made.close()
        return found

    assert asyncio.run(listen()) == {listening.LOOK}


def test_a_hidden_and_an_absent_one_are_closed_alike_and_an_old_codename_is_not(
    incident: Incident, secret: Incident, ben: Person, eve: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_stream, "let_go", lambda: None)
    Codename.objects.create(name="former-name", incident=incident)
    asked = f"?of={secret.codename}&of=no-such&of={incident.codename}&of=former-name&now"
    assert browse(eve).get(f"/closings/stream{asked}").content.decode() == live_stream.HELLO + closed(0, 1)
    assert browse(ben).get(f"/closings/stream{asked}").content.decode() == live_stream.HELLO + closed(1)
    lifecycle.left(secret, person=ben, room=secret.room, at=timezone.now())
    assert browse(ben).get(f"/closings/stream{asked}").content.decode() == live_stream.HELLO + closed(0, 1)


def test_whoever_has_too_many_streams_is_still_told_when_asking(
    incident: Incident, eve: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_stream, "let_go", lambda: None)
    monkeypatch.setattr(live_stream, "open_of", lambda person: live_stream.A_PERSON)
    asked = f"/closings/stream?of={incident.codename}"
    assert browse(eve).get(asked).status_code == 429
    assert browse(eve).get(f"{asked}&now").status_code == 200


def gone(*places: int) -> str:
    return "".join(f"event: redacted\ndata: {place}\n\n" for place in places)


@pytest.mark.parametrize(("drawn", "said"), [(99.0, gone(0)), (100.0, live_stream.HERE)])
def test_what_was_redacted_since_the_page_was_drawn_is_said_once(
    hub: Hub, seen: set[int], words: dict[int, float], drawn: float, said: str
) -> None:
    async def listen() -> list[str]:
        stream = closings.closings({0: 7, 1: 8}, closed=(), reader=ADA, since=drawn)
        first = await following(stream) + await following(stream)
        told = []
        for one, at in ((7, 0.0), (8, 200.0), (8, 200.0), (7, 300.0)):
            words[one] = max(words.get(one, 0.0), at)
            hub.tell(one, 5)
            told.append(await following(stream))
        seen.remove(7)
        words[7] = 400.0
        hub.tell(7, 6)
        return [first, *told, await following(stream)]

    still = live_stream.HERE
    assert asyncio.run(listen()) == [HELLO + said, still, gone(1), still, gone(0), closed(0)]


def test_where_no_stream_can_be_had_it_is_told_as_well(
    incident: Incident, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_stream, "let_go", lambda: None)
    client, at = browse(ada), timezone.now()
    asked = f"/closings/stream?of={incident.codename}&now&age="
    note = lifecycle.note(incident, text="hunter2", by=ada, at=at)
    assert client.get(f"{asked}3600").content.decode() == live_stream.HELLO
    lifecycle.redact(incident, n=note.n, by=None, at=at - timedelta(minutes=1))
    assert client.get(f"{asked}30").content.decode() == live_stream.HELLO
    assert client.get(f"{asked}90").content.decode() == live_stream.HELLO + gone(0)
    for age in ("", "nan", "inf", "-1", "x", "1e999"):
        assert client.get(f"{asked}{age}").content.decode() == live_stream.HELLO
