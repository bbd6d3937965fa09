"""What the database and the chain allow of a redaction: one change, visible for good, with who did it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit.models import Redaction
from audit.sealed import redacting, sealing, verifying
from audit.tests.test_export import checked, exported
from audit.tests.test_two_roles import as_application  # noqa: F401  # asked for by its name
from incidents import lifecycle, timeline
from incidents.models import Event, Incident
from integrations.tests.house import House
from integrations.tests.test_redaction import SAID, SECRET, incident, of

__all__ = ["incident"]


TRIES = {
    "the words alone": "text = '', salt = NULL",
    "other words": "text = 'forged', data = '{}', link = '', salt = NULL, redacted = repeat('0', 64)",
    "data that was not there": "text = '', data = '{\"a\": 1}', link = '', salt = NULL, redacted = repeat('0', 64)",
    "who wrote it": "text = '', data = '{}', link = '', salt = NULL, redacted = repeat('0', 64), by_id = NULL",
    "when": "text = '', data = '{}', link = '', salt = NULL, redacted = repeat('0', 64), at = now()",
    "its kind": "text = '', data = '{}', link = '', salt = NULL, redacted = repeat('0', 64), kind = 'did'",
    "with the salt left": "text = '', data = '{}', link = '', redacted = repeat('0', 64)",
    "a mark alone": "redacted = repeat('0', 64)",
    "all that is right, and nobody who did it": (
        "text = '', data = '{}', link = '', salt = NULL, redacted = repeat('0', 64)"
    ),
}


def refused(change: str, note: Event) -> None:
    """Try a change of a row, which the database refuses."""
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE incidents_event SET {change} WHERE id = %s", [note.pk])  # noqa: S608  # changes of ours


def test_the_database_allows_nothing_else(house: House, incident: Incident) -> None:
    note = lifecycle.note(incident, text=SAID, by=house.person("ann"), at=timezone.now())
    refused(TRIES["all that is right, and nobody who did it"], note)
    Redaction.objects.create(at=timezone.now(), kept="events", row=note.pk, was="0" * 64, remains="0" * 64)
    for what, change in TRIES.items():
        if "nobody who did it" not in what:
            refused(change, note)


def test_a_redaction_is_not_undone_or_done_twice(house: House, incident: Incident) -> None:
    dee = house.person("dee")
    note = lifecycle.note(incident, text=SAID, by=dee, at=timezone.now())
    lifecycle.redact(incident, n=note.n, by=dee, at=timezone.now())
    for change in ("text = 'x', redacted = NULL, salt = 'x'", "redacted = repeat('1', 64)", "data = '{}'"):
        refused(change, note)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM audit_redaction")


CHANGES = ("by_id = NULL", "data = '{\"room\": 7}'", "kind = 'did'", "at = now() - interval '1 day'")


@pytest.mark.parametrize("salted", [True, False])
def test_what_is_left_of_a_redacted_entry_is_still_checked(
    house: House, incident: Incident, salted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not salted:
        monkeypatch.setattr(redacting, "salt", lambda: None)
    dee = house.person("dee")
    lifecycle.update(incident, text=SAID, by=dee, at=timezone.now())
    n = of(incident, "updated")
    lifecycle.redact(incident, n=n, by=dee, at=timezone.now())
    sealing.seal(at=timezone.now())
    sealing.seal(at=timezone.now())
    verifying.verify(at=timezone.now())
    for change in CHANGES:
        with connection.cursor() as cursor:
            cursor.execute("SAVEPOINT before")
            owners("incidents_event")
            values = [incident.pk, n]
            cursor.execute(f"UPDATE incidents_event SET {change} WHERE incident_id = %s AND n = %s", values)  # noqa: S608  # changes of ours
            with pytest.raises(verifying.ChainBroken, match=r"incidents_event was (changed|redacted)"):
                verifying.verify(at=timezone.now())
            cursor.execute("ROLLBACK TO SAVEPOINT before")


def owners(table: str) -> None:
    """Disable a table's triggers, as only its owner can."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")


def test_words_that_nobody_redacted_are_found_missing(house: House, incident: Incident) -> None:
    """The tables' owner can empty a row. To hide that they would have to record a redaction, which names them."""
    note = lifecycle.note(incident, text=SAID, by=house.person("dee"), at=timezone.now())
    sealing.seal(at=timezone.now())
    owners("incidents_event")
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE incidents_event SET text = '', salt = NULL, redacted = repeat('0', 64) WHERE id = %s", [note.pk]
        )
    with pytest.raises(verifying.ChainBroken, match=f"Row {note.pk} of incidents_event"):
        verifying.verify(at=timezone.now())


def test_nobody_finds_the_words_out_by_trying(house: House, incident: Incident) -> None:
    """The hash that remains of a PIN is salted, and the salt is deleted, so ten thousand guesses find nothing."""
    from audit.sealed import chain

    dee = house.person("dee")
    note = lifecycle.note(incident, text="4711", by=dee, at=timezone.now())
    lifecycle.redact(incident, n=note.n, by=dee, at=timezone.now())
    left = Event.objects.get(pk=note.pk)
    said: list[dict[str, object]]
    for salt in (None, "", "0"):
        said = [{"text": f"{pin:04}", "data": {}, "link": "", "salt": salt} for pin in range(10_000)]
        assert left.redacted not in {chain.mark(one).hex() for one in said}
    assert timeline.sentence(left) == "redacted"


def test_an_application_that_is_not_the_owner_redacts_and_changes_nothing_else(
    house: House, incident: Incident, request: pytest.FixtureRequest
) -> None:
    """The grants allow writing the columns with words, and the trigger allows one change of them."""
    dee = house.person("dee")
    note = lifecycle.note(incident, text=SAID, by=dee, at=timezone.now())
    request.getfixturevalue("as_application")
    refused("text = ''", note)
    with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE incidents_event SET by_id = NULL WHERE id = %s", [note.pk])
    lifecycle.redact(incident, n=note.n, by=dee, at=timezone.now())
    assert sealing.seal(at=timezone.now())
    assert verifying.verify(at=timezone.now()).redacted == 1


@pytest.mark.parametrize("words", [(), ("--words",)])
def test_an_export_is_checked_elsewhere_with_words_and_without(
    house: House, incident: Incident, tmp_path: Path, words: tuple[str, ...]
) -> None:
    dee = house.person("dee")
    gone = lifecycle.note(incident, text=SAID, by=dee, at=timezone.now())
    lifecycle.note(incident, text="This stays", by=dee, at=timezone.now())
    lifecycle.redact(incident, n=gone.n, by=dee, at=timezone.now())
    sealing.seal(at=timezone.now())
    lines = exported(*words)
    assert checked(lines, tmp_path).returncode == 0
    assert SECRET not in str(lines)
    assert ("This stays" in str(lines)) == bool(words)
    for line in (one for one in lines if one.get("words", {}).get("text") == "This stays"):
        line["words"]["text"] = "This is forged"
        assert "these words were changed" in checked(lines, tmp_path).stderr
    for line in (one for one in lines if one.get("row", {}).get("kind") == "redacted"):
        line["row"]["by_id"] = 7
        assert checked(lines, tmp_path).returncode == 1
