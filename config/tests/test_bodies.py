"""A body is taken in as far as its address takes it, and from whoever may send there; the rest is let pass by."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path

from config.http import request_body
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


urlpatterns = [path("api/v1/files", taken), path("page", taken)]


def _check(path: str, *, authorization: str, cookie: str) -> HttpResponse | None:
    return None if authorization == "Bearer good" else answers.unknown_token()


@pytest.fixture(autouse=True)
def _urls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    seen.clear()
    monkeypatch.setattr(gate, "check", _check)
    monkeypatch.setattr(request_body, "PATIENCE_S", 0.05)
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[]):
        yield


def sent(path: str, pieces: int, *, by: str = "good", announced: bool = True) -> tuple[int, bytes, int]:
    """Send pieces one by one; return status, answer, and how many were asked for."""

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
        scope = {**about, "scheme": "http", "method": "POST", "path": path, "raw_path": path.encode()}
        application: Any = Application()
        await application({**scope, "headers": headers}, receive, answer)
        return said[0]["status"], b"".join(one.get("body", b"") for one in said), asked

    return asyncio.run(send())


def test_a_large_file_is_taken_by_threads_that_no_page_waits_for() -> None:
    assert sent("/api/v1/files", 160)[:2] == (200, b"taken")
    assert seen == [("file_0", 160 * len(PIECE))]


@pytest.mark.parametrize("announced", [True, False])
def test_what_is_too_large_never_reaches_a_view(announced: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "most", lambda path: 10 * len(PIECE))
    status, said, _ = sent("/api/v1/files", 12, announced=announced)
    assert status == 413
    assert b"too_large" in said
    assert not seen


def test_a_page_takes_no_files() -> None:
    status, said, _ = sent("/page", (gate.ORDINARY >> 16) + 1)
    assert (status, said) == (413, b"The request is too large.\n")


def test_whoever_may_not_send_is_told_before_anything_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def kept(*_: object, **__: object) -> None:
        raise AssertionError("something was kept")

    monkeypatch.setattr(request_body, "read", kept)
    status, said, asked = sent("/api/v1/files", 8, by="bad")
    assert (status, asked) == (401, 8), "and may finish sending, so that the answer is read"
    assert b"unauthorized" in said


def test_a_sender_without_an_end_is_not_listened_to_for_long() -> None:
    assert sent("/api/v1/files", 1 << 30, by="bad")[0] == 401


def test_whoever_leaves_halfway_leaves_nothing() -> None:
    async def leave() -> bool:
        headers = [(b"authorization", b"Bearer good")]
        scope = {"type": "http", "method": "POST", "path": "/api/v1/files", "headers": headers}
        talk = Talk(Application(), scope)
        await talk.send_input({"type": "http.request", "body": PIECE, "more_body": True})
        await talk.send_input({"type": "http.disconnect"})
        await talk.wait(5)
        return bool(await talk.receive_nothing())

    assert asyncio.run(leave())
    assert not seen


def test_a_large_file_goes_to_disk_and_not_into_memory() -> None:
    pieces = 1_024  # 64 MiB
    tracemalloc.start()
    try:
        assert sent("/api/v1/files", pieces)[:2] == (200, b"taken")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert seen == [("file_0", pieces * len(PIECE))]
    assert most < 12 << 20
