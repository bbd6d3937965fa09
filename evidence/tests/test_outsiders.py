"""Whoever may not see an incident learns nothing of its evidence: every address is walked, by everyone outside."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from evidence.findings import findings
from evidence.tests.conftest import Bring
from incidents.models import Incident, Participant, Person
from incidents.tests.conftest import Open, someone
from incidents.tests.test_pages_access import addresses, routes

pytestmark = pytest.mark.django_db
SECRET = b"main;leaked_token_handler;rotate 70\nmain;rest 30\n"
QUERIES = ("", "?small&q=leaked&search=leaked&name=rotate&root=1&control=1&with=2&type=0")


def of_evidence() -> list[str]:
    found = [route for route in routes() if "<slug:codename>" in route]
    return [one for one in found if "/evidence" in one or "/findings" in one]


def walked(route: str, codename: str) -> list[str]:
    return [found.replace("<str:name>", "profile.folded") for found in addresses(route, codename)]


@pytest.fixture
def outsiders(ada: Person, eve: Person, secret: Incident) -> dict[str, Person]:
    """Give a stranger, a guest, and somebody who took part and was shut out."""
    guest = someone("Gus")
    Person.objects.filter(pk=guest.pk).update(is_guest=True)
    former = someone("Fay")
    Participant.objects.create(
        incident=secret, person=former, reason="picked", since_at=timezone.now(), left_at=timezone.now()
    )
    return {"stranger": eve, "guest": guest, "former member": former}


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


def test_no_outsider_tells_hidden_evidence_from_none_at_all(
    held: Incident, outsiders: dict[str, Person], browse: Open
) -> None:
    for person in outsiders.values():
        client = browse(person)
        for route in of_evidence():
            for hidden, absent in zip(walked(route, held.codename), walked(route, "no-such"), strict=True):
                for query in QUERIES:
                    for method in ("get", "post"):
                        one, other = (getattr(client, method)(path + query) for path in (hidden, absent))
                        assert one.status_code == other.status_code, hidden
                        assert one.status_code in {401, 404, 405}, hidden
                        assert one.content == other.content, hidden
                        assert dict(one.headers) == dict(other.headers), hidden


def test_nobody_unknown_learns_anything(held: Incident) -> None:
    for route in of_evidence():
        for path in walked(route, held.codename):
            for answer in (Client().get(path), Client().post(path)):
                assert answer.status_code in {302, 401, 405}, path
                assert b"eaked" not in answer.content, path


def test_what_members_see_is_kept_by_no_browser(held: Incident, ada: Person, browse: Open) -> None:
    seen = 0
    for route in of_evidence():
        for path in walked(route, held.codename):
            answer = browse(ada).get(path)
            if answer.status_code == 200:
                assert "no-store" in answer["Cache-Control"], path
                seen += 1
            b"".join(answer)  # a file is closed when it was read to its end
    assert seen >= 15
