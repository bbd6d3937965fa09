"""A migration that has to change a table which another session holds: no one waits behind it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
import pytest
from psycopg import sql

from config import env
from config.tests.test_env import GIVEN
from incidents.outages import database_watch

NAME: Final = "odd_migrating"
UNDONE: Final = """
    ALTER TABLE incidents_person DROP COLUMN is_unlisted;
    DELETE FROM django_migrations WHERE app = 'incidents' AND name = '0027_unlisted'
"""
READ: Final = "SELECT FROM incidents_person LIMIT 1"


@pytest.fixture
def behind(django_db_setup: None) -> Iterator[str]:
    """Yield the URL of a database that lacks a column."""
    asked = database_watch.address()
    name = sql.Identifier(NAME)
    with psycopg.connect(**(asked | {"dbname": "postgres"}), autocommit=True) as server:
        server.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(name, sql.Identifier(os.environ["FIREKIND_TEST_TEMPLATE"]))
        )
        url = f"postgresql://{asked['user']}@/{NAME}?host={asked['host']}"
        with psycopg.connect(url) as made:
            made.execute(UNDONE)
        yield url
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


@pytest.mark.slow
def test_nobody_waits_behind_a_migration_that_waits_for_somebody(behind: str, tmp_path: Path) -> None:
    given = {**os.environ, **dict.fromkeys(env.NAMES, ""), **GIVEN, "DATABASE_URL": behind}
    given |= {"FIREKIND_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    argv = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    hurried = f"-c lock_timeout={round((database_watch.IN_A_HURRY.lock_s or 0) * 1000)}"
    with (
        psycopg.connect(behind, application_name="a backup") as holder,
        psycopg.connect(behind, autocommit=True, options=hurried) as door,
        subprocess.Popen(argv, env=given, cwd=env.ROOT, stderr=subprocess.PIPE, text=True) as migrating,
    ):
        holder.execute(READ)
        assert migrating.stderr is not None
        said = migrating.stderr.readline()
        assert f"({holder.info.backend_pid}, a backup)" in said
        for _ in range(8):
            door.execute("SELECT FROM pg_sleep(0.2)")
            door.execute(READ)
        assert migrating.poll() is None
        holder.rollback()
        assert migrating.wait(60) == 0, migrating.stderr.read()
        door.execute("SELECT is_unlisted FROM incidents_person")
