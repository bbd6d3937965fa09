from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle, search
from incidents.models import Incident, IncidentType, Person
from incidents.policies import types
from incidents.policies.policy import Policy


@pytest.fixture
def dee(db: None) -> Person:
    types.add(Policy("ambiguous", "Ambiguous", "not sure"), by=None, at=timezone.now())
    types.make_default(IncidentType.objects.get(), by=None)
    return Person.objects.create(name="Dee")


@pytest.mark.parametrize(
    "asked", ["checkout-api", '"checkout-api is slow"', "slow checkout", "pod", "rollbacks", "api-7f9"]
)
def test_words_of_the_title_and_the_timeline_find_an_incident(dee: Person, asked: str) -> None:
    incident = lifecycle.declare("checkout-api is slow", by=dee, at=timezone.now())
    lifecycle.note(incident, text="pod api-7f9 was rolled back, a rollback", by=dee, at=timezone.now())
    lifecycle.declare("Something else", by=dee, at=timezone.now())
    found = search.find(search.IncidentFilters(q=asked), person=dee).rows
    assert [one.codename for one in found] == [incident.codename]


def test_a_codename_or_its_beginning_finds_an_incident(dee: Person) -> None:
    incident: Incident = lifecycle.declare("Anything", by=dee, at=timezone.now())
    for asked in (incident.codename, incident.codename[:5], incident.codename.replace("-", " ")):
        assert incident.pk in [one.pk for one in search.find(search.IncidentFilters(q=asked), person=dee).rows]
