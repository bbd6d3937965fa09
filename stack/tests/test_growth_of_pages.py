"""No page reads more rows when there are more incidents that ended long ago."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client

from incidents.live import live_stream
from incidents.models import Incident, Person
from incidents.search import near_words, search_pages
from incidents.tests.test_pages_access import OPEN_TO_ALL, addresses, routes
from integrations.tests import house as building
from integrations.tests.test_membership import signed_in
from reviews.views import listing
from stack import seed
from stack.tests.test_growth import FEW, MORE, RowsRead, explaining, fill, total

ELSEWHERE = "Nobody responds to this"
# Filters that match few or none of the incidents; what matches many is read from the newest on.
ASKED = (
    *("?q=xylographic", "?q=zqzq+vwvw", "?status=active", "?status=open", "?status=mitigated", "?me=lead", "?me=in"),
    *("?lead=Nobody", "?person=Nobody", f"?person={ELSEWHERE.replace(' ', '+')}", "?service=nothing", "?group=nobody"),
    *("?drills=1", "?until=2001-01-01", "?since=2199-01-01", "?type=nothing"),
)
BY_NATURE = {
    "/incidents.csv": "has a thousand rows",
    "/insights/": "counts a quarter",
}
MORE_ROWS = 50  # for what someone leads among the new ones, for example; 600 incidents do not fit into it
LOOKED_AT = 100  # how far back to look if no index helps; in production it is farther

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _house(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(live_stream, "let_go", lambda: None)  # the connection is the test's own
    monkeypatch.setattr(near_words, "LOOKED_AT", LOOKED_AT)
    monkeypatch.setattr(search_pages, "LATEST", LOOKED_AT)
    monkeypatch.setattr(listing, "LATELY", LOOKED_AT)
    with building.house():
        yield


def test_no_page_grows_with_incidents_that_ended_long_ago() -> None:
    fill(FEW)
    clients = {who: signed_in(person) for who, person in _people().items()}
    paths = _paths(Incident.objects.filter(private=False).earliest("pk"), clients["many"])
    few = {(who, path): _rows_read(client, path) for who, client in clients.items() for path in paths}
    fill(MORE - FEW)
    more = {(who, path): _rows_read(client, path) for who, client in clients.items() for path in paths}
    grown = {one: (few[one], more[one]) for one in few if more[one] > few[one] + MORE_ROWS}
    assert not grown, f"rows read over {FEW} and {MORE} incidents: {grown}"


def test_the_page_of_an_incident_does_not_grow_with_its_timeline() -> None:
    fill(FEW)
    client, read = signed_in(_people()["many"]), list[int]()
    shorter, longer = Incident.objects.filter(private=False).order_by("pk")[:2]
    for incident, events in ((shorter, 300), (longer, 1_500)):
        seed.lengthen(connection.connection, incident.codename, events=events)
        read.append(_rows_read(client, incident.get_absolute_url()))
    assert read[1] <= read[0] + MORE_ROWS


def _people() -> dict[str, Person]:
    """Return someone who responds to nothing, a guest, and someone who takes part in many."""
    new = Person.objects.create(chat_id="U0NEW", name=ELSEWHERE)
    guest = Person.objects.create(chat_id="U0GUEST", name="Guest of few", is_guest=True)
    return {"nothing": new, "guest": guest, "many": Person.objects.get(chat_id="U0SEED0000")}


def _paths(incident: Incident, client: Client) -> list[str]:
    """Return what shows something: every page, and lists and searches that match little."""
    pages = {one for route in routes() if route not in OPEN_TO_ALL for one in addresses(route, incident.codename)}
    shown = {one for one in pages - set(BY_NATURE) - {"/sign-out/"} if client.get(one).status_code < 400}
    return sorted(shown | {f"/{asked}" for asked in ASKED} | {"/jump?q=xylographic", "/jump?q=zq+zq"})


def _rows_read(client: Client, path: str) -> int:
    """Count the rows that scans in a page's statements touch, once its caches are filled."""
    client.get(path)
    read: list[RowsRead] = []
    with connection.execute_wrapper(explaining(read)):
        client.get(path)
    return total(read)
