"""The type panel on an incident's page is true for this incident, whatever its type asks for elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape

import pytest
from django.test import Client

from incidents.models import Incident, IncidentType, Person

Open = Callable[[Person], Client]
SLUGS = ("ambiguous", "internal", "security", "time-bomb", "isolated", "major")


def panels(client: Client, incident: Incident) -> Iterator[str]:
    """Yield the panel on the page, and the one that an open page is sent."""
    for last in ("", "live"):
        page = client.get(f"{incident.get_absolute_url()}{last}").content.decode()
        found = re.search(r'<section id="kind".*?</section>', page, re.DOTALL)
        assert found is not None
        yield unescape(found[0])


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("slug", SLUGS)
def test_the_panel_speaks_of_this_incident(
    slug: str, private: bool, shipped: dict[str, IncidentType], incident: Incident, ada: Person, browse: Open
) -> None:
    type = shipped[slug]
    Incident.objects.filter(pk=incident.pk).update(type=type, policy_version=type.current, private=private)
    for said in panels(browse(ada), incident):
        assert type.policy.name in said
        assert ("Private" in said, "Public" in said) == (private, not private)
        assert ("Announced" in said) == (type.policy.announce and not private)


def test_every_shipped_type_is_looked_at(shipped: dict[str, IncidentType]) -> None:
    assert set(shipped) == set(SLUGS)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_type_itself_says_what_it_asks_for(
    slug: str, shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    policy = shipped[slug].policy
    said = browse(ada).get(f"/types/{slug}/versions/1").content.decode()
    assert ("Public channel" in said) != policy.private
    assert ("Announced to everyone" in said) == policy.announce
