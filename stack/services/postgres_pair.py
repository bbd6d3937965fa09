"""Two PostgreSQL servers: one follows the other synchronously, and takes over when told to."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT, run
from typing import Final

import psycopg

from stack.errors import StackError
from stack.processes.guard import Guard
from stack.processes.process import Process
from stack.services import postgres, server_user

FOLLOWS_S: Final = 30
# Commits are on both: without this, the last accepted requests could be lost with the first server.
SYNCHRONOUS: Final = ("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")


@dataclass(slots=True)
class ServerPair:
    """The first server, the replica, and the folders of their sockets."""

    first: Process
    second: Process
    sockets: tuple[Path, Path]

    @property
    def url(self) -> str:
        """A URL of both; the one that accepts writes is used."""
        hosts = ",".join(map(str, self.sockets))
        more = "port=5432,5432&target_session_attrs=read-write"
        return f"postgresql://{postgres.APPLICATION}@/firekind?host={hosts}&{more}"

    def fail_over(self) -> None:
        """Kill the first one as a crash would, and promote the replica."""
        self.first.kill9()
        with psycopg.connect(postgres.url(self.sockets[1], "postgres"), autocommit=True) as replica:
            if replica.execute("SELECT pg_promote(true, 60)").fetchone() != (True,):
                raise StackError("The replica could not be promoted.")

    def stop(self) -> None:
        """End both."""
        for server in (self.second, self.first):
            postgres.stop(server)


def start(folder: Path, *, sockets: Path, guard: Guard) -> ServerPair:
    """Start the server in `folder`/first, copy it while it runs, and make the copy follow it."""
    places = (sockets / "first", sockets / "second")
    for place in places:
        place.mkdir(mode=0o700)
        server_user.own(place)
    first = postgres.start(folder / "first", sockets=places[0], guard=guard)
    _copy(places[0], folder / "second")
    second = postgres.start(folder / "second", sockets=places[1], guard=guard)
    pair = ServerPair(first, second, places)
    _synchronise(pair)
    return pair


def _copy(sockets: Path, folder: Path) -> None:
    words = f"--pgdata={folder} --write-recovery-conf --checkpoint=fast --no-sync --wal-method=stream"
    source = f"--dbname=host={sockets} user={postgres.OWNER} application_name=replica"
    done = run([postgres.PROGRAMS / "pg_basebackup", *words.split(), source], check=False, stdout=PIPE, stderr=STDOUT)
    if done.returncode:
        raise StackError(f"The replica could not be made: {done.stdout.decode(errors='replace')[-500:]}")
    server_user.own(folder)


def _synchronise(pair: ServerPair) -> None:
    with psycopg.connect(postgres.url(pair.sockets[0], "postgres"), autocommit=True) as first:
        for words in SYNCHRONOUS:
            first.execute(words.encode())
        deadline = time.monotonic() + FOLLOWS_S
        following = "SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'"
        while not first.execute(following.encode()).rowcount:
            if time.monotonic() > deadline:
                raise StackError(f"The replica did not follow within {FOLLOWS_S} s: {pair.second.output[-500:]}")
            time.sleep(0.05)
