"""A web process that stood still (paused, frozen, starved): what nobody waits for any more isn't done afterwards."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
import uvicorn
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path

from config.http.connections import Connection
from config.http.serving import Application
from stack.outside import until

PATIENCE_S = 30
done: list[str] = []


def act(request: HttpRequest, who: str) -> HttpResponse:
    done.append(who)
    return HttpResponse(b"done")


urlpatterns = [path(f"{door}act/<who>", act) for door in ("slack/", "pagerduty/", "")]


class Served:
    """A web process, whose event loop can be held as if it were stopped."""

    def __init__(self, door: socket.socket) -> None:
        options: Any = {"http": Connection, "lifespan": "off", "log_level": "critical", "access_log": False}
        self._server = uvicorn.Server(uvicorn.Config(Application(), port=0, ws="none", **options))
        self.port = door.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(door,))
        self._thread.start()
        until(lambda: self._server.started, what="it does not serve")

    def _run(self, door: socket.socket) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._server.serve(sockets=[door]))

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Hold the loop: meanwhile the system takes connections and keeps what they send."""
        stands, goes_on = threading.Event(), threading.Event()

        def hold() -> None:
            stands.set()
            goes_on.wait(PATIENCE_S)

        self._loop.call_soon_threadsafe(hold)
        assert stands.wait(PATIENCE_S)
        try:
            yield
        finally:
            goes_on.set()

    def send(self, path: str) -> socket.socket:
        """Send a form, and return the connection."""
        line = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        head = f"POST {path} HTTP/1.1\r\nhost: testserver\r\ncontent-length: 1\r\nconnection: close\r\n"
        line.sendall(f"{head}content-type: application/x-www-form-urlencoded\r\n\r\nx".encode())
        return line

    def end(self) -> None:
        """End it."""
        self._server.should_exit = True
        self._thread.join(PATIENCE_S)


@pytest.fixture
def served() -> Iterator[Served]:
    done.clear()
    with (
        override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=["django.middleware.common.CommonMiddleware"]),
        closing(socket.socket()) as door,
    ):
        door.bind(("127.0.0.1", 0))
        door.listen(256)
        made = Served(door)
        try:
            yield made
        finally:
            made.end()


def heard(line: socket.socket) -> bytes:
    """Return the first line of the answer."""
    with closing(line):
        return line.makefile("rb").readline()


@pytest.mark.parametrize("is_known", [True, False], ids=["on a connection taken before", "on a new connection"])
def test_a_command_whose_sender_left_while_the_process_stood_still_is_not_done(served: Served, is_known: bool) -> None:
    known = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S)
    heard(served.send("/slack/act/before"))  # by now the first connection is taken
    with closing(known), served.standing_still():
        if is_known:
            known.sendall(b"POST /slack/act/late HTTP/1.1\r\nhost: testserver\r\ncontent-length: 1\r\n\r\nx")
            known.close()
        else:
            served.send("/slack/act/late").close()
        waits = served.send("/slack/act/in-time")
    assert heard(waits).startswith(b"HTTP/1.1 200")
    assert heard(served.send("/slack/act/after")).startswith(b"HTTP/1.1 200")
    assert done == ["before", "in-time", "after"]


@pytest.mark.parametrize("door", ["/pagerduty", ""])
def test_what_is_sent_again_or_by_a_page_that_was_left_is_done(door: str, served: Served) -> None:
    """A browser lets a page send something as it is closed, and a webhook's sender may not look at the answer."""
    with served.standing_still():
        served.send(f"{door}/act/left").close()
    until(lambda: done == ["left"], what="it is not done")
