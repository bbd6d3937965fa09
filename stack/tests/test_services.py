"""The embedded services: found again, repaired after a crash, never two on one folder."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from stack.errors import StackError
from stack.outside import until
from stack.processes.guard import Guard
from stack.processes.process import Process
from stack.services import postgres, services

pytestmark = pytest.mark.slow


@pytest.fixture
def guard() -> Iterator[Guard]:
    guard = Guard()
    yield guard
    guard.close()


def test_data_is_found_again(tmp_path: Path, guard: Guard) -> None:
    with (
        services.running({}, data_dir=tmp_path, guard=guard) as urls,
        psycopg.connect(postgres.owner_url(urls["DATABASE_URL"])) as first,
    ):
        first.execute("CREATE TABLE kept AS SELECT 1 AS n")

    with services.running({}, data_dir=tmp_path, guard=guard) as urls, psycopg.connect(urls["DATABASE_URL"]) as second:
        assert second.execute("SELECT n FROM kept").fetchone() == (1,)


def test_nothing_is_embedded_where_addresses_are_given(tmp_path: Path, guard: Guard) -> None:
    given = {"DATABASE_URL": "postgresql://elsewhere/firekind", "REDIS_URL": "redis://elsewhere"}

    with services.running(given, data_dir=tmp_path, guard=guard) as urls:
        assert urls == given
        assert list(tmp_path.iterdir()) == []


def test_a_server_that_outlived_its_stack_is_replaced(tmp_path: Path, guard: Guard) -> None:
    with services.sockets(tmp_path / "elsewhere") as sockets:
        left = postgres.start(tmp_path / "postgres", sockets=sockets, guard=guard)

        with services.running({}, data_dir=tmp_path, guard=guard) as urls:
            assert not left.alive
            psycopg.connect(urls["DATABASE_URL"]).close()
        left.kill9()


def test_a_pid_file_left_by_a_crash_is_no_obstacle(tmp_path: Path, guard: Guard) -> None:
    """Its pid may have been reused; here it is that of this very process."""
    with services.running({}, data_dir=tmp_path, guard=guard):
        pid_file = tmp_path / "postgres" / "postmaster.pid"
        lines = pid_file.read_text().splitlines()
    pid_file.write_text("\n".join([str(psutil.Process().pid), *lines[1:]]) + "\n")

    with services.running({}, data_dir=tmp_path, guard=guard) as urls:
        psycopg.connect(urls["DATABASE_URL"]).close()


def test_a_start_that_was_cut_short_is_begun_again(tmp_path: Path, guard: Guard) -> None:
    (tmp_path / "postgres" / "base").mkdir(parents=True)

    with services.running({}, data_dir=tmp_path, guard=guard) as urls:
        psycopg.connect(urls["DATABASE_URL"]).close()


def test_a_long_path_is_no_obstacle(tmp_path: Path, guard: Guard) -> None:
    folder = tmp_path / ("long-" * 30)

    with services.running({}, data_dir=folder, guard=guard) as urls:
        psycopg.connect(urls["DATABASE_URL"]).close()
        assert str(folder) not in urls["REDIS_URL"]


def test_one_folder_serves_one_stack(tmp_path: Path) -> None:
    with (
        services.lock(tmp_path),
        pytest.raises(StackError, match="Another Firekind is already using"),
        services.lock(tmp_path),
    ):
        pass


def test_the_guard_ends_what_it_watches(guard: Guard) -> None:
    stays, goes = (Process(name, ["sleep", "60"], env={"PATH": "/usr/bin:/bin"}, guard=guard) for name in ("a", "b"))
    stays.start()
    goes.start()
    guard.forget(stays.pid)

    guard.close()

    assert goes.exit_code == -15
    assert stays.alive
    stays._running.kill()  # type: ignore[union-attr]  # it runs
    stays._running.wait()  # type: ignore[union-attr]  # it runs


def test_the_guard_outlives_a_killed_parent(tmp_path: Path) -> None:
    parent = """
import sys, time
from stack.processes.guard import Guard
from stack.processes.process import Process
child = Process("child", ["sleep", "60"], env={"PATH": "/usr/bin:/bin"}, guard=Guard())
child.start()
print(child.pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        child = psutil.Process(int(running.stdout.readline()))
        running.kill()

    until(lambda: not _lives(child), what="it still runs", timeout_s=120)


def _lives(process: psutil.Process) -> bool:
    """Return whether it runs; a zombie does not, however slow its new parent is to reap it."""
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
