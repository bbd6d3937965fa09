"""The audit page: only for auditors, only with codenames, and safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

import pytest
from django.test import Client

import audit
from audit.models import Entry
from audit.search import PAGE
from incidents.models import Incident, Person
from incidents.models.people import Role
from incidents.tests.conftest import Open, someone


@pytest.fixture
def auditor(db: None, browse: Open) -> Client:
    """Return a browser in which an auditor is signed in."""
    return browse(auditing())


def auditing() -> Person:
    """Create an auditor."""
    person = someone("Olga")
    Person.objects.filter(pk=person.pk).update(role=Role.AUDITOR)
    return person


def test_only_auditors_read_it_and_others_are_told_who_does(ada: Person, browse: Open, auditor: Client) -> None:
    for address in ("/audit/", "/audit/entries.csv"):
        assert auditor.get(address).status_code == 200
        refused = browse(ada).get(address)
        assert refused.status_code == 403
        assert "Only auditors can read the audit" in refused.content.decode()
        assert Client().get(address).status_code == 302


def test_reading_the_audit_and_taking_it_along_are_noted(auditor: Client) -> None:
    auditor.get("/audit/")
    auditor.get("/audit/")
    auditor.get("/audit/entries.csv?who=Ada")
    done = Entry.objects.exclude(kind="sign-in").order_by("n").values_list("kind", "by_name", "data")
    assert list(done) == [("audit-read", "Olga", {}), ("export", "Olga", {"filters": "?who=Ada"})]


def test_a_private_incident_is_there_by_its_codename_and_never_its_title(
    secret: Incident, ben: Person, browse: Open, auditor: Client
) -> None:
    browse(ben).get(secret.get_absolute_url())
    for address in ("/audit/", "/audit/entries.csv"):
        page = auditor.get(address).content.decode()
        assert secret.codename in page
        assert secret.title not in page


def test_an_auditor_sees_no_private_incident(secret: Incident, auditor: Client) -> None:
    assert auditor.get(secret.get_absolute_url()).status_code == 404
    assert secret.title not in auditor.get("/").content.decode()


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ("?who=ad", {"Ada"}),
        ("?kind=role", {"Ada"}),
        ("?about=brave", {"Ben"}),
        ("?kind=no-such&first=never&last=&before=x", {"Ada", "Ben"}),
        ("?first=2026-01-02&last=2026-01-02", {"Ben"}),
        ("?first=9999-12-31&last=0001-01-01", {"Ada", "Ben"}),
        ("?first=2027-01-01", set()),
        ("?before=0", set()),
        ("?before=99999999999999999999", {"Ada", "Ben"}),
    ],
)
def test_filters_narrow_it(auditor: Client, asked: str, there: set[str]) -> None:
    audit.note("role", by=1, by_name="Ada", about="Zed", at=datetime(2026, 1, 1, 12, tzinfo=UTC))
    audit.note("read", by=2, by_name="Ben", about="brave-otter", at=datetime(2026, 1, 2, 23, 30, tzinfo=UTC))
    page = auditor.get(f"/audit/{asked}")
    assert page.status_code == 200
    assert {name for name in ("Ada", "Ben") if f"<strong>{name}</strong>" in page.content.decode()} == there


def test_it_comes_in_pages_newest_first(auditor: Client) -> None:
    for n in range(PAGE + 5):
        audit.note("type", by=1, by_name="Ada", about=f"type-{n}-")
    first = auditor.get("/audit/?kind=type")
    assert f"type-{PAGE + 4}-" in first.content.decode()
    assert "type-4-" not in first.content.decode()
    assert "type-4-" in auditor.get(first.context["older"]).content.decode()


def test_people_stand_there_by_their_names_which_lead_to_what_they_did(
    incident: Incident, secret: Incident, ada: Person, eve: Person, auditor: Client
) -> None:
    for data in ({"person": eve.pk}, {"asked_by": eve.pk}, {"second": eve.pk, "was": "x"}, {"people": [eve.pk, 10**9]}):
        audit.note("role", by=ada.pk, by_name="Ada", about=incident.codename, data=data)
    audit.note("read", by=ada.pk, by_name="Ada", about=secret.codename, data={"evidence": eve.pk})
    page = auditor.get("/audit/").content.decode()
    assert " ".join(page.split()).count('<a href="/audit/?who=Eve">Eve</a>') == 4
    assert f"person: {eve.pk}" not in " ".join(page.split())
    assert f"person {10**9}" in page, "one who is not known"
    assert f'<a href="{incident.get_absolute_url()}">' in page
    assert secret.get_absolute_url() not in page, "an auditor sees no private incident"


def test_no_cell_is_a_formula(auditor: Client) -> None:
    audit.note("role", by=1, by_name="=HYPERLINK(1)", about="@sum", data={"a": "b"})
    said = auditor.get("/audit/entries.csv?kind=role").content.decode()
    _, row = csv.reader(io.StringIO(said))
    assert "'=HYPERLINK(1)" in row
    assert "'@sum" in row
