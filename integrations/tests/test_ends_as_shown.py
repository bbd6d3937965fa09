"""A form that ends an incident fails if something changed that it did not show; that is said, and it can be resent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.tests.house import House
from integrations.tests.signed_in import signed_in

Happens = Callable[[House, Incident, Person], object]
RETYPED = "retyped it from Ambiguous to Major"


def retyped(house: House, incident: Incident, by: Person) -> None:
    house.confirm(incident, "major", by="ann")


def task_added(house: House, incident: Incident, by: Person) -> None:
    lifecycle.add_followup(incident, text="warm the cache", phase="during", by=by, at=timezone.now())


def told(house: House, incident: Incident, by: Person) -> None:
    lifecycle.update(incident, text="it is getting better", by=by, at=timezone.now())


@pytest.mark.parametrize(
    ("verb", "meanwhile", "says"),
    [
        ("resolve", retyped, RETYPED),
        ("cancel", retyped, RETYPED),
        ("duplicate", retyped, RETYPED),
        ("resolve", task_added, "warm the cache"),
        ("resolve", told, ""),
        ("cancel", task_added, ""),
    ],
)
def test_an_end_over_what_its_form_did_not_show_is_asked_again(
    house: House, verb: str, meanwhile: Happens, says: str
) -> None:
    dee, ann = house.person("dee"), house.person("ann")
    incident, other = house.declare("Checkout is slow"), house.declare("Checkout fails")
    browser, address = signed_in(dee), f"{incident.get_absolute_url()}{verb}"
    shown = browser.get(address).context["form"]
    given = {"since": shown["since"].value(), "text": "It is over.", "of": other.codename}
    meanwhile(house, incident, ann)
    answer = browser.post(address, given)
    incident.refresh_from_db()
    assert incident.is_active == bool(says)
    if says:
        assert answer.status_code == 422
        assert says in answer.content.decode()
        assert "Ann" in answer.content.decode()
        browser.post(address, given | {"since": answer.context["form"]["since"].value()})
        incident.refresh_from_db()
        assert not incident.is_active
