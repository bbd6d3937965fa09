"""Changes that the tables' owner makes behind the triggers are detected, and named."""

from __future__ import annotations

from datetime import datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

import audit
from audit.models import Entry, Seal
from audit.sealed import chain, rows, sealing, verifying

pytestmark = pytest.mark.django_db


@pytest.fixture
def now() -> datetime:
    """Return the current time."""
    return timezone.now()


@pytest.fixture
def sealed(now: datetime) -> list[int]:
    """Make three seals over two entries each."""
    for _ in range(3):
        audit.note("sign-in", by=7, by_name="Ada")
        audit.note("role", by=7, by_name="Ada", about="Ben", data={"to": "manager"})
        sealing.seal(at=now)
    return list(Entry.objects.order_by("n").values_list("n", flat=True))


def tamper(statement: str, *values: str | bytes | int, table: str = "audit_entry") -> None:
    """Do what only a table's owner can, after disabling its triggers."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(statement, list(values))
        for part in ("rows", "table"):
            cursor.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_{part}_kept")


def test_an_untouched_chain_holds(sealed: list[int], now: datetime) -> None:
    held = verifying.verify(at=now)
    assert (held.links, held.rows) == (3, 6)
    assert held.head == Seal.objects.latest("n").hash


@pytest.mark.parametrize(
    "change",
    [
        "at = at + interval '1 second'", "kind = 'sign-out'", "by_id = 8", "by_name = 'Eve'", "about = 'Eve'",
        "door = 'api'", "address = '192.0.2.9'", "data = '{\"to\": \"auditor\"}'", "key = 'another'",
    ],
)  # fmt: skip
def test_a_row_that_was_changed_is_named(sealed: list[int], now: datetime, change: str) -> None:
    tamper(f"UPDATE audit_entry SET {change} WHERE n = %s", sealed[3])  # noqa: S608  # the table above
    with pytest.raises(
        verifying.ChainBroken, match=f"Row {sealed[3]} of audit_entry was changed after seal 2 was made"
    ):
        verifying.verify(at=now)


def test_a_row_that_was_deleted_is_named(sealed: list[int], now: datetime) -> None:
    tamper("DELETE FROM audit_entry WHERE n = %s", sealed[0])
    with pytest.raises(verifying.ChainBroken, match=f"Row {sealed[0]} of audit_entry, which seal 1 covers, is missing"):
        verifying.verify(at=now)


def test_a_row_that_was_slipped_in_long_ago_is_named(sealed: list[int], now: datetime) -> None:
    audit.note("sign-in", by=9, at=now - timedelta(hours=1))
    with pytest.raises(verifying.ChainBroken, match="over a minute old and not sealed"):
        verifying.verify(at=now)


def test_a_row_of_a_host_whose_clock_is_behind_holds_once_it_is_sealed(sealed: list[int], now: datetime) -> None:
    audit.note("sign-in", by=9, at=now - timedelta(minutes=5))
    with pytest.raises(verifying.ChainBroken, match="Verify again in a few seconds"):
        verifying.verify(at=now)
    sealing.seal(at=now)
    assert not verifying.verify(at=now).late


def test_a_row_that_is_new_waits_for_its_seal_and_breaks_nothing(sealed: list[int], now: datetime) -> None:
    audit.note("sign-in", by=9)
    verifying.verify(at=now)


@pytest.mark.parametrize(
    "change",
    [
        "at = at + interval '1 second'", "previous = repeat('1', 64)", "hash = repeat('1', 64)", "horizon = 1",
        "settled = 99", "tops = '{}'", "covers = '{\"entries\": [[1, 9]]}'", "marks = substr(marks, 33)",
    ],
)  # fmt: skip
def test_a_seal_that_was_changed_is_named(sealed: list[int], now: datetime, change: str) -> None:
    tamper(f"UPDATE audit_seal SET {change} WHERE n = 2", table="audit_seal")  # noqa: S608  # the table above
    with pytest.raises(verifying.ChainBroken, match="Seal 2 was changed"):
        verifying.verify(at=now)


def test_a_seal_that_is_missing_is_named(sealed: list[int], now: datetime) -> None:
    tamper("DELETE FROM audit_seal WHERE n = 2", table="audit_seal")
    with pytest.raises(verifying.ChainBroken, match="Seal 2 is missing"):
        verifying.verify(at=now)


def reseal(n: int) -> None:
    """Change a row and recompute its seal, like someone who knows how seals are made."""
    seal = Seal.objects.get(n=n)
    id, _ = next(seal.marked("entries"))
    tamper("UPDATE audit_entry SET by_name = 'Eve' WHERE n = %s", id)
    kept = rows.KEPT["entries"]
    found = rows.of_ids(kept, [id for id, _ in seal.marked("entries")])
    seal.marks = b"".join(row.mark for row in found.values())
    hash = chain.mark(seal.said()).hex()
    tamper("UPDATE audit_seal SET marks = %s, hash = %s WHERE n = %s", seal.marks, hash, n, table="audit_seal")


def test_a_seal_made_anew_no_longer_fits_the_one_after_it(sealed: list[int], now: datetime) -> None:
    reseal(2)
    with pytest.raises(verifying.ChainBroken, match="Seal 3 does not follow seal 2"):
        verifying.verify(at=now)


def test_an_end_made_anew_or_cut_off_is_found_by_a_hash_kept_elsewhere(sealed: list[int], now: datetime) -> None:
    kept = Seal.objects.latest("n").hash
    reseal(3)
    verifying.verify(at=now)
    with pytest.raises(verifying.ChainBroken, match="cut off or rewritten"):
        verifying.verify(at=now, heads=[kept])


def test_checking_may_begin_later(sealed: list[int], now: datetime) -> None:
    tamper("UPDATE audit_entry SET by_name = 'Eve' WHERE n = %s", sealed[0])
    assert verifying.verify(at=now, since=2).links == 2


def test_a_forged_seal_is_refused_without_being_counted_out(sealed: list[int], now: datetime) -> None:
    last = Seal.objects.latest("n")
    forged = Seal(
        n=4, at=now, previous=last.hash, covers={"entries": [[1, 1 << 60]]}, marks=b"", tops={}, horizon=1, settled=0
    )
    forged.hash = chain.mark(forged.said()).hex()
    forged.save(force_insert=True)
    with pytest.raises(verifying.ChainBroken, match="Seal 4 was changed"):
        verifying.verify(at=now)


def test_the_command_names_what_is_broken_and_fails(sealed: list[int]) -> None:
    out = StringIO()
    call_command("audit", "verify", stdout=out)
    assert "3 seals over 6 rows verified" in out.getvalue()
    tamper("UPDATE audit_entry SET by_name = 'Eve' WHERE n = %s", sealed[3])
    with pytest.raises(CommandError, match=f"Row {sealed[3]} of audit_entry was changed") as failed:
        call_command("audit", "verify")
    assert failed.value.returncode == 1


def test_the_head_is_the_newest_hash(sealed: list[int]) -> None:
    out = StringIO()
    call_command("audit", "head", stdout=out)
    newest = Seal.objects.latest("n")
    assert out.getvalue().split() == ["3", newest.at.isoformat(), newest.hash]
    call_command("audit", "verify", "--head", newest.hash, stdout=out)
