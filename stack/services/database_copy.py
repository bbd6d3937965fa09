"""Copy a database and restore it, with the programs and in the order that docs/operations.md names."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from subprocess import PIPE, STDOUT, run
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from stack.errors import StackError
from stack.services import postgres


def keep(url: str, into: Path) -> None:
    """Copy a database into a file, as of one moment, while everything keeps working on it."""
    do("pg_dump", "--format=custom", f"--file={into}", f"--dbname={url}")


def put_back(url: str, kept: Path) -> None:
    """Restore a copy over a database that no process uses, with the application's rights."""
    name = urlsplit(url).path.removeprefix("/")
    with closing(psycopg.connect(url.replace(f"/{name}?", "/postgres?", 1), autocommit=True)) as server:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    do("pg_restore", "--exit-on-error", "--no-owner", f"--dbname={url}", str(kept))
    postgres.grant(url)


def do(program: str, *words: str) -> None:
    """Run one of PostgreSQL's programs. Raises StackError with the end of its output."""
    done = run([postgres.PROGRAMS / program, *words], check=False, stdout=PIPE, stderr=STDOUT, text=True)
    if done.returncode:
        raise StackError(f"{program} failed: {done.stdout.strip()[-500:]}")
