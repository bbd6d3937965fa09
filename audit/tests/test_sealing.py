"""Sealing covers every row once, in whatever order rows appear, and makes no link if nothing is new."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

import audit
from audit import tasks
from audit.models import Entry, Seal
from audit.sealed import chain, sealing, verifying
from audit.sealed.rows import KEPT

# Transaction ids belong to the whole server: an open transaction in another database is waited for too, and tests
# running in parallel have some. So only those of this database count here.
XMIN = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
OUR_XMIN = (
    "coalesce((SELECT min(backend_xid::text::bigint) FROM pg_stat_activity WHERE datname = current_database()), "
    "pg_snapshot_xmax(pg_current_snapshot())::text::bigint)"
)


@pytest.fixture
def now() -> datetime:
    """Return the current time."""
    return timezone.now()


def sealed(name: str = "entries") -> list[int]:
    """Return the ids that seals cover, in the order of the seals."""
    return [id for one in Seal.objects.order_by("n") for id, _ in one.marked(name)]


def noted(count: int) -> list[int]:
    """Write this many entries and return their numbers."""
    for _ in range(count):
        audit.note("sign-in", by=7, by_name="Ada")
    return list(Entry.objects.order_by("n").values_list("n", flat=True))


@pytest.mark.django_db
def test_a_seal_covers_what_is_new_and_follows_the_one_before(now: datetime) -> None:
    first = noted(3)
    assert sealing.seal(at=now) == 3
    every = noted(2)
    assert sealing.seal(at=now) == 2
    one, two = Seal.objects.order_by("n")
    assert (one.n, one.previous, two.n, two.previous) == (1, chain.BEFORE_ALL, 2, one.hash)
    assert [id for id, _ in one.marked("entries")] == first
    assert sealed() == every


@pytest.mark.django_db
def test_nothing_new_makes_no_seal_and_costs_a_few_questions(now: datetime) -> None:
    noted(3)
    sealing.seal(at=now)
    with CaptureQueriesContext(connection) as asked:
        assert sealing.seal(at=now) == 0
    assert Seal.objects.count() == 1
    assert len([one for one in asked if "SAVEPOINT" not in one["sql"]]) <= 2 + len(KEPT)


@pytest.mark.django_db
def test_more_than_one_seal_holds_goes_into_several(now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "BATCH", 4)
    every = noted(11)
    assert sealing.seal(at=now) == 11
    assert [one.rows for one in Seal.objects.order_by("n")] == [4, 4, 3]
    assert sealed() == every
    verifying.verify(at=now)


@pytest.mark.django_db
def test_one_go_is_bounded_and_the_next_goes_on(now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "BATCH", 2)
    monkeypatch.setattr(sealing, "LINKS", 2)
    every = noted(7)
    assert [sealing.seal(at=now) for _ in range(3)] == [4, 3, 0]
    assert sealed() == every


class Writer:
    """Writes on a connection of its own that has not committed yet."""

    def __init__(self) -> None:
        values = connection.get_connection_params()
        given = {name: values[name] for name in ("dbname", "user", "password", "host", "port") if values.get(name)}
        self.connection = psycopg.connect(**given)

    def note(self) -> int:
        """Write an entry and return its number."""
        row = self.connection.execute(
            "INSERT INTO audit_entry (at, kind, by_name, about, door, address, data)"
            " VALUES (now(), 'sign-in', '', '', 'web', '', '{}') RETURNING n"
        ).fetchone()
        assert row is not None
        return int(row[0])

    def end(self, *, commit: bool = True) -> None:
        """Commit, or roll back."""
        (self.connection.commit if commit else self.connection.rollback)()
        self.connection.close()


def test_a_row_that_appears_below_sealed_ones_is_sealed_once_however_late(
    erasable: None, transactional_db: None, now: datetime
) -> None:
    slow = Writer()
    late = slow.note()
    for _ in range(4):
        noted(2)
        sealing.seal(at=now)
    assert late not in sealed()
    slow.end()
    for _ in range(4):
        noted(2)
        sealing.seal(at=now)
    assert sorted(sealed()) == list(Entry.objects.order_by("n").values_list("n", flat=True))
    assert sealed().count(late) == 1
    verifying.verify(at=timezone.now())


@pytest.mark.parametrize("steps_s", [(60, 60, 0, 0), (0, 0, -60, -60), (60, 0, -60, -60), (-60, 0, 60, -60, 0, -60)])
def test_clocks_that_differ_among_those_who_seal_leave_no_row_out(
    erasable: None, transactional_db: None, monkeypatch: pytest.MonkeyPatch, steps_s: tuple[int, ...]
) -> None:
    """A link would look older or newer than those before it, with two hosts or when a host's clock is set."""
    monkeypatch.setattr(sealing, "_BEGIN", sealing._BEGIN.replace(XMIN, OUR_XMIN))
    true_now, off = timezone.now, timedelta(0)
    monkeypatch.setattr(timezone, "now", lambda: true_now() + off)
    noted(2)
    tasks.seal()
    slow = Writer()
    late = slow.note()
    for step_s in steps_s:
        noted(2)
        off = timedelta(seconds=step_s)
        tasks.seal()
    slow.end()
    off = timedelta(0)
    noted(1)
    tasks.seal()
    assert late in sealed()
    verifying.verify(at=timezone.now())


def test_a_row_whose_number_was_taken_before_its_transaction_had_one_is_sealed(
    erasable: None, transactional_db: None, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row takes its number first, and its transaction gets an id only when it writes: seals may come in between."""
    monkeypatch.setattr(sealing, "_BEGIN", sealing._BEGIN.replace(XMIN, OUR_XMIN))
    slow, late = _numbered()
    for n in range(3):  # all within the time that a statement may take between the two
        noted(2)
        sealing.seal(at=now + n * timedelta(seconds=5))
    slow.connection.execute(
        "INSERT INTO audit_entry (n, at, kind, by_name, about, door, address, data) OVERRIDING SYSTEM VALUE"
        " VALUES (%s, now(), 'sign-in', '', '', 'web', '', '{}')",
        [late],
    )
    for n in range(3, 6):
        noted(2)
        sealing.seal(at=now + n * timedelta(seconds=5))
    slow.end()
    noted(1)
    sealing.seal(at=now + timedelta(seconds=30))
    assert late in sealed()
    verifying.verify(at=timezone.now())


def _numbered() -> tuple[Writer, int]:
    """Take a number in a transaction without an id; for every 32nd number, writing the log assigns one too."""
    while True:
        writer = Writer()
        taken = "SELECT nextval(pg_get_serial_sequence('audit_entry', 'n')), pg_current_xact_id_if_assigned()"
        row = writer.connection.execute(taken).fetchone()
        assert row is not None
        if row[1] is None:
            return writer, int(row[0])
        writer.end()


def test_what_is_looked_at_again_does_not_grow(
    erasable: None, transactional_db: None, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "_BEGIN", sealing._BEGIN.replace(XMIN, OUR_XMIN))
    lost = Writer()
    lost.note()
    lost.end(commit=False)
    for n in range(12):
        noted(2)
        sealing.seal(at=now + n * sealing.NUMBERED_FOR)
    assert _looked_at_again() <= 3


def test_a_link_asks_as_much_however_many_are_open(
    erasable: None, transactional_db: None, now: datetime, django_assert_num_queries: Callable[..., Any]
) -> None:
    noted(2)
    with CaptureQueriesContext(connection) as first:
        sealing.seal(at=now)
    for n in range(4):
        noted(2)
        sealing.seal(at=now + timedelta(seconds=n))
    noted(2)
    with django_assert_num_queries(len(first)):
        sealing.seal(at=now + timedelta(seconds=5))


def _looked_at_again() -> int:
    newest = Seal.objects.latest("n")
    return newest.n - newest.settled


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_any_order_of_commits_misses_none(
    erasable: None, transactional_db: None, now: datetime, order: tuple[int, ...]
) -> None:
    writers = [Writer() for _ in order]
    every = sorted(one.note() for one in writers)
    for place in order:
        writers[place].end()
        noted(1)
        sealing.seal(at=now)
        sealing.seal(at=now)
    assert set(every) <= set(sealed())
    assert len(sealed()) == len(set(sealed())) == Entry.objects.count()


def test_two_beats_at_once_seal_each_row_once(erasable: None, transactional_db: None, now: datetime) -> None:
    noted(40)
    ready = threading.Barrier(4)

    def beat() -> int:
        try:
            ready.wait(60)
            return sealing.seal(at=now)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        counts = [one.result(30) for one in [pool.submit(beat) for _ in range(4)]]
    assert sum(counts) == 40
    assert len(sealed()) == len(set(sealed())) == 40
    verifying.verify(at=timezone.now())
