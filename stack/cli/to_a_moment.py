"""`rehearse --moment`: restore a stack to a moment, from a copy of its server and the log archived since.

It does what docs/operations.md tells people to do. The evidence is newer than the moment, which is fine: its files are
named by content, and one that no row refers to is merely surplus.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg

from stack.cli import rehearsal
from stack.cli.rehearsal import WHO
from stack.errors import StackError
from stack.outside import waiting
from stack.processes.guard import Guard
from stack.processes.process import Process
from stack.services import database_copy, postgres, server_user, services
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import throwaway
from stack.terminal import paint, say

MOMENT: Final = "before-the-mistake"
# The server's user can only reach its own folder, so the archive is in there; in production it would be another
# machine.
ARCHIVE: Final = "archive"
ARCHIVING: Final = (
    "ALTER SYSTEM SET archive_mode = 'on'",
    f"ALTER SYSTEM SET archive_command = 'test ! -f {ARCHIVE}/%f && cp %p {ARCHIVE}/%f'",
)
RECOVERY: Final = f"""
restore_command = 'cp {ARCHIVE}/%f %p'
recovery_target_name = '{MOMENT}'
recovery_target_action = 'promote'
archive_mode = 'off'
"""


def main(*words: str) -> int:
    """Rehearse it, and print what was compared; 1 if something is missing, or is there although it came later."""
    if words != ("--moment",):
        raise StackError(f"{' '.join(words)!r} is not understood: only --moment may follow.")
    with tempfile.TemporaryDirectory(prefix="firekind-moment-") as name, closing(Guard()) as guard:
        place = Path(name)
        with _served(place, "first", guard) as (first, sockets):
            first.start("sandbox", "web", "worker", "evidence")
            api = rehearsal.token_of(first)
            names = rehearsal.fill(first, api)
            rehearsal.timed("copied the server", lambda: _copy(sockets, place / "second"))
            _say_more(first, names[0], "Said after the copy, before the moment")
            before = rehearsal.seen(first, names, api.token)
            head = first.manage("audit", "head").stdout.split()[-1]
            _mark(sockets)
            later = _go_on(first, names)
            _archived(sockets)
            shutil.copytree(rehearsal.evidence_of(first), place / "evidence")
        _turn_back(place)
        with _served(place, "second", guard) as (second, _):
            shutil.copytree(place / "evidence", rehearsal.evidence_of(second), dirs_exist_ok=True)
            second.start("sandbox")
            second.manage("restored")
            second.start("web")
            after = rehearsal.seen(second, names, api.token)
            audited = rehearsal.verified(second, head)
            came_later = second.manage("incident", "show", later, "--json", check=False)
    code = rehearsal.told(before, after, audited)
    is_gone = came_later.returncode != 0
    say(f"  {paint('gone', 'green') if is_gone else paint('there', 'red')} {later}, declared after the moment")
    return code if is_gone else 1


def _turn_back(place: Path) -> None:
    """Have the copy replay the archived log up to the moment."""
    shutil.copytree(place / "first" / ARCHIVE, place / "second" / ARCHIVE, dirs_exist_ok=True)
    with (place / "second" / "postgresql.auto.conf").open("a", encoding="utf-8") as settings:
        settings.write(RECOVERY)
    (place / "second" / "recovery.signal").touch()


@contextmanager
def _served(place: Path, name: str, guard: Guard) -> Iterator[tuple[Stack, Path]]:
    """Yield a stack on the server in a folder, without running processes yet, and the server's sockets."""
    with (
        _server(place, name, guard) as (url, sockets),
        throwaway(processes=(), env={"DATABASE_URL": url}, preloaded=False) as stack,
    ):
        yield stack, sockets


@contextmanager
def _server(place: Path, name: str, guard: Guard) -> Iterator[tuple[str, Path]]:
    """Run the server in a folder, created with archiving if it is new; yield the application's URL, and the sockets."""
    is_new = not (place / name).exists()
    with services.sockets(place / f"{name}-run") as sockets:
        server = postgres.start(place / name, sockets=sockets, guard=guard)
        if is_new:
            server = _archiving(server, place / name, sockets, guard)
            postgres.ensure_database(sockets)
        try:
            _promoted(sockets)
            yield postgres.url(sockets, role=postgres.APPLICATION), sockets
        finally:
            postgres.stop(server)


def _archiving(server: Process, folder: Path, sockets: Path, guard: Guard) -> Process:
    with _owner(sockets) as database:
        for words in ARCHIVING:
            database.execute(words.encode())
    postgres.stop(server)
    (folder / ARCHIVE).mkdir(mode=0o700)
    server_user.own(folder / ARCHIVE)
    return postgres.start(folder, sockets=sockets, guard=guard)


def _copy(sockets: Path, into: Path) -> None:
    """Copy the whole server while it runs."""
    words = f"--pgdata={into} --checkpoint=fast --no-sync --wal-method=none"
    database_copy.do("pg_basebackup", *words.split(), f"--dbname=host={sockets} user={postgres.OWNER}")


def _say_more(stack: Stack, name: str, text: str) -> None:
    stack.manage("incident", "update", name, text, "--by", WHO)
    rehearsal.settle(stack)


def _mark(sockets: Path) -> None:
    """Name this moment in the log, as a restore point."""
    with _owner(sockets) as database:
        database.execute("SELECT pg_create_restore_point(%s)", [MOMENT])


def _go_on(stack: Stack, names: list[str]) -> str:
    """Do what must not come back: an update, a retype, an incident; return the name of that."""
    _say_more(stack, names[0], "Said after the moment")
    stack.manage("incident", "retype", names[2], "security", "--by", WHO)
    told = stack.manage("incident", "declare", "declared too late", "--by", WHO, "--json")
    rehearsal.settle(stack)
    return str(json.loads(told.stdout)["codename"])


def _archived(sockets: Path) -> None:
    """Wait until the log up to here is in the archive."""
    with _owner(sockets) as database:
        (file,) = database.execute("SELECT pg_walfile_name(pg_current_wal_lsn())").fetchone() or ("",)
        database.execute("SELECT pg_switch_wal()")
        done = "SELECT last_archived_wal >= %s FROM pg_stat_archiver"
        waiting.until(lambda: (database.execute(done, [file]).fetchone() or [0])[0], what="the archive", timeout_s=60)


def _promoted(sockets: Path) -> None:
    """Wait until the server accepts writes: until then it replays its log."""
    with _owner(sockets) as database:
        done = "SELECT NOT pg_is_in_recovery()"
        waiting.until(lambda: (database.execute(done).fetchone() or [0])[0], what="the end of recovery", timeout_s=60)


def _owner(sockets: Path) -> psycopg.Connection[Any]:
    return psycopg.connect(postgres.url(sockets, "postgres"), autocommit=True)
