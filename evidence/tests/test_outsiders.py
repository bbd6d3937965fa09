"""People who are not signed in learn nothing about evidence, and no browser caches it.

For others who may not see it, see `integrations/tests/outsiders`.
"""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from evidence.findings import findings
from evidence.tests.conftest import Bring
from incidents.models import Incident, Person
from incidents.tests.conftest import Open
from incidents.tests.test_pages_access import addresses, routes

pytestmark = pytest.mark.django_db
SECRET = b"main;leaked_token_handler;rotate 70\nmain;rest 30\n"


def of_evidence() -> list[str]:
    found = [route for route in routes() if "<slug:codename>" in route]
    return [one for one in found if "/evidence" in one or "/findings" in one]


def walked(route: str, codename: str) -> list[str]:
    return [found.replace("<str:name>", "profile.folded") for found in addresses(route, codename)]


def test_there_are_addresses_to_walk() -> None:
    assert len(of_evidence()) >= 20


@pytest.fixture
def held(secret: Incident, ada: Person, bring: Bring) -> Incident:
    """Give the private incident two profiles, a file and a claim."""
    bring(secret, SECRET, title="Leaked handler")
    bring(secret, SECRET, title="Leaked handler, again")
    bring(secret, b"prose\n", title="Leaked notes")
    findings.claim(secret, text="The handler leaked it", by=ada, at=timezone.now())
    return secret


def test_nobody_unknown_learns_anything(held: Incident) -> None:
    for route in of_evidence():
        for path in walked(route, held.codename):
            for answer in (Client().get(path), Client().post(path)):
                assert answer.status_code in {302, 401, 405}, path
                assert b"eaked" not in answer.content, path


def test_what_members_see_is_kept_by_no_browser(held: Incident, ada: Person, browse: Open) -> None:
    seen, client = 0, browse(ada)
    for route in of_evidence():
        for path in walked(route, held.codename):
            answer = client.get(path)
            if answer.status_code == 200:
                assert "no-store" in answer["Cache-Control"], path
                seen += 1
            b"".join(answer)  # a file is closed after it is read to its end
    assert seen >= 15
