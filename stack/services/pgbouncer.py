"""PgBouncer as Debian packages it, in transaction mode: one socket, behind which the server may change."""

import shutil
import signal
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import psycopg

from stack.errors import StackError
from stack.processes.guard import Guard
from stack.processes.process import Process
from stack.services import postgres, server_user

PATH: Final = "/usr/sbin:/usr/bin"
PORT: Final = 6432  # only part of the socket's name
START_S: Final = 10
CONFIG: Final = """\
[databases]
firekind = host={server} port=5432 dbname=firekind user={role}
[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 1000
server_connect_timeout = 2
server_login_retry = 0.5
log_connections = 0
log_disconnections = 0
"""


@dataclass(slots=True)
class Pooler:
    """A running PgBouncer and the folder of its socket."""

    server: Process
    folder: Path
    size: int

    @property
    def url(self) -> str:
        """The URL of Firekind's database behind it, as the application."""
        return f"postgresql://{postgres.APPLICATION}@/firekind?host={self.folder}&port={PORT}"

    def lead_to(self, sockets: Path) -> None:
        """Make it use another server from now on; its clients stay connected."""
        _configure(self.folder, sockets, self.size)
        self.server.ask_to_stop(signal.SIGHUP)


def find() -> Path | None:
    """Return the program, if it is installed."""
    found = shutil.which("pgbouncer", path=PATH)
    return Path(found) if found else None


def start(folder: Path, *, sockets: Path, size: int, guard: Guard, mode: str = "transaction") -> Pooler:
    """Start one with its socket in `folder`, in front of the server with its socket in `sockets`. Raises StackError."""
    program = find()
    if program is None:
        raise StackError("PgBouncer is not installed (Debian: apt-get install pgbouncer).")
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    _configure(folder, sockets, size, mode=mode)
    server_user.own(folder)
    starting = partial(server_user.start, folder=folder)
    argv: list[str | Path] = [program, "--quiet", folder / "pgbouncer.ini"]
    server = Process("pgbouncer", argv, env={"PATH": PATH, "LC_ALL": "C"}, guard=guard, starting=starting)
    server.start()
    pooler = Pooler(server, folder, size)
    _wait(pooler)
    return pooler


def _configure(folder: Path, sockets: Path, size: int, *, mode: str = "transaction") -> None:
    words = CONFIG.format(server=sockets, role=postgres.APPLICATION, port=PORT, folder=folder, size=size, mode=mode)
    (folder / "pgbouncer.ini").write_text(words, encoding="utf-8")


def _wait(pooler: Pooler) -> None:
    deadline = time.monotonic() + START_S
    while pooler.server.alive and time.monotonic() < deadline:
        try:
            psycopg.connect(pooler.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    said = pooler.server.output
    pooler.server.kill9()
    raise StackError(f"PgBouncer did not start: {said[-500:] or 'no output'}")
