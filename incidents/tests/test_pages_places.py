"""Where controls are: they stay in place as the state changes, say what they do, and are listed in the help."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

ACTS = {
    "mitigate": lifecycle.mitigate,
    "resolve": lifecycle.resolve,
    "reopen": lifecycle.reopen,
    "cancel": lifecycle.cancel,
}
STORIES = (["mitigate"], ["mitigate", "resolve", "reopen"], ["cancel", "reopen", "mitigate", "resolve"])


def places(page: str) -> list[str]:
    """Return the header's controls before the menu, from left to right."""
    acts = page[
        page.index('<div class="acts">') : page.index('<details class="menu">\n          <summary class="button')
    ]
    return [re.sub("^(do|did)-", "", id) for id in re.findall(r'id="(d[oi]d?-[a-z]+)"', acts)]


@pytest.mark.parametrize("story", STORIES, ids="-".join)
def test_what_an_active_incident_offers_keeps_its_place_whatever_was_done(
    incident: Incident, ada: Person, browse: Open, story: list[str]
) -> None:
    client = browse(ada)
    for verb in story:
        ACTS[verb](incident, by=ada, at=timezone.now())
        incident.refresh_from_db()
        page = client.get(incident.get_absolute_url()).content.decode()
        again = [] if incident.status == "open" else ["reopen"]
        wanted = ["retype", "mitigate", "resolve", *again] if incident.is_active else ["review", "reopen"]
        assert places(page) == wanted
        offered = 'id="do-mitigate"' in page
        assert offered == (incident.status == "open"), "what is done is not offered again"


def test_the_menu_says_what_it_cancels(incident: Incident, ada: Person, browse: Open) -> None:
    page = browse(ada).get(incident.get_absolute_url()).content.decode()
    link = re.search(r'id="do-cancel".*?</a>', page, re.DOTALL)
    assert link is not None
    assert "Cancel the incident" in link[0]


@pytest.mark.parametrize("path", ["incidents", "declare", "followups", "incident"])
def test_every_shortcut_of_the_bar_is_listed_in_the_help(
    incident: Incident, ada: Person, browse: Open, path: str
) -> None:
    address = incident.get_absolute_url() if path == "incident" else reverse(path)
    page = browse(ada).get(address, follow=True).content.decode()
    help = page[page.index('<dialog id="keys"') :]
    listed = {" ".join(re.findall("<kbd>(.*?)</kbd>", keys)) for keys in re.findall("<dt>(.*?)</dt>", help)}
    assert {"g v", "g l"} <= set(re.findall('data-key="([^"]+)"', page)) <= listed
