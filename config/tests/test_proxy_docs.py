"""The lines in docs/proxy.md, in a real nginx and a real Caddy if this machine has them."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from config.http.connections import Connection
from config.tests.proxies import NAME, TEXT, block, certificate, listens, nginx
from stack.processes import ports

PATIENCE_S = 30


@dataclass
class Behind:
    """A program behind the proxy: what reached it, and where it listens."""

    port: int = 0
    seen: list[tuple[str, str, int]] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Record the client and the size of the body; at /stream, send one thing and then pause."""
        self.seen.append((scope["client"][0], scope["scheme"], 0))
        size, more = 0, True
        while more:
            message = await receive()
            size, more = size + len(message.get("body", b"")), message.get("more_body", False)
        self.seen[-1] = (scope["client"][0], scope["scheme"], size)
        streams = scope["path"] == "/stream"
        kind = [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no")] if streams else []
        await send({"type": "http.response.start", "status": 200, "headers": kind})
        await send({"type": "http.response.body", "body": b"data: first\n\n", "more_body": streams})
        if streams:
            await receive()
            self.left.set()


@pytest.fixture
def behind() -> Iterator[Behind]:
    """Run a program that trusts a proxy on this machine."""
    program = Behind()
    believing: Any = ProxyHeadersMiddleware(program, trusted_hosts="127.0.0.1")
    config = uvicorn.Config(believing, http=Connection, proxy_headers=False, log_level="critical", access_log=False)
    server = uvicorn.Server(config)
    with closing(socket.socket()) as door:
        door.bind((ports.LOOPBACK, 0))
        program.port = door.getsockname()[1]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
        thread.start()
        try:
            yield program
        finally:
            server.force_exit = server.should_exit = True
            thread.join(PATIENCE_S)


def _caddy(folder: Path, port: int, behind: int) -> list[str]:
    pem, key = certificate(folder)
    lines = block("caddy").replace(":8000", f":{behind}")
    if _is_old_caddy():
        lines = lines.replace("request_buffers 1MB", "buffer_requests\n        max_buffer_size 1MB")
    lines = lines.replace("{\n    servers", "{\n    admin off\n    auto_https disable_redirects\n    servers", 1)
    lines = lines.replace(f"{NAME} {{", f"https://{NAME}:{port} {{\n    bind 127.0.0.1\n    tls {pem} {key}")
    (folder / "Caddyfile").write_text(lines)
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


def _is_old_caddy() -> bool:
    """Return whether this Caddy predates the option for how much is buffered, like Debian 12's."""
    program = str(shutil.which("caddy", path=_path()))
    said = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", said)
    return found is not None and tuple(map(int, found.groups())) < (2, 6, 3)


PROXIES: dict[str, Callable[[Path, int, int], list[str]]] = {"nginx": nginx, "caddy": _caddy}


@pytest.fixture(params=list(PROXIES))
def proxy(request: pytest.FixtureRequest, behind: Behind, tmp_path: Path) -> Iterator[int]:
    """Run a real proxy with the document's lines; skip if there is none."""
    program = shutil.which(request.param, path=f"{_path()}:/usr/sbin:/sbin")
    if program is None:
        pytest.skip(f"{request.param} is not installed")
    with closing(socket.socket()) as free:
        free.bind((ports.LOOPBACK, 0))
        port = free.getsockname()[1]
    argv = PROXIES[request.param](tmp_path, port, behind.port)
    env = {"HOME": str(tmp_path), "PATH": _path()}
    running = subprocess.Popen([program, *argv[1:]], env=env, stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + PATIENCE_S
        while not listens(port):
            assert running.poll() is None, running.stderr and running.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.05)
        yield port
    finally:
        running.terminate()
        running.communicate(timeout=PATIENCE_S)


def test_it_says_who_came_and_how_and_nobody_else_can(proxy: int, behind: Behind) -> None:
    with closing(_connected(proxy)) as line:
        line.sendall(
            f"GET / HTTP/1.1\r\nHost: {NAME}\r\nX-Forwarded-For: 6.6.6.6\r\n"
            "X-Forwarded-Proto: http\r\nConnection: close\r\n\r\n".encode()
        )
        assert b" 200 " in line.recv(1 << 16)
    assert behind.seen == [("127.0.0.1", "https", 0)]


def test_a_body_is_handed_on_once_it_is_whole(proxy: int, behind: Behind) -> None:
    with closing(_connected(proxy)) as line:
        line.sendall(f"POST / HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 100000\r\n\r\n".encode() + b"x" * 50_000)
        time.sleep(0.5)
        assert not behind.seen
        line.sendall(b"x" * 50_000)
        assert b" 200 " in line.recv(1 << 16)
    assert behind.seen == [("127.0.0.1", "https", 100_000)]


def test_a_stream_is_heard_while_it_goes_on(proxy: int) -> None:
    with closing(_connected(proxy)) as line:
        line.sendall(f"GET /stream HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode())
        _hear_the_first(line)


def test_that_a_sender_has_hung_up_is_passed_on(proxy: int, behind: Behind) -> None:
    with closing(_connected(proxy)) as line:
        line.sendall(f"GET /stream HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode())
        _hear_the_first(line)
        assert not behind.left.is_set()
    assert behind.left.wait(PATIENCE_S)


def test_the_document_names_what_is_set_and_its_place() -> None:
    assert "FORWARDED_ALLOW_IPS" in TEXT
    for kind in PROXIES:
        assert "127.0.0.1:8000" in block(kind)


def _hear_the_first(line: ssl.SSLSocket) -> None:
    said = b""
    while b"data: first" not in said:
        more = line.recv(1 << 16)
        assert more, said
        said += more


def _path() -> str:
    return os.environ.get("PATH", "")


def _connected(port: int) -> ssl.SSLSocket:
    plain = socket.create_connection((ports.LOOPBACK, port), timeout=PATIENCE_S)
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE  # we made it
    return trusting.wrap_socket(plain, server_hostname=NAME)
