"""Rows that are locked while someone else changes them are read in their new state, with everything joined."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.identity.providers import joining
from integrations.identity.providers.provider import Provider
from integrations.tests.house import House, house
from integrations.tests.outsiders.waiting import behind
from workflows.alerts import intake
from workflows.models import Alert, DeclareRule
from workflows.oncall.pager_events import PagerEvent, PagerIncident


@pytest.fixture
def built(erasable: None, transactional_db: None) -> Iterator[House]:
    """A house in a database that others write to concurrently."""
    with house() as made:
        yield made


def hear(name: str) -> bool:
    page = PagerIncident(name, title="p95 above 2 s", service_id="S1", service="checkout", priority="P1")
    return intake.hear(PagerEvent(name, "triggered", timezone.now(), page, "", ""), at=timezone.now())


def test_an_alert_that_waits_for_a_retype_finds_the_incident_of_its_storm(built: House) -> None:
    DeclareRule.objects.create(name="Checkout", type=built.type("major"), position=0, created_at=timezone.now())
    assert hear("Q1")
    incident = Incident.objects.get()
    to, by = built.type("isolated"), built.person("dee")
    behind(lambda: lifecycle.retype(incident, to=to, by=by, at=timezone.now()), lambda: hear("Q2"))
    assert Incident.objects.get() == incident
    assert Alert.objects.filter(incident=incident).count() == 2


def test_who_signs_in_by_two_providers_at_once_has_one_account(built: House) -> None:
    dee = built.person("dee")
    one, other = (Provider(key=key, name=key, issuer="", client_id="", client_secret="") for key in ("one", "other"))
    claims = {"sub": "d1", "email": dee.email, "email_verified": True}
    behind(lambda: joining.user_of(one, claims), lambda: joining.user_of(other, claims))
    assert [one.person for one in User.objects.all()] == [dee]
    assert Person.objects.get(pk=dee.pk).user is not None
