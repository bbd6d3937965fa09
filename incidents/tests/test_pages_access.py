"""Who gets to which page: this walks every address of the project."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

from incidents.live import live_stream
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

OPEN_TO_ALL = {
    "health",
    "ready",
    "sign-in/",
    "sign-in/as/<int:pk>",
    "sign-in/with/<slug:key>",  # to a provider and back; without one there is no such page
    "sign-in/<slug:provider_id>/back",
    "sign-out/",
    "slack/events",
    "pagerduty/webhook",
    "tracker/webhook",
    "api/v1/openapi.json",
    "api/<rest:elsewhere>",  # nothing is there
    "metrics",  # only with a token, and absent if none is set
}
VALUES = {
    "<int:n>": "1",
    "<int:page>": "1",
    "<int:number>": "1",
    "<int:pk>": "1",
    "<int:effect>": "1",
    "<slug:slug>": "security",
    "<slug:ref>": "ab",
    "<slug:row>": "one",
    "<slug:section>": "summary",
}
VERBS = ("update", "note", "mitigate", "resolve", "reopen", "lead", "role", "bring", "rename", "cancel", "edit")


def routes(patterns: list[URLPattern | URLResolver] | None = None, before: str = "") -> Iterator[str]:
    for one in get_resolver().url_patterns if patterns is None else patterns:
        assert isinstance(one.pattern, RoutePattern)
        route = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from routes(one.url_patterns, route)
        else:
            yield route


def addresses(route: str, codename: str) -> list[str]:
    """Return the addresses of a route for one incident; one for each verb if the route has one."""
    for name, value in VALUES.items():
        route = route.replace(name, value)
    address = "/" + route.replace("<slug:codename>", codename)
    return [address.replace("<slug:verb>", verb) for verb in (VERBS if "<slug:verb>" in address else ("",))]


@pytest.fixture(autouse=True)
def kept_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a stream's door keep the connection, because the test shares it."""
    monkeypatch.setattr(live_stream, "let_go", lambda: None)


def of_incidents() -> list[str]:
    return [route for route in routes() if "incidents/<slug:codename>" in route]


def test_there_are_pages_of_incidents_to_walk() -> None:
    assert len(of_incidents()) >= 10


def test_nobody_unknown_gets_anywhere(secret: Incident) -> None:
    for address in (one for route in routes() if route not in OPEN_TO_ALL for one in addresses(route, secret.codename)):
        for response in (Client().get(address), Client().post(address)):
            assert response.status_code in {302, 401, 405}, address
            assert response.status_code != 302 or response["Location"].startswith("/sign-in/"), address
            assert secret.title not in response.content.decode(), address


def test_whatever_refuses_somebody_says_where_to_go_on(incident: Incident, ada: Person, browse: Open) -> None:
    client, refused = browse(ada), 0
    for route in routes():
        for address in addresses(route, incident.codename) if route not in OPEN_TO_ALL else ():
            response = client.get(address, headers={"Accept": "text/html"})
            if response.status_code >= 400 and response["Content-Type"].startswith("text/html"):
                refused += 1
                assert ' href="/' in response.content.decode(), address
                assert "default-src 'none'" in response["Content-Security-Policy"], address
    assert refused > 10


def test_a_hidden_incident_and_none_at_all_look_alike(secret: Incident, eve: Person, browse: Open) -> None:
    """For a stranger; `integrations/tests/outsiders` tests every method, and every kind of person."""
    client = browse(eve)
    for route in of_incidents():
        for hidden, absent in zip(addresses(route, secret.codename), addresses(route, "no-such"), strict=True):
            one, other = client.get(hidden), client.get(absent)
            assert one.status_code == other.status_code, hidden
            assert one.status_code in {401, 404, 405}, hidden
            assert one.content == other.content, hidden


def test_a_codename_in_capitals_leads_to_the_one_without_whatever_there_is(
    secret: Incident, ada: Person, eve: Person, browse: Open
) -> None:
    """Everyone is redirected alike before anything is looked up; the target answers as it always does."""
    for route in (one for one in of_incidents() if not one.startswith("api/") and not one.endswith("/stream")):
        for name in (secret.codename, "no-such"):
            for plain, shouted in zip(addresses(route, name), addresses(route, name.upper()), strict=True):
                for who in (ada, eve):
                    sent = browse(who).get(f"{shouted}?n=1&q=%C3%A4")
                    assert sent.status_code in {302, 405}, shouted
                    assert sent.status_code == 405 or unquote(sent["Location"]) == f"{plain}?n=1&q=ä"


@pytest.mark.parametrize(
    "written", ["#{}", "{}", "http://testserver/incidents/{}/", "\N{LEFT DOUBLE QUOTATION MARK}{}"]
)
def test_a_codename_is_understood_as_people_write_it(
    written: str, secret: Incident, incident: Incident, ada: Person, eve: Person, browse: Open
) -> None:
    said = written.format(secret.codename.upper())
    assert browse(ada).post("/access/", {"codename": said})["Location"] == f"/incidents/{secret.codename}/"
    asked = browse(eve).post("/access/", {"codename": said, "because": "it is mine"})
    assert asked["Location"] == f"/access/{secret.codename}?asked"
    said = written.format(incident.codename.upper())
    browse(ada).post(f"/incidents/{secret.codename}/duplicate", {"of": said})
    secret.refresh_from_db()
    assert secret.duplicate_of == incident


@pytest.mark.parametrize("said", ["ключ-выдра", "jörg-otter", "日本", "\u0661", "a" * 81, "amber otter"])
def test_what_is_no_codename_is_refused_in_words_and_led_nowhere(said: str, ada: Person, browse: Open) -> None:
    client = browse(ada)
    answer = client.post("/access/", {"codename": said, "because": "it is mine"})
    assert answer.status_code == 422
    assert "two words with a hyphen" in answer.content.decode()
    came = client.get("/access/", headers={"Referer": f"http://testserver/incidents/{said}/"})
    assert came.status_code == 200
    assert said not in came.content.decode()


@pytest.mark.parametrize("who", ["ada", "ben"])
def test_those_brought_in_see_the_private_page(
    who: str, secret: Incident, browse: Open, request: pytest.FixtureRequest
) -> None:
    response = browse(request.getfixturevalue(who)).get(f"/incidents/{secret.codename}/")
    assert response.status_code == 200
    assert "A token leaked" in response.content.decode()
    assert "no-store" in response["Cache-Control"]


def test_a_private_incident_is_in_no_list_and_no_search_of_a_stranger(
    secret: Incident, eve: Person, ben: Person, browse: Open
) -> None:
    for path in ("/", "/?q=token", f"/?q={secret.codename}", "/?type=security", "/?status=active", "/?me=in"):
        row = f'id="i-{secret.codename}"'
        assert row not in browse(eve).get(path).content.decode()
        assert row in browse(ben).get(path).content.decode()


def test_an_original_that_is_private_is_not_named_to_a_stranger(
    incident: Incident, secret: Incident, eve: Person, browse: Open
) -> None:
    Incident.objects.filter(pk=incident.pk).update(duplicate_of=secret, status="duplicate")
    said = browse(eve).get(f"/incidents/{incident.codename}/").content.decode()
    assert secret.codename not in said
    assert "duplicate of" not in said


def test_a_leaver_with_a_session_is_sent_away(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    Person.objects.filter(pk=ada.pk).update(deactivated=True)
    assert client.get("/").status_code == 403
