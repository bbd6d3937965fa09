"""Links that open the dialog of an incident's page, and what its forms propose."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test.html import Element, parse_html
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Followup, Incident, IncidentType, Person
from incidents.tests.conftest import Open


def swaps(node: Element, inherited: str = "") -> Iterator[tuple[str, str]]:
    """Yield the address of each link into the dialog, with how its answer is swapped in."""
    given = {name: value or "" for name, value in node.attributes}
    own = given.get("hx-swap", inherited)
    if given.get("hx-target") == "#dialog":
        yield given.get("hx-get") or given.get("hx-post", ""), own
    passed_on = "" if given.get("hx-disinherit") in {"*", "hx-swap"} else own
    for child in node.children:
        if isinstance(child, Element):
            yield from swaps(child, passed_on)


def test_what_opens_the_dialog_fills_it_and_never_takes_its_place(
    shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    incident = lifecycle.declare("Exports fail", by=ada, at=timezone.now())
    page = parse_html(browse(ada).get(incident.get_absolute_url()).content.decode())
    found = list(swaps(page))
    assert len(found) > 5
    assert [one for one in found if one[1] not in {"", "innerHTML"}] == []


def test_a_step_is_given_to_somebody_else_with_its_words(
    shipped: dict[str, IncidentType], ada: Person, ben: Person, browse: Open
) -> None:
    incident = lifecycle.declare("Exports fail", by=ada, at=timezone.now())
    address = f"{incident.get_absolute_url()}next-step"
    refused = browse(ada).post(address, {"text": "", "people": ben.pk})
    assert "Write what is done next." in refused.content.decode()
    lifecycle.state_next_step(incident, text="Roll 4.12 back", by=ben, at=timezone.now())
    shown = browse(ada).get(address).content.decode()
    assert "Roll 4.12 back" in shown
    assert f'value="{ben.pk}" checked' in " ".join(shown.split())


@pytest.mark.parametrize("role", ["Lead", "lead"])
def test_changing_a_role_proposes_who_has_it(
    role: str, shipped: dict[str, IncidentType], ada: Person, ben: Person, browse: Open
) -> None:
    incident = lifecycle.declare("Exports fail", by=ada, at=timezone.now())
    lifecycle.set_lead(incident, lead=ben, by=ada, at=timezone.now())
    shown = browse(ada).get(f"{incident.get_absolute_url()}role?role={role}").content.decode()
    assert f'value="{ben.pk}" checked' in " ".join(shown.split())
    assert "<span>No one" in shown


@pytest.mark.parametrize("verb", ["task", "follow-up"])
def test_a_form_that_is_sent_twice_adds_one(
    verb: str, shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    incident = lifecycle.declare("Exports fail", by=ada, at=timezone.now())
    address, client = f"{incident.get_absolute_url()}{verb}", browse(ada)
    form = {"text": "Roll 4.12 back", "since": Incident.objects.get(pk=incident.pk).last_n}
    assert [client.post(address, form).status_code for _ in range(2)] == [302, 302]
    assert Followup.objects.filter(incident=incident).count() == 1
    again = form | {"since": Incident.objects.get(pk=incident.pk).last_n}
    client.post(address, again)
    client.post(address, form | {"text": "Tell support"})
    assert list(Followup.objects.order_by("n").values_list("text", flat=True)) == [
        "Roll 4.12 back",
        "Roll 4.12 back",
        "Tell support",
    ]
