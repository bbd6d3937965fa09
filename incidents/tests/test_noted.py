"""What the audit records: reads of private incidents, and changes to settings that everyone works by."""

from __future__ import annotations

from io import StringIO
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit import request_origin
from audit.models import Entry
from incidents.models import Incident, IncidentType, Person
from incidents.policies import types
from incidents.tests.conftest import Open


def noted(kind: str) -> list[Any]:
    """Return the entries of a kind."""
    return list(Entry.objects.filter(kind=kind).order_by("n").values("by", "by_name", "about", "door", "data"))


def test_who_opens_a_private_incident_is_noted_once_an_hour(
    secret: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    for person in (ada, ben):
        client = browse(person)
        for part in ("", "live?n=0", "evidence/"):
            assert client.get(f"{secret.get_absolute_url()}{part}").status_code == 200
    read = noted("read")
    assert [(one["by_name"], one["about"], one["door"]) for one in read] == [
        ("Ada", secret.codename, "web"),
        ("Ben", secret.codename, "web"),
    ]


def test_who_may_not_see_it_leaves_no_trace_of_a_read(secret: Incident, eve: Person, browse: Open) -> None:
    assert browse(eve).get(secret.get_absolute_url()).status_code == 404
    assert noted("read") == []


def test_a_public_page_asks_nothing_for_the_audit_and_a_private_one_one_thing(
    incident: Incident, secret: Incident, ada: Person, browse: Open
) -> None:
    client = browse(ada)
    for shown, cost in ((incident, 0), (secret, 1), (secret, 1)):
        with CaptureQueriesContext(connection) as asked:
            client.get(shown.get_absolute_url())
        assert sum("audit_" in one["sql"] for one in asked) == cost


def test_the_address_is_the_one_that_asked(secret: Incident, ada: Person, browse: Open) -> None:
    browse(ada).get(secret.get_absolute_url(), REMOTE_ADDR="192.0.2.44")
    assert Entry.objects.get(kind="read").address == "192.0.2.44"


def test_reads_at_a_terminal_are_noted(secret: Incident, incident: Incident, ada: Person) -> None:
    with request_origin.at("terminal", "root"):
        call_command("incident", "show", incident.codename, stdout=StringIO())
        call_command("incident", "show", secret.codename, stdout=StringIO())
        call_command("incident", "list", stdout=StringIO())
    assert [(one["by"], one["about"], one["door"]) for one in noted("read")] == [
        (None, secret.codename, "terminal"),
        (None, "the list of incidents", "terminal"),
    ]


def test_changes_of_types_say_who_and_what(shipped: dict[str, IncidentType], ada: Person) -> None:
    before = len(noted("type"))
    types.make_default(shipped["major"], by=ada)
    types.archive(shipped["internal"], by=ada, at=timezone.now())
    types.reorder(["security", "major"], by=ada)
    changed = [(one["by_name"], one["about"], one["data"].get("did")) for one in noted("type")][before:]
    assert changed[:2] == [("Ada", "major", "made the default"), ("Ada", "internal", "archived")]
    assert changed[2][:2] == ("Ada", "the order of types")


def test_loading_the_file_again_notes_nothing(shipped: dict[str, IncidentType]) -> None:
    count = Entry.objects.count()
    call_command("load_types", stdout=StringIO())
    assert Entry.objects.count() == count


def test_no_entry_about_a_private_incident_holds_its_title(secret: Incident, ada: Person, browse: Open) -> None:
    browse(ada).get(secret.get_absolute_url())
    for one in Entry.objects.all():
        assert secret.title not in f"{one.about} {one.data}"
