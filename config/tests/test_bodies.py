"""A body is read up to its address's limit and from permitted senders; the rest is discarded."""

from __future__ import annotations

import asyncio
import resource
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path

from config.http import arrivals, request_body, serving
from config.http.serving import Application
from integrations.api import answers, gate

Talk: Any = ApplicationCommunicator  # it comes without types
PIECE = b"x" * (1 << 16)
seen: list[tuple[str, int]] = []


def taken(request: HttpRequest) -> HttpResponse:
    size = 0
    while chunk := request.read(1 << 18):
        size += len(chunk)
    seen.append((threading.current_thread().name, size))
    return HttpResponse(b"taken")


FILES = "/api/v1/incidents/amber-otter/evidence"
urlpatterns = [path(FILES[1:], taken), path("page", taken), path("slack/events", taken), path("health", taken)]


def _check(path: str, *, authorization: str, cookie: str) -> HttpResponse | None:
    return None if authorization == "Bearer good" else answers.unknown_token()


@pytest.fixture(autouse=True)
def _urls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    seen.clear()
    monkeypatch.setattr(gate, "check", _check)
    monkeypatch.setattr(request_body, "PATIENCE_S", 0.05)
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[]):
        yield


def sent(
    path: str, pieces: int, *, by: str = "good", announced: bool = True, method: str = "POST"
) -> tuple[int, bytes, int]:
    """Send pieces one by one; return the status, the answer, and how many pieces were requested."""

    async def send() -> tuple[int, bytes, int]:
        asked = 0

        async def receive() -> dict[str, Any]:
            nonlocal asked
            asked += 1
            return {"type": "http.request", "body": PIECE, "more_body": asked < pieces}

        said: list[dict[str, Any]] = []

        async def answer(message: dict[str, Any]) -> None:
            said.append(message)

        headers = [(b"host", b"testserver"), (b"authorization", f"Bearer {by}".encode())]
        headers += [(b"content-length", str(pieces * len(PIECE)).encode())] if announced else []
        about = {"type": "http", "http_version": "1.1", "query_string": b"", "client": ("127.0.0.1", 1)}
        scope = {**about, "scheme": "http", "method": method, "path": path, "raw_path": path.encode()}
        application: Any = Application()
        await application({**scope, "headers": headers}, receive, answer)
        return said[0]["status"], b"".join(one.get("body", b"") for one in said), asked

    return asyncio.run(send())


def test_a_large_file_is_taken_by_threads_that_no_page_waits_for() -> None:
    assert sent(FILES, 160)[:2] == (200, b"taken")
    assert seen == [("file_0", 160 * len(PIECE))]


@pytest.mark.parametrize("announced", [True, False])
def test_what_is_too_large_never_reaches_a_view(announced: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "most", lambda path, method: 10 * len(PIECE))
    status, said, _ = sent(FILES, 12, announced=announced)
    assert status == 413
    assert b"too_large" in said
    assert not seen


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/page", "GET"),
        ("/page", "DELETE"),
        ("/health", "POST"),
        ("/static/firekind/mark.svg", "POST"),
        ("/nowhere", "POST"),
        (gate.DESCRIPTION, "POST"),
        (gate.DESCRIPTION, "GET"),
        ("/api/v1/incidents", "POST"),
        (FILES, "GET"),
        (FILES, "PUT"),
    ],
)
def test_what_takes_no_body_takes_none(
    path: str, method: str, announced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_body, "PATIENCE_BYTES", 0)
    status, said, asked = sent(path, 400, announced=announced, method=method)
    assert (status, b"takes no body" in said) == (413, True)
    assert asked <= 2
    assert not seen


def test_a_page_takes_no_files() -> None:
    status, said, _ = sent("/page", (gate.ORDINARY >> 16) + 1)
    assert (status, said) == (413, b"The request is too large.\n")


def test_whoever_may_not_send_is_told_before_anything_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def kept(*_: object, **__: object) -> None:
        raise AssertionError("something was kept")

    monkeypatch.setattr(request_body, "read", kept)
    status, said, asked = sent(FILES, 8, by="bad")
    assert (status, asked) == (401, 8), "and may finish sending, so that the answer is read"
    assert b"unauthorized" in said


def test_a_sender_without_an_end_is_not_listened_to_for_long() -> None:
    assert sent(FILES, 1 << 30, by="bad")[0] == 401


def test_whoever_leaves_halfway_leaves_nothing() -> None:
    async def leave() -> bool:
        headers = [(b"authorization", b"Bearer good")]
        scope = {"type": "http", "method": "POST", "path": FILES, "headers": headers}
        talk = Talk(Application(), scope)
        await talk.send_input({"type": "http.request", "body": PIECE, "more_body": True})
        await talk.send_input({"type": "http.disconnect"})
        await talk.wait(60)
        return bool(await talk.receive_nothing())

    assert asyncio.run(leave())
    assert not seen


def test_a_large_file_goes_to_disk_and_not_into_memory() -> None:
    pieces = 1_024  # 64 MiB
    tracemalloc.start()
    try:
        assert sent(FILES, pieces)[:2] == (200, b"taken")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert seen == [("file_0", pieces * len(PIECE))]
    assert most < 12 << 20


class Sender:
    """A client of an application that sends in pieces, when told to."""

    def __init__(self, application: Any, path: str = "/page", *, length: int = 1 << 20) -> None:
        headers = [(b"host", b"testserver"), (b"authorization", b"Bearer good")]
        headers.append((b"content-length", str(length).encode()))
        about = {"type": "http", "http_version": "1.1", "query_string": b"", "client": ("127.0.0.1", 1)}
        scope = {**about, "scheme": "http", "method": "POST", "path": path, "raw_path": path.encode()}
        self.talk = Talk(application, {**scope, "headers": headers})

    async def send(self, body: bytes = PIECE, *, more: bool = True) -> None:
        """Send a piece, and wait until it is received."""
        await self.talk.send_input({"type": "http.request", "body": body, "more_body": more})
        await asyncio.sleep(0)

    async def answer(self) -> tuple[int, dict[bytes, bytes]]:
        """Wait for the answer."""
        head = await self.talk.receive_output(10)
        return head["status"], dict(head["headers"])


@pytest.mark.parametrize("path", ["/page", FILES])
def test_a_body_for_which_the_disk_has_no_room_is_refused_in_words(path: str) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))  # no file can grow further, as on a full disk
    try:
        with override_settings(FILE_UPLOAD_MAX_MEMORY_SIZE=1 << 16):
            status, said, _ = sent(path, 64 if path == FILES else 16)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (status, b"full" in said) == ((503, True) if path == FILES else (200, False))
    assert sent(path, 1)[0] == 200


@pytest.mark.parametrize("path", ["/page", "/slack/events", FILES])
def test_a_body_that_stops_halfway_is_not_waited_for(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "PIECE_S", 0.05)

    async def stop() -> int:
        sender = Sender(Application(), path)
        await sender.send()
        return (await sender.answer())[0]

    assert asyncio.run(stop()) == 408
    assert not seen


def test_a_body_that_trickles_ends_however_regular_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "GRACE_S", 0.2)

    async def trickle() -> int:
        sender = Sender(Application())
        answer = asyncio.create_task(sender.answer())
        while not answer.done():
            await sender.send(b"x")
            await asyncio.sleep(0.01)
        return (await answer)[0]

    assert asyncio.run(trickle()) == 408


def test_who_sends_something_all_the_while_may_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "GRACE_S", 0.0)
    monkeypatch.setattr(arrivals, "SLOWEST", 1)

    async def slowly() -> int:
        sender = Sender(Application())
        for _ in range(3):
            await sender.send()
            await asyncio.sleep(0.02)
        await sender.send(more=False)
        return (await sender.answer())[0]

    assert asyncio.run(slowly()) == 200


@pytest.mark.parametrize("path", ["/page", "/slack/events"])
def test_however_many_send_slowly_others_are_served_at_once(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "BODIES_AT_ONCE", 4)

    async def crowd() -> tuple[int, dict[bytes, bytes], list[int]]:
        application: Any = Application()
        slow = [Sender(application, path) for _ in range(12)]
        for one in slow:
            await one.send()
        ended = [await one.answer() for one in slow[:8]]
        quick = Sender(application, path)
        await quick.send(more=False)
        status, _ = await quick.answer()
        return status, ended[0][1], [status for status, _ in ended]

    status, headers, ended = asyncio.run(crowd())
    assert status == 200
    assert set(ended) == {503}
    assert headers[b"retry-after"] == b"5"


def test_files_under_way_are_bounded_in_number_and_one_more_is_told_when_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving, "FILES_AT_ONCE", 2)

    async def crowd() -> list[int]:
        application: Any = Application()
        first, second, third, reader = (Sender(application, FILES) for _ in range(4))
        for one in (first, second, third):
            await one.send()
        refused = await third.answer()
        assert refused[1][b"retry-after"] == b"5"
        await first.send(more=False)
        await second.send(more=False)
        done = [(await one.answer())[0] for one in (first, second)]
        await reader.send(more=False)
        return [refused[0], *done, (await reader.answer())[0]]

    assert asyncio.run(crowd()) == [503, 200, 200, 200]


def test_what_is_held_of_all_bodies_together_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "BODIES_TOGETHER", 8 * len(PIECE))

    async def crowd() -> tuple[int, int]:
        application: Any = Application()
        slow = [Sender(application) for _ in range(4)]
        for one in slow:
            for _ in range(3):
                await one.send()
                await asyncio.sleep(0.01)
        held = application._arriving[""]._held
        ended = [await one.answer() for one in slow[:2]]
        assert {status for status, _ in ended} == {503}
        return held, application._arriving[""]._held

    held, after = asyncio.run(crowd())
    assert held <= 8 * len(PIECE)
    assert after <= held
