"""An audit entry is one row in the caller's transaction, with its origin, and written once if asked."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

import audit
from audit import request_origin
from audit.kinds import KINDS
from audit.models import Entry

pytestmark = pytest.mark.django_db


def test_an_entry_says_who_did_what_about_what_and_from_where() -> None:
    with request_origin.at("web", "192.0.2.7"):
        audit.note("role", by=7, by_name="Ada", about="Ben", data={"to": "manager"})
    one = Entry.objects.get()
    assert (one.kind, one.by, one.by_name, one.about) == ("role", 7, "Ada", "Ben")
    assert (one.door, one.address, one.data) == ("web", "192.0.2.7", {"to": "manager"})


def test_a_door_may_be_another_than_the_one_of_the_request() -> None:
    audit.note("token-used", by=7, where="api")
    audit.note("sign-out", by=7)
    assert list(Entry.objects.order_by("n").values_list("door", flat=True)) == ["api", "system"]


def test_noting_is_one_statement() -> None:
    with CaptureQueriesContext(
        connection,
    ) as asked:
        audit.note("sign-in", by=7)
    assert len(asked) == 1


def test_what_is_rolled_back_was_never_noted() -> None:
    with transaction.atomic():
        audit.note("type", by=7)
        transaction.set_rollback(True)
    assert not Entry.objects.exists()


def test_what_is_noted_once_is_there_once_and_costs_one_statement_each_time() -> None:
    assert audit.once("read:7:1", "read", by=7, about="brave-otter")
    with CaptureQueriesContext(connection) as asked:
        assert not audit.once("read:7:1", "read", by=7, about="brave-otter")
    assert len(asked) == 1
    assert audit.once("read:8:1", "read", by=8, about="brave-otter")
    assert Entry.objects.count() == 2


def test_a_kind_that_is_in_no_table_is_refused() -> None:
    with pytest.raises(ValueError, match="not a kind"):
        audit.note("whatever", by=None)


def test_every_kind_fits_its_column() -> None:
    assert all(len(kind) <= 24 for kind in KINDS)


def test_words_of_strangers_fit_and_hold_no_nul() -> None:
    audit.note("sign-in-failed", by=None, by_name="x\0" * 500, about="y" * 500)
    one = Entry.objects.get()
    assert len(one.by_name) == len(one.about) == 200
    assert "\0" not in one.by_name


@pytest.mark.parametrize("role", ["origin", "replica"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entry SET by_name = 'Eve'",
        "DELETE FROM audit_entry",
        "TRUNCATE audit_entry",
        "TRUNCATE audit_seal",
    ],
)
def test_the_database_itself_refuses_to_change_the_audit(statement: str, role: str) -> None:
    audit.note("sign-in", by=7)
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL session_replication_role = {role}")
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            cursor.execute(statement)
    assert Entry.objects.count() == 1
