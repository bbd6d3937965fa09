"""What the audit is told of evidence: who took which file along, by number and codename, never by title."""

from __future__ import annotations

import pytest
from django.test import Client

from audit.models import Entry
from evidence.tests.conftest import Bring
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

pytestmark = pytest.mark.django_db


def answer(client: Client, address: str) -> bytes:
    """Take a file along, to its end."""
    given = client.get(address)
    assert given.status_code == 200
    return given.getvalue()


def test_files_that_are_taken_along_are_noted(incident: Incident, bring: Bring, ada: Person, browse: Open) -> None:
    found = bring(incident, title="The secret sauce")
    client = browse(ada)
    for part in ("original", "folded", "pprof", "svg", "png", "png?small"):
        assert answer(client, f"{found.get_absolute_url()}{part}")
    taken = Entry.objects.filter(kind__in=["download", "export"]).order_by("n")
    assert [(one.kind, one.data["form"]) for one in taken] == [
        ("download", "original"), ("export", "folded"), ("export", "pprof"), ("export", "svg"), ("export", "png"),
    ]  # fmt: skip
    assert {(one.by_name, one.about, one.data["evidence"]) for one in taken} == {("Ada", incident.codename, found.n)}
    assert "sauce" not in "".join(str(one.data) for one in taken)


def test_looking_at_a_picture_on_the_page_is_no_download(
    incident: Incident, bring: Bring, ada: Person, browse: Open
) -> None:
    found = bring(incident, b"\x89PNG\r\n\x1a\n" + b"the rest of a dashboard", title="Dashboard")
    assert answer(browse(ada), f"{found.get_absolute_url()}original?inline")
    assert not Entry.objects.filter(kind="download").exists()
