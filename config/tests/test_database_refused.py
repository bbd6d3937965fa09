"""If the database cannot be used, every start ends in one sentence with the reason and the fix, and no password."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from psycopg import sql

from config import database, env
from config.doctor import own_database, server_fitness
from config.tests.test_env import GIVEN
from incidents.outages import database_watch
from stack.processes.guard import Guard
from stack.services import pgbouncer, services

SECRET: Final = "s3cr3t"
REFUSED: Final = {
    "nobody listens": f"postgresql://someone:{SECRET}@127.0.0.1:1/firekind",
    "no such host": f"postgresql://someone:{SECRET}@nohost.invalid/firekind",
    "no such socket": f"postgresql://someone:{SECRET}@/firekind?host=/nowhere",
    "an @ in the password": f"postgresql://someone:{SECRET}@x@127.0.0.1:1/firekind",
    "a % in the password": f"postgresql://someone:{SECRET}%x@127.0.0.1:1/firekind",
    "all of it encoded": f"postgresql://someone:{quote(SECRET + '@/?#%', safe='')}@127.0.0.1:1/firekind",
    "several servers": f"postgresql://someone:{SECRET}@/firekind?host=127.0.0.1,127.0.0.1&port=1,2",
    "an option of no such value": f"postgresql://someone:{SECRET}@127.0.0.1:1/firekind?sslmode=yes",
}
GRANTS: Final = (env.ROOT / "audit" / "grants.sql").read_text()
STARTS: Final = (
    ["manage.py", "incident", "list"],
    ["manage.py", "migrate"],
    ["-m", "stack", "prepare"],
    ["-m", "stack", "run"],
)


@pytest.mark.parametrize("how", REFUSED)
def test_why_a_database_cannot_be_used_is_said_without_its_password(how: str) -> None:
    says = database.refusal(REFUSED[how])
    assert says
    assert "\n" not in says
    assert SECRET not in says


def ended(argv: Sequence[str], url: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Start something with a database, and return how it ended."""
    given = {**os.environ, **dict.fromkeys(env.NAMES, ""), **GIVEN, "DATABASE_URL": url}
    given |= {"FIREKIND_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings"}
    return subprocess.run(
        [sys.executable, *argv], env=given, cwd=env.ROOT, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.slow
@pytest.mark.parametrize("argv", STARTS, ids=" ".join)
def test_whatever_is_started_ends_with_one_sentence(argv: Sequence[str], tmp_path: Path) -> None:
    done = ended(argv, REFUSED["a % in the password"], tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("firekind: The database of DATABASE_URL cannot be used: ")
    assert done.stderr.endswith("Start it, or correct DATABASE_URL.\n")
    assert done.stderr.count("\n") == 1
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.django_db
@pytest.mark.parametrize("direct", [False, True])
def test_the_doctor_names_the_setting_and_the_reason(direct: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    url = REFUSED["a % in the password"]
    if direct:
        monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, database_direct_url=url))
    else:
        monkeypatch.setattr(database_watch, "address", lambda: database.keywords(url))
    (says,) = [one.says for one in own_database.findings() if "127.0.0.1" in one.says]
    assert ("DATABASE_DIRECT_URL" in says) == direct
    assert "refused" in says
    assert SECRET not in says


@pytest.mark.django_db
def test_nobody_is_told_to_start_a_server_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """It refuses for a reason of its own: too many connections, a full disk, no such database, another password."""
    lets_us_in = database_watch.address()
    monkeypatch.setattr(database_watch, "address", lambda: lets_us_in | {"dbname": "nothere"})
    (says,) = [one.says for one in own_database.findings()]
    assert "does not exist" in says
    assert "running" in says
    assert "Start it" not in says


@pytest.fixture
def made(django_db_setup: None) -> Iterator[psycopg.Connection[object]]:
    """Return the tests' server, where databases and roles named `odd…` are created, and removed afterwards."""
    with psycopg.connect(**(database_watch.address() | {"dbname": "postgres"}), autocommit=True) as server:
        yield server
        for (name,) in server.execute("SELECT datname FROM pg_database WHERE datname LIKE 'odd%'").fetchall():
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
        server.execute("DROP ROLE IF EXISTS odd_role")


def url_of(name: str, *, role: str = "") -> str:
    asked = database_watch.address()
    return f"postgresql://{role or asked['user']}@/{name}?host={asked['host']}"


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_cannot_hold_all_words_is_left_as_it_is(
    encoding: str, made: psycopg.Connection[object], tmp_path: Path
) -> None:
    made.execute(f"CREATE DATABASE odd ENCODING '{encoding}' LOCALE 'C' LOCALE_PROVIDER libc TEMPLATE template0")
    done = ended(["-m", "stack", "prepare"], url_of("odd"), tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert f"keeps text as {encoding}" in done.stderr
    assert "DATABASE_URL" in done.stderr
    with psycopg.connect(url_of("odd")) as left:
        assert left.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace").fetchone() == (
            0,
        )


@pytest.mark.slow
def test_a_role_that_may_make_no_tables_is_named_with_what_it_takes(
    made: psycopg.Connection[object], tmp_path: Path
) -> None:
    made.execute("CREATE DATABASE odd")
    made.execute("CREATE ROLE odd_role LOGIN")
    done = ended(["-m", "stack", "prepare"], url_of("odd", role="odd_role"), tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "permission denied" in done.stderr
    assert "owner" in done.stderr


@pytest.mark.django_db
def test_a_role_without_the_grants_is_told_to_run_them() -> None:
    assert list(server_fitness.closed()) == []
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE odd_role")
        cursor.execute("SET ROLE odd_role")
        (says,) = server_fitness.closed()
        cursor.execute("RESET ROLE")
    assert "audit/grants.sql" in says


@pytest.mark.django_db
@pytest.mark.parametrize("lacks", ["SELECT", "INSERT", "UPDATE", "DELETE"])
def test_a_role_that_lacks_one_right_is_told(lacks: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE odd_role")
        cursor.execute(GRANTS.replace("firekind_app", "odd_role"))
        cursor.execute("SET ROLE odd_role")
        assert list(server_fitness.closed()) == []
        cursor.execute("RESET ROLE")
        cursor.execute(f"REVOKE {lacks} ON workflows_effect FROM odd_role")
        cursor.execute("SET ROLE odd_role")
        (says,) = server_fitness.closed()
        cursor.execute("RESET ROLE")
    assert "workflows_effect" in says
    assert "audit/grants.sql" in says


@pytest.mark.django_db
def test_a_member_of_the_owner_owns_the_tables() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE odd_owner")
        cursor.execute("CREATE ROLE odd_role IN ROLE odd_owner")
        cursor.execute("SET ROLE odd_role")
        assert own_database.role().level == "ok"
        cursor.execute("RESET ROLE")
        cursor.execute("ALTER TABLE audit_entry OWNER TO odd_owner")
        cursor.execute("SET ROLE odd_role")
        assert own_database.role().level == "warning"
        cursor.execute("RESET ROLE")


@pytest.mark.django_db
def test_times_that_cannot_be_read_are_named() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL datestyle = 'German'")
        (says,) = server_fitness.unfit()
    assert "datestyle" in says


@pytest.mark.slow
def test_tables_in_a_schema_of_their_own_are_looked_at_there(made: psycopg.Connection[object], tmp_path: Path) -> None:
    """There is no public schema; the role gets its grants first, and then its search_path."""
    made.execute("CREATE DATABASE odd")
    made.execute("CREATE ROLE odd_role LOGIN")
    made.execute("ALTER DATABASE odd SET search_path = fire")
    with psycopg.connect(url_of("odd"), autocommit=True) as owner:
        owner.execute("DROP SCHEMA public; CREATE SCHEMA fire")
        assert ended(["-m", "stack", "prepare"], url_of("odd"), tmp_path).returncode == 0
        owner.execute(GRANTS.replace("firekind_app", "odd_role").encode())
    role = url_of("odd", role="odd_role")
    looks = ended(["manage.py", "doctor"], role, tmp_path).stdout
    assert "ok       database   The database role odd_role owns nothing." in looks
    assert "wrong    database" not in looks
    made.execute("ALTER ROLE odd_role IN DATABASE odd SET search_path = public")
    looks = ended(["manage.py", "doctor"], role, tmp_path).stdout
    assert "The tables are in the schema fire, where the database role odd_role does not look" in looks


@pytest.mark.django_db
def test_a_server_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(server_fitness.unfit()) == []
    monkeypatch.setattr(server_fitness, "OLDEST", 99)
    (says,) = server_fitness.unfit()
    assert "99 or newer" in says


@pytest.mark.slow
@pytest.mark.skipif(pgbouncer.find() is None, reason="PgBouncer is not installed (apt-get install pgbouncer)")
def test_a_pooler_that_ends_transactions_is_named(made: object, tmp_path: Path) -> None:
    guard = Guard()
    with services.sockets(tmp_path) as sockets:
        server = Path(database_watch.address()["host"])
        pooler = pgbouncer.start(sockets / "pool", sockets=server, size=2, guard=guard, mode="statement")
        done = ended(["-m", "stack", "prepare"], pooler.url, tmp_path)
        pooler.server.stop()
    guard.close()
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "pool_mode" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(pgbouncer.find() is None, reason="PgBouncer is not installed (apt-get install pgbouncer)")
@pytest.mark.parametrize("direct", ["", REFUSED["nobody listens"]], ids=["server answers", "server does not"])
def test_a_pooler_that_lets_everyone_in_and_answers_nobody_is_named(
    direct: str, made: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of its connections to the server are in use, or it gets none; it keeps its clients waiting."""
    guard = Guard()
    with services.sockets(tmp_path) as sockets:
        server = Path(database_watch.address()["host"])
        pooler = pgbouncer.start(sockets / "pool", sockets=server, size=1, guard=guard)
        with psycopg.connect(pooler.url, prepare_threshold=None) as holding:
            holding.execute("SELECT 1")
            monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, database_direct_url=direct))
            monkeypatch.setattr(database_watch, "address", lambda: database.keywords(pooler.url))
            monkeypatch.setattr(database_watch, "wait_no_longer", lambda: None)
            found = [one.says for one in own_database.findings()]
        pooler.server.stop()
    guard.close()
    assert "pooler" in found[0]
    assert [one for one in found[1:] if "DATABASE_DIRECT_URL" in one and "refused" in one] == found[1:]
    assert len(found) == 1 + bool(direct)
