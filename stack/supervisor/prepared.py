"""A prepared database cluster, made once for these migrations and types, and copied from then on.

It holds the database of a stack and, for tests that bring their own rows, one with tables only.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

from config.env import ROOT
from stack.errors import StackError
from stack.processes.guard import Guard
from stack.services import postgres, server_user, services
from stack.supervisor import surroundings

KEPT: Final = ROOT / ".data" / "prepared"
STACKS, TABLES = "firekind", "firekind_tables"
# The sources of a migrated database with the shipped types.
SOURCES: Final = ("*/migrations/*.py", "*/*/migrations/*.py", "fixtures/incident_types.yaml", "requirements/*.txt")
CODE: Final = (
    "stack/supervisor/prepared.py",
    "stack/services/postgres.py",
    "stack/services/server_user.py",
    "audit/grants.sql",
    "incidents/policies/types.py",
    "incidents/policies/policy_file.py",
)


@contextmanager
def running(given: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield a database and a broker for tests, gone with the block, and the template for each test database."""
    folder = Path(tempfile.mkdtemp(prefix="firekind-test-"))
    guard = Guard()
    try:
        copied = {} if "DATABASE_URL" in given else {"FIREKIND_TEST_TEMPLATE": TABLES}
        if copied:
            lay(folder / "postgres", guard=guard)
        with services.running(given, data_dir=folder, guard=guard, durable=False) as urls:
            # As the owner: tests create databases, and modify tables behind their triggers.
            yield urls | copied | {"DATABASE_URL": postgres.owner_url(urls["DATABASE_URL"])}
    finally:
        guard.close()
        shutil.rmtree(folder, ignore_errors=True)


def lay(folder: Path, *, guard: Guard) -> None:
    """Put a copy of the cluster where a server will run."""
    with _locked():
        kept = KEPT / _key()
        if not kept.exists():
            for old in KEPT.iterdir():
                if old.is_dir():
                    shutil.rmtree(old, ignore_errors=True)
            _make(kept, guard=guard)
        folder.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", kept, folder], check=True)


def _make(kept: Path, *, guard: Guard) -> None:
    """Start a server on a new cluster, bring its databases up to date, and keep its files."""
    with tempfile.TemporaryDirectory(prefix="firekind-") as name:
        sockets, folder = Path(name) / "run", Path(name) / "cluster"
        sockets.mkdir(mode=0o700)
        Path(name).chmod(0o755)
        server_user.own(sockets)
        server = postgres.start(folder, sockets=sockets, guard=guard, durable=False)
        try:
            postgres.ensure_database(sockets, TABLES)
            _manage("migrate", name=TABLES, sockets=sockets)
            with psycopg.connect(postgres.url(sockets, "postgres"), autocommit=True) as admin:
                words = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
                admin.execute(words.format(sql.Identifier(STACKS), sql.Identifier(TABLES)))
            _manage("load_types", name=STACKS, sockets=sockets)
            postgres.grant(postgres.url(sockets, STACKS))
        finally:
            postgres.stop(server)
        shutil.rmtree(folder / "pg_stat_tmp", ignore_errors=True)
        part = kept.with_name("part")
        subprocess.run(["cp", "-a", folder, part], check=True)
        part.rename(kept)


def _manage(*words: str, name: str, sockets: Path) -> None:
    env = surroundings.blank() | surroundings.with_sandbox(data_dir=sockets.parent, port=1)
    env |= {"DATABASE_URL": postgres.url(sockets, name), "REDIS_URL": "redis://127.0.0.1:1/0"}
    argv = [sys.executable, str(ROOT / "manage.py"), *words, "--verbosity", "0"]
    done = subprocess.run(
        argv, env=env, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise StackError(f"The database could not be made ready: {done.stderr.strip()}")


def _key() -> str:
    """Return a name derived from what the cluster depends on."""
    digest = hashlib.sha256(f"{os.geteuid()} {postgres.PROGRAMS}".encode())
    for path in sorted({path for one in (*SOURCES, *CODE) for path in ROOT.glob(one)}):
        if ".venv" not in path.parts:
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:20]


@contextmanager
def _locked() -> Iterator[None]:
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("a", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
