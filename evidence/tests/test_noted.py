"""What the audit log records about evidence and tokens: by number and codename, never by title."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Entry
from evidence.intake import tokens
from evidence.tests.conftest import Bring
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

pytestmark = pytest.mark.django_db


def answer(client: Client, address: str) -> bytes:
    """Download a file, to its end."""
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


def test_tokens_are_noted_when_made_first_used_and_revoked(ada: Person, secret: Incident) -> None:
    now = timezone.now()
    issued = tokens.issue(ada, at=now, incident=secret)
    for _ in range(2):
        assert tokens.find(issued.secret, at=now)
    tokens.revoke(issued.token.pk, by=ada, at=now)
    told = Entry.objects.filter(kind__startswith="token").order_by("n")
    assert [(one.kind, one.by_name, one.about) for one in told] == [
        (f"token-{did}", "Ada", secret.codename) for did in ("made", "used", "revoked")
    ]
    said = "".join(str(one.data) for one in told)
    assert issued.secret not in said
    assert secret.title not in said
