"""A database host that disappears without a word, while its address already leads to another one."""

from __future__ import annotations

import ctypes
import socket
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import psycopg
import pytest
from django.db import connection

from config import database
from incidents.outages import database_watch
from incidents.outages.breaker import Breaker
from incidents.outages.database_watch import Bounded, Patience

SO_ATTACH_FILTER: Final = 26  # Linux; Python does not name it
PATIENCE_S: Final = 60  # a busy machine; the system itself gives up after a quarter of an hour
RUNS: Final = "FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)' AND pid <> pg_backend_pid()"
pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux has both of these")


class Way:
    """A TCP port in front of the server's own socket, whose connections may lose every packet from now on."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = self._door.getsockname()[1]
        self._held: list[socket.socket] = []
        threading.Thread(target=self._take, daemon=True).start()

    def vanish(self) -> None:
        """Drop whatever arrives on existing connections, unacknowledged; new ones are taken."""
        nothing = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))  # "return 0": keep no byte
        drop_all = struct.pack("HL", 1, ctypes.addressof(nothing))
        for one in self._held:
            if one.family == socket.AF_INET:
                one.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, drop_all)

    def close(self) -> None:
        """End all connections."""
        for one in (self._door, *self._held):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _take(self) -> None:
        with suppress(OSError):
            while True:
                come, _ = self._door.accept()
                on = socket.socket(socket.AF_UNIX)
                on.connect(self._server)
                self._held += [come, on]
                for here, there in ((come, on), (on, come)):
                    threading.Thread(target=_pass_on, args=(here, there), daemon=True).start()


def _pass_on(here: socket.socket, there: socket.socket) -> None:
    with suppress(OSError):
        while piece := here.recv(1 << 16):
            there.sendall(piece)


@pytest.fixture
def way() -> Iterator[Way]:
    given = connection.get_connection_params()
    folder = given.get("host") or ""
    if not folder.startswith("/"):
        pytest.skip("this database has no socket of its own")
    with closing(Way(str(Path(folder) / f".s.PGSQL.{given.get('port') or 5432}"))) as made:
        yield made


@pytest.fixture
def lent(way: Way, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bounded]:
    """Return a connection made as from the settings."""
    monkeypatch.setattr(database_watch, "patience", Patience(silence_s=0.2, probe_s=30.0))
    monkeypatch.setattr(database_watch, "database", Breaker(probe_s=0.1))
    given = connection.get_connection_params()
    asked = database.keywords(f"postgresql://{given['user']}@127.0.0.1:{way.port}/{given['dbname']}")
    with closing(Bounded.connect(**asked, autocommit=True)) as made:
        yield made


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("when", ["before a statement", "during a statement"])
def test_a_statement_to_a_host_that_vanished_ends_although_another_host_answers(
    when: str, way: Way, lent: Bounded
) -> None:
    lent.execute("SELECT 1")
    if when == "before a statement":
        way.vanish()
    with ThreadPoolExecutor(1) as apart:
        asked = apart.submit(lent.execute, "SELECT FROM pg_sleep(600)")
        if when == "during a statement":
            _until_it_runs()
            way.vanish()
        try:
            with pytest.raises(psycopg.OperationalError) as raised:
                asked.result(PATIENCE_S)
        finally:
            way.close()
            _end_what_runs()
    assert database_watch.is_to_blame(raised.value)
    assert not database_watch.is_away(), "the other host answers"


def _until_it_runs() -> None:
    with psycopg.connect(**database_watch.address(), autocommit=True) as beside:
        for _ in range(PATIENCE_S * 10):
            if beside.execute(f"SELECT {RUNS}").rowcount:
                return
            threading.Event().wait(0.1)
    pytest.fail("the statement does not run")


def _end_what_runs() -> None:
    with psycopg.connect(**database_watch.address(), autocommit=True) as beside:
        beside.execute(f"SELECT pg_terminate_backend(pid) {RUNS}")
