"""PostgreSQL and Redis for one stack: those in the settings, else embedded ones."""

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import psutil

from stack.errors import StackError
from stack.processes.guard import Guard
from stack.processes.process import Process
from stack.services import pgbouncer, postgres, redis, server_user

# The shortest limit for a Unix socket's path is macOS's, 104 bytes; PostgreSQL adds a file name of 22.
LONGEST_SOCKET_FOLDER = 80
LEFTOVERS_S = 6


@contextmanager
def running(
    given: Mapping[str, str],
    *,
    data_dir: Path,
    guard: Guard,
    durable: bool = True,
    servers: dict[str, Process] | None = None,
    pool: int = 0,
) -> Iterator[dict[str, str]]:
    """Yield DATABASE_URL and REDIS_URL, with servers behind them for the length of the block.

    A given BROKER_URL takes the place of REDIS_URL. With a `pool` of that many connections, PgBouncer is in front of
    the embedded PostgreSQL, and DATABASE_DIRECT_URL bypasses it.

    The servers that were started are added to `servers`, for applying faults to them.
    """
    servers = {} if servers is None else servers
    urls = {name: given[name] for name in ("DATABASE_URL", "REDIS_URL") if name in given}
    if "BROKER_URL" in given:
        urls["REDIS_URL"] = given["BROKER_URL"]
    with ExitStack() as exits:
        if len(urls) < 2:
            folder = exits.enter_context(sockets(data_dir))
            if "DATABASE_URL" not in urls:
                servers["postgres"] = postgres.start(
                    data_dir / "postgres", sockets=folder, guard=guard, durable=durable
                )
                exits.callback(postgres.stop, servers["postgres"])
                postgres.ensure_database(folder)
                urls["DATABASE_URL"] = postgres.url(folder, role=postgres.APPLICATION)
                if pool:
                    urls |= exits.enter_context(_pooled(folder, pool, urls["DATABASE_URL"], servers, guard))
            if "REDIS_URL" not in urls:
                servers["redis"] = redis.start(folder, guard=guard)
                exits.callback(servers["redis"].stop)
                urls["REDIS_URL"] = redis.url(folder)
        yield urls


@contextmanager
def _pooled(
    sockets: Path, size: int, direct: str, servers: dict[str, Process], guard: Guard
) -> Iterator[dict[str, str]]:
    pooler = pgbouncer.start(sockets / "pool", sockets=sockets, size=size, guard=guard)
    servers["pgbouncer"] = pooler.server
    try:
        yield {"DATABASE_URL": pooler.url, "DATABASE_DIRECT_URL": direct}
    finally:
        pooler.server.stop()


@contextmanager
def sockets(data_dir: Path) -> Iterator[Path]:
    """Yield a folder for the servers' sockets that their user owns and can reach: next to the data, else elsewhere."""
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = data_dir.resolve() / "run"
    if len(os.fsencode(folder)) > LONGEST_SOCKET_FOLDER or not server_user.reaches(folder.parent):
        name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
        folder = server_user.public_folder() / f"firekind-{os.getuid()}-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    server_user.own(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def lock(data_dir: Path) -> Iterator[IO[str]]:
    """Keep a second stack out of the data folder. Raises StackError if there is one.

    The kernel releases the lock with the last process that holds it. The guard holds it too, for as long as it takes to
    end what a crashed stack left behind.
    """
    with _lock_file(data_dir) as file:
        if not _try_lock(file):
            raise StackError(
                f"Another Firekind is already using {data_dir.name}: stop it, or set FIREKIND_DATA_DIR to another "
                "folder."
            )
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield file


def wait_for_leftovers(data_dir: Path) -> None:
    """Wait, at most seconds, while the leftovers of a crashed stack are being ended: they hold ports."""
    deadline = time.monotonic() + LEFTOVERS_S
    with _lock_file(data_dir) as file:
        owner = file.read().strip()
        crashed = owner.isdigit() and not psutil.pid_exists(int(owner))
        while crashed and not _try_lock(file) and time.monotonic() < deadline:
            time.sleep(0.05)


def _lock_file(data_dir: Path) -> IO[str]:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (data_dir / "stack.lock").open("a+", encoding="ascii")
    except OSError as error:
        raise StackError(f"FIREKIND_DATA_DIR, {data_dir}, is not writable: {error.strerror}.") from None
    file.seek(0)
    return file


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
