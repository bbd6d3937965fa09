"""While someone declares, they see open incidents that may be the same, if they may see those."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.search import already_open
from incidents.tests.conftest import Open


def titled(incident: Incident, title: str) -> Incident:
    Incident.objects.filter(pk=incident.pk).update(title=title)
    return incident


@pytest.mark.parametrize(
    ("title", "other", "is_near"),
    [
        ("Checkout is slow", "checkout is slow: p99 of POST /checkout at 6 s", True),
        ("Chekout broken again", "Checkout is slow", True),
        ("checkout", "The checkout-api restarts", True),
        ("Search is slow", "Checkout is slow", False),
        ("Everything is down", "Everything is down", False),
        ("The mesh", "The certificate expires", False),
        ("", "Checkout is slow", False),
    ],
)
def test_titles_are_near_that_share_a_word_that_says_what_is_wrong(title: str, other: str, is_near: bool) -> None:
    assert bool(shared(title, other)) == is_near


def shared(title: str, other: str) -> int:
    return already_open.alike(already_open.words(title), {1: already_open.words(other)})[1]


WORDS = ["checkout", "chekout", "Checkout-api", "checkouts", "slow", "the", "mesh", "p99"]
TITLES = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


@given(TITLES, TITLES)
def test_a_title_that_is_near_to_another_has_that_near_to_it(one: str, other: str) -> None:
    assert bool(shared(one, other)) == bool(shared(other, one))
    assert bool(shared(one, one)) == bool(already_open.words(one) - already_open.SAYS_LITTLE)


@given(TITLES, st.lists(TITLES, max_size=6))
def test_among_many_each_title_is_as_near_as_it_is_alone(title: str, others: list[str]) -> None:
    among = {n: already_open.words(other) for n, other in enumerate(others)}
    assert already_open.alike(already_open.words(title), among) == {
        n: shared(title, one) for n, one in enumerate(others)
    }


def test_what_is_open_is_named_while_the_title_is_typed(incident: Incident, ada: Person, browse: Open) -> None:
    titled(incident, "Checkout is slow")
    client = browse(ada)
    first = client.get(reverse("declare")).content.decode()
    assert "Already open" not in first
    assert f'hx-get="{reverse("declare-open")}"' in first
    assert "delay:" in first
    said = client.get(reverse("declare-open"), {"title": "checkout does not load"}).content.decode()
    assert "Already open" in said
    assert f'href="{incident.get_absolute_url()}"' in said
    assert "<html" not in said
    assert not client.get(reverse("declare-open"), {"title": "Mail is late"}).content.strip()
    refused = client.post(reverse("declare"), {"title": "Checkout is slow", "type": "no-such"})
    assert refused.status_code == 422
    assert "Already open" in refused.content.decode(), "without scripts, at the latest once the form comes back"


def test_only_what_one_may_see_is_named(
    incident: Incident, secret: Incident, ada: Person, eve: Person, browse: Open
) -> None:
    titled(secret, "The xylographic printer leaks")
    asked = {"title": "xylographic"}
    said = {one.name: browse(one).get(reverse("declare-open"), asked).content.decode() for one in (ada, eve)}
    assert [name for name, page in said.items() if secret.codename in page] == [ada.name]
    assert not said[eve.name].strip()


def test_what_ended_and_what_is_practice_is_not_named(incident: Incident, ada: Person, shipped: dict[str, Any]) -> None:
    titled(incident, "Checkout is slow")
    assert already_open.near("checkout", person=ada) == [incident]
    Incident.objects.filter(pk=incident.pk).update(is_drill=True)
    assert already_open.near("checkout", person=ada) == []
    Incident.objects.filter(pk=incident.pk).update(is_drill=False)
    lifecycle.resolve(incident, by=ada, at=timezone.now())
    assert already_open.near("checkout", person=ada) == []


def test_the_nearest_few_are_named_by_one_bounded_query(
    shipped: dict[str, Any], ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = timezone.now()
    titles = ["Checkout is slow", "Search of orders", "Checkout loses orders", "Mail", "Orders", "Checkout"]
    for n, title in enumerate(titles):
        lifecycle.declare(title, by=ada, at=at + timedelta(minutes=n))
    with CaptureQueriesContext(connection) as asked:
        found = [one.title for one in already_open.near("Checkout loses its orders", person=ada)]
    assert found == ["Checkout loses orders", "Checkout", "Orders"]
    assert len(asked) == 1
    monkeypatch.setattr(already_open, "LOOKED_AT", 2)
    assert [one.title for one in already_open.near("Checkout loses its orders", person=ada)] == ["Checkout", "Orders"]
    with CaptureQueriesContext(connection) as asked:
        assert already_open.near("Is slow again", person=ada) == []
    assert len(asked) == 0
