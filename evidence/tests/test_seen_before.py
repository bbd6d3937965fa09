"""An incident shows earlier ones that were hot in the same places, and private ones only to their people."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from evidence.intake import withdrawing
from evidence.related import seen_before
from evidence.tests.conftest import Bring
from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

pytestmark = pytest.mark.django_db
SAME = b"main;other_path;price_basket;hash 55\nmain;elsewhere 45\n"
OTHER = b"main;render_page 80\nmain;tidy 20\n"


@pytest.fixture
def later(incident: Incident, ada: Person) -> Incident:
    return lifecycle.declare("Slow again", by=ada, at=timezone.now() + timedelta(days=1))


def test_the_same_dominant_functions_are_found_again(
    incident: Incident, later: Incident, bring: Bring, ada: Person
) -> None:
    bring(incident)
    bring(incident, OTHER)
    bring(later, SAME)
    (found,) = seen_before.of(later, actor=ada)
    assert found.incident == incident
    assert [one.name for one in found.same] == ["hash", "price_basket"]
    assert (found.same[0].here, found.same[0].there) == (0.55, 0.61)
    assert seen_before.of(incident, actor=ada) == []  # the later one is not earlier


def test_a_function_that_was_seen_before_has_the_share_that_the_sentences_say(
    incident: Incident, later: Incident, bring: Bring, ada: Person, browse: Open
) -> None:
    told = []
    for one, part in ((incident, 125), (later, 235)):
        says = bring(one, b"main;price %d\nmain;memcpy %d\n" % (part, 1000 - part)).says
        told.append(says.partition(" of samples pass through `price`")[0])
    assert told == ["13 %", "24 %"]
    page = " ".join(browse(ada).get(f"/incidents/{later.codename}/evidence/").content.decode().split())
    assert f"{told[0]} then, {told[1]} here" in page


def test_a_private_incident_is_seen_again_by_its_people_alone(
    secret: Incident, later: Incident, bring: Bring, ada: Person, eve: Person
) -> None:
    bring(secret)
    bring(later, SAME)
    assert [one.incident for one in seen_before.of(later, actor=ada)] == [secret]
    assert seen_before.of(later, actor=eve) == []


def test_what_was_withdrawn_is_seen_no_more(incident: Incident, later: Incident, bring: Bring, ada: Person) -> None:
    gone = bring(incident)
    bring(later, SAME)
    withdrawing.withdraw(gone, by=ada, at=timezone.now())
    assert seen_before.of(later, actor=ada) == []
