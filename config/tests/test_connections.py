"""Connections that send too much, too slowly or nothing are ended, and no one else notices."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psutil
import pytest
import uvicorn

from config.http import connections
from config.http.connections import HEAD_BYTES, Connection

LIMIT = 40
LONG = 1 << 24
PATIENCE_S = 30


async def program(scope: Any, receive: Any, send: Any) -> None:
    """Read a whole request and answer it; at /long, with more than any buffer holds."""
    while scope["method"] == "POST" and (await receive()).get("more_body"):
        pass
    body = b"x" * LONG if scope["path"] == "/long" else b"ok"
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def port() -> Iterator[int]:
    """Run a server with our connections."""
    options: Any = {"http": Connection, "limit_concurrency": LIMIT, "lifespan": "off", "log_level": "critical"}
    server = uvicorn.Server(uvicorn.Config(program, port=0, access_log=False, ws="none", **options))
    with closing(socket.socket()) as door:
        door.bind(("127.0.0.1", 0))
        door.listen(256)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[door])))
        thread.start()
        try:
            yield door.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten all time limits."""
    monkeypatch.setattr(connections, "HEAD_S", 0.2)
    monkeypatch.setattr(connections, "UNREAD_S", 0.2)


def connected(port: int) -> socket.socket:
    """Connect."""
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)


def heard(line: socket.socket) -> bytes:
    """Return everything that arrives until the other side closes the connection."""
    said = b""
    try:
        while more := line.recv(1 << 16):
            said += more
    except ConnectionError:
        pass
    return said


def asked(port: int) -> bytes:
    """Send an ordinary request, and return the first line of the answer."""
    with closing(connected(port)) as line:
        line.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        return heard(line).partition(b"\r\n")[0]


def poured(line: socket.socket, begin: bytes, more: bytes, *, most: int) -> int:
    """Send until it is refused, and return how much that was."""
    sent = len(begin)
    try:
        line.sendall(begin)
        while sent < most:
            line.sendall(more)
            sent += len(more)
    except ConnectionError:
        pass
    return sent


START = b"GET / HTTP/1.1\r\nhost: x\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
ENDLESS = {
    "an address": (b"GET /", b"a" * 1000),
    "a header's name": (START, b"a" * 1000),
    "a header's value": (START + b"x: ", b"a" * 1000),
    "many headers": (START, b"a: b\r\n" * 100),
    "empty lines": (b"", b"\r\n" * 500),
    "a chunk's extension": (CHUNKED + b"1;", b"a" * 1000),
    "a trailer": (CHUNKED + b"0\r\nx: ", b"a" * 1000),
    "many trailers": (CHUNKED + b"0\r\n", b"a: b\r\n" * 100),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_what_never_ends_is_refused_at_64_kib_and_takes_no_memory(port: int, what: str) -> None:
    begin, more = ENDLESS[what]
    us = psutil.Process()
    before = us.memory_info().rss
    with closing(connected(port)) as line:
        poured(line, begin, more, most=64 << 20)
        said = heard(line)
    assert said == b"" or said.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400")), "a reset may overtake the answer"
    assert us.memory_info().rss - before < 16 << 20
    assert asked(port) == b"HTTP/1.1 200 OK"


def test_headers_that_come_at_once_are_measured_too(port: int) -> None:
    with closing(connected(port)) as line:
        line.sendall(START + b"x: " + b"a" * (HEAD_BYTES + 1) + b"\r\n\r\n")
        assert heard(line).startswith(b"HTTP/1.1 431")


def test_headers_as_large_as_they_may_be_are_taken(port: int) -> None:
    with closing(connected(port)) as line:
        line.sendall(START + b"x: " + b"a" * (HEAD_BYTES - 1000) + b"\r\nconnection: close\r\n\r\n")
        assert heard(line).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("begin", [b"", b"GET / HT", START, START + b"x: "])
@pytest.mark.usefixtures("hurried")
def test_a_request_that_does_not_come_is_not_waited_for(port: int, begin: bytes) -> None:
    with closing(connected(port)) as line:
        line.sendall(begin)
        said = heard(line)
    assert said.startswith(b"HTTP/1.1 408") if begin else said == b""


@pytest.mark.usefixtures("hurried")
def test_a_header_that_trickles_is_not_waited_for_either(port: int) -> None:
    with closing(connected(port)) as line:
        line.sendall(START + b"x: ")
        until = time.monotonic() + PATIENCE_S
        try:
            while time.monotonic() < until:
                line.sendall(b"a")
                time.sleep(0.01)
        except ConnectionError:
            return
    raise AssertionError("it was listened to for ever")


def test_the_next_request_on_a_connection_has_a_time_of_its_own(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(connected(port)) as line:
        for _ in range(3):
            line.sendall(START + b"\r\n")
            said = b""
            while not said.endswith(b"ok"):
                said += line.recv(1 << 16)
            assert said.startswith(b"HTTP/1.1 200")
        monkeypatch.setattr(connections, "HEAD_S", 0.2)
        line.sendall(b"GET /")
        assert heard(line).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("begin", [b"", START], ids=["idle", "halfway"])
def test_more_connections_than_there_is_room_for_keep_nobody_out(port: int, begin: bytes) -> None:
    lines = [connected(port) for _ in range(3 * LIMIT)]
    try:
        for line in lines:
            try:
                line.sendall(begin)
            except ConnectionError:
                continue
        assert {asked(port) for _ in range(10)} == {b"HTTP/1.1 200 OK"}
        assert len(psutil.Process().net_connections("tcp")) < 6 * LIMIT
    finally:
        for line in lines:
            line.close()


@pytest.mark.usefixtures("hurried")
def test_a_reader_who_reads_nothing_is_hung_up_on(port: int) -> None:
    with closing(connected(port)) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
        line.sendall(b"GET /long HTTP/1.1\r\nhost: x\r\n\r\n")
        assert line.recv(1)
        until = time.monotonic() + PATIENCE_S
        while _established(port) and time.monotonic() < until:
            time.sleep(0.05)
        assert not _established(port)


def test_a_slow_reader_who_reads_all_the_while_gets_everything(port: int) -> None:
    with closing(connected(port)) as line:
        line.sendall(b"GET /long HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        got, since = 0, time.monotonic()
        while more := line.recv(1 << 20):
            got += len(more)
            if time.monotonic() - since < 1.0:
                time.sleep(0.05)
    assert got > LONG


def _established(port: int) -> bool:
    """Return whether the server still holds a connection of ours."""
    ours = psutil.Process(os.getpid()).net_connections("tcp")
    return any(one.laddr.port == port and one.raddr for one in ours)
