"""Pages that not every role may use: types, and the page that assigns roles."""

from __future__ import annotations

import pytest

from incidents.models import IncidentType, Person
from incidents.models.people import Role
from incidents.tests.conftest import Open, someone

ADDED = {"name": "Rumour", "says": "Somebody said so.", "colour": "green", "slug": "rumour"}
CHANGES = ["/types/add", "/types/internal/up", "/types/internal/archive", "/types/internal/default"]
ASK = "Only managers can change types. Ask Ada."


@pytest.mark.parametrize("role", [Role.RESPONDER, Role.AUDITOR])
def test_types_are_changed_by_managers_alone(
    role: Role, shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    before = list(IncidentType.objects.values_list("slug", "position", "archived_at", "is_default"))
    client = browse(someone("Kim", role=role))
    for address in CHANGES:
        answer = client.post(address, ADDED)
        assert answer.status_code == 403
        assert ASK in answer.content.decode()
        assert "no-store" in answer["Cache-Control"]
    assert client.get("/types/add").status_code == 403
    assert list(IncidentType.objects.values_list("slug", "position", "archived_at", "is_default")) == before


def test_everybody_reads_types_and_is_offered_nothing_that_would_be_refused(
    shipped: dict[str, IncidentType], ada: Person, eve: Person, browse: Open
) -> None:
    for address in ("/types/", "/types/security/"):
        page = browse(eve).get(address).content.decode()
        assert ASK in page
        assert '<form method="post" action="/types/' not in page
        assert "/types/add" not in page
        assert "Brings in" in page
        assert "/types/security/preview" not in page
    assert "Restore" not in browse(eve).get("/types/security/").content.decode()
    assert ASK not in browse(ada).get("/types/").content.decode()


def test_guests_find_no_such_pages(shipped: dict[str, IncidentType], ada: Person, eve: Person, browse: Open) -> None:
    Person.objects.filter(pk=eve.pk).update(is_guest=True, role=Role.MANAGER)
    assert browse(eve).post("/types/internal/up").status_code == 404
    assert browse(eve).get("/people/roles").status_code == 404
    assert browse(eve).post(f"/people/roles/{ada.pk}", {"role": "responder"}).status_code == 404


def test_a_manager_gives_a_role(ada: Person, ben: Person, browse: Open) -> None:
    client = browse(ada)
    assert f'action="/people/roles/{ben.pk}"' in client.get("/people/roles", {"q": "be"}).content.decode()
    page = client.post(f"/people/roles/{ben.pk}", {"role": "auditor"}, follow=True).content.decode()
    assert "Ben is now an auditor." in page
    ben.refresh_from_db()
    assert ben.role == Role.AUDITOR
    again = client.post(f"/people/roles/{ben.pk}", {"role": "auditor"}, follow=True).content.decode()
    assert "Ben is already an auditor." in again


def test_the_last_manager_is_told_why_they_stay(ada: Person, browse: Open) -> None:
    page = browse(ada).post(f"/people/roles/{ada.pk}", {"role": "responder"}, follow=True).content.decode()
    assert "Ada is the last manager. Make someone else a manager first." in page


def test_others_read_who_has_a_role_and_give_none(ada: Person, ben: Person, browse: Open) -> None:
    page = browse(ben).get("/people/roles", {"q": "Ada"}).content.decode()
    assert "Only managers can assign roles. Ask Ada." in page
    assert "<select" not in page
    assert browse(ben).post(f"/people/roles/{ben.pk}", {"role": "manager"}).status_code == 403
    ben.refresh_from_db()
    assert ben.role == Role.RESPONDER


def test_nonsense_is_absent(ada: Person, ben: Person, browse: Open) -> None:
    assert browse(ada).post(f"/people/roles/{ben.pk}", {"role": "king"}).status_code == 404
    assert browse(ada).post("/people/roles/999999", {"role": "manager"}).status_code == 404
    assert browse(ada).get(f"/people/roles/{ben.pk}").status_code == 405
