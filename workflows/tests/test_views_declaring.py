"""The declare page shows its plan, at once and for every choice."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

from django.test import Client
from django.urls import reverse

from incidents.models import IncidentType, Person
from workflows.reconcile import retyping

Open = Callable[[Person], Client]
UNSENT = {"title": " "}  # is refused, so the form comes back with the choices


def plan_of(page: str) -> str:
    """Return the plan in a page or a fragment, however it is indented."""
    found = re.search(r'<div class="plan .*?</ul>', page, re.DOTALL)
    assert found is not None
    return " ".join(found[0].split())


def reach_of(page: str) -> str:
    """Return the text by a page's button, or in a fragment: the type, and who it reaches."""
    found = re.search(r'<p id="reach".*?</p>', page, re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<[^>]*>", "", found[0]).split())


def test_beside_the_button_stands_whom_the_chosen_type_reaches(
    shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    client = browse(ada)
    for slug, one in shipped.items():
        plan = retyping.preview_declare(type=one, by=ada)
        page = client.post(reverse("declare"), UNSENT | {"type": slug}).content.decode()
        fragment = client.get(reverse("declare-plan"), {"type": slug}, headers={"HX-Request": "true"}).content.decode()
        assert reach_of(page) == reach_of(fragment) == f"{one.policy.name} {plan.reach}"
        assert page.index('class="confirming"') < page.index('id="reach"') < page.index(">Declare</button>")
        assert 'hx-swap-oob="true"' in fragment
        assert "hx-swap-oob" not in page


def test_the_page_holds_the_very_plan_that_a_choice_brings(
    shipped: dict[str, IncidentType], ada: Person, ben: Person, browse: Open
) -> None:
    client, asked = browse(ada), reverse("declare-plan")
    shown = set()
    for one, drill, lead in product(shipped.values(), ("", "1"), (None, ada, ben)):
        given = {"type": one.slug, "lead": str(lead.pk) if lead else "", "drill": drill}
        page = client.post(reverse("declare"), UNSENT | given).content.decode()
        plan = plan_of(client.get(asked, given, headers={"HX-Request": "true"}).content.decode())
        assert plan_of(page) == plan, given
        assert f'name="lead" value="{given["lead"]}" checked' in " ".join(page.split()), given
        shown.add(plan)
    assert len(shown) > len(shipped), "a drill and a lead show in the plan"
    default = next(one for one in shipped.values() if one.is_default)
    first = client.get(reverse("declare")).content.decode()
    assert plan_of(first) == plan_of(client.get(asked, {"type": default.slug}).content.decode())
    assert "load" not in re.findall(r'hx-trigger="([^"]*)"', first), "nothing is fetched once it is there"
