"""The panels of an incident's page: whatever happens, one update makes them what a page opened now would show."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import product
from typing import cast

import pytest
from django.db import OperationalError
from django.http import Http404
from django.test import Client, RequestFactory, override_settings
from django.test.html import Element, parse_html
from django.urls import get_resolver
from django.utils import timezone

from evidence.findings import findings
from evidence.intake import receiving
from incidents import lifecycle
from incidents.lifecycle import access
from incidents.models import Incident, IncidentType, Person
from incidents.tests.conftest import Open
from incidents.tests.test_live_pages import cursor
from incidents.views import panels
from incidents.views.panels import VARIES, Panel, PanelState
from incidents.views.signed_in import Request
from workflows.models import Alert, Effect, Page, Resource
from workflows.status import workers
from workflows.tests.test_views_alerts import alert
from workflows.tests.test_views_pages import paged
from workflows.tests.test_views_progress import _effect

PANELS = ["access", "alerts", "evidence", "findings", "plan"]
ELEMENTS = {
    "access",
    "asking",
    "pages",
    "you-paged",
    "progress",
    "trouble",
    "retyped",
    "channel-link",
    "alerts",
    "evidence",
    "findings",
}


@pytest.fixture(autouse=True)
def _pages() -> None:
    """Load the pages: each registers its panel."""
    assert get_resolver().url_patterns


def elements(text: str) -> dict[str, str]:
    """Return the elements that panels fill, by id, without what differs between responses."""
    found = [one for one in _below(parse_html(VARIES.sub("", text))) if ("hx-preserve", "") not in one.attributes]
    return {id: str(one) for one in found if (id := _id(one)) in ELEMENTS}


def _below(node: Element) -> Iterator[Element]:
    yield node
    for child in node.children:
        if isinstance(child, Element):
            yield from _below(child)


def _id(node: Element) -> str:
    return next((value or "" for name, value in node.attributes if name == "id"), "")


class OpenPage:
    """An open page, which asks for news as its script does."""

    def __init__(self, client: Client, incident: Incident) -> None:
        self.client = client
        self.text = client.get(incident.get_absolute_url()).content.decode()
        self.shown = elements(self.text)

    def look(self) -> set[str]:
        """Take in what is new, and return what was sent."""
        answer = self.client.get(cursor(self.text))
        sent = elements(f"<main>{answer.content.decode()}</main>") if answer.status_code != 204 else {}
        self.shown |= sent
        self.text = answer.content.decode() + self.text  # the first match wins
        return set(sent)


def test_whatever_happens_one_look_shows_what_a_fresh_page_would(
    incident: Incident, ada: Person, ben: Person, eve: Person, browse: Open, shipped: dict[str, IncidentType]
) -> None:
    at = timezone.now()
    long_ago = at - timedelta(minutes=2)
    client = browse(ada)

    def bring() -> None:
        receiving.receive(incident, body=io.BytesIO(b"a;b 1\n"), title="CPU", by=ada, via="upload", at=at)

    def retype() -> None:
        lifecycle.retype(incident, to=shipped["security"], because="a leak", by=ada, at=at)
        incident.refresh_from_db()

    def ask_in() -> None:
        lifecycle.ask_in(incident.codename, person=eve, because="I run it", at=at)
        access.carry(at=at)

    happens: dict[str, tuple[Callable[[], object], str]] = {
        "an alert": (lambda: alert("Q1", incident), "alerts"),
        "its end": (lambda: Alert.objects.update(status="resolved"), "alerts"),
        "an effect": (lambda: _effect(incident, spec={"text": "a topic"}), "progress"),
        "a failure": (lambda: Effect.objects.update(state="failed", error="The channel is gone."), "trouble"),
        "a page": (lambda: paged(incident), "pages"),
        "an answer": (lambda: Page.objects.update(status="acknowledged", status_by="Ben"), "pages"),
        "a gap": (lambda: _gap(incident), "trouble"),
        "a channel": (lambda: _channel(incident), "channel-link"),
        "no workers": (lambda: workers.say_alive("w", kind="worker", alone_since=None, at=long_ago), "progress"),
        "a claim": (lambda: findings.claim(incident, text="It's the cache", by=ada, at=at), "findings"),
        "a file": (bring, "evidence"),
        "somebody in": (lambda: lifecycle.joined(incident, person=ben, room=1, inviter=None, at=at), "progress"),
        "private": (retype, "access"),
        "a request": (ask_in, "asking"),
        "the end": (lambda: lifecycle.resolve(incident, text="", by=ada, at=at), "pages"),
    }  # fmt: skip
    page = OpenPage(client, incident)
    for name, (happen, element) in happens.items():
        assert page.look() == set(), f"before {name} nothing is sent twice"
        happen()
        assert element in page.look(), name
        fresh = elements(client.get(incident.get_absolute_url()).content.decode())
        assert page.shown == fresh, name


@override_settings(PANEL_FAULTS_ARE_RAISED=False)
@pytest.mark.parametrize("where", list(product(PANELS, ["facts", "read"])))
def test_a_fault_in_one_panel_is_said_in_its_place_and_is_that_panels_alone(
    where: tuple[str, str],
    incident: Incident,
    ada: Person,
    browse: Open,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    client, (name, failing) = browse(ada), where
    assert set(PANELS) == set(panels.registered)
    whole = OpenPage(client, incident)
    page = OpenPage(client, incident)
    panel = panels.registered[name]
    its_own = {key.replace("_", "-") for key in panel.elements}

    def fail(*_: object) -> PanelState:
        raise KeyError("of a slip")

    monkeypatch.setitem(panels.registered, name, _failing(panel, failing, fail))
    fresh = OpenPage(client, incident)
    assert "This part of the page couldn't be shown" in fresh.text
    assert {id: fresh.shown.get(id) for id in ELEMENTS - its_own} == {
        id: whole.shown.get(id) for id in ELEMENTS - its_own
    }
    assert f"could not draw the panel {name}" in caplog.text
    assert page.look() == its_own, "an open page hears of it once"
    assert page.look() == set()
    monkeypatch.setitem(panels.registered, name, panel)
    assert page.look() == its_own
    assert page.shown == whole.shown


@override_settings(PANEL_FAULTS_ARE_RAISED=False)
@pytest.mark.parametrize("failing", ["facts", "read"])
@pytest.mark.parametrize("error", [OperationalError("gone"), Http404()])
def test_what_the_whole_page_has_an_answer_to_is_not_a_fault_of_a_panel(
    error: Exception, failing: str, incident: Incident, rf: RequestFactory, monkeypatch: pytest.MonkeyPatch
) -> None:

    def fail(*_: object) -> PanelState:
        raise error

    monkeypatch.setitem(panels.registered, "alerts", _failing(panels.registered["alerts"], failing, fail))
    with pytest.raises(type(error)):
        panels.draw(cast("Request", rf.get("/")), incident, panels.facts(incident))


def _failing(panel: Panel, where: str, fail: Callable[..., PanelState]) -> Panel:
    return panel._replace(read=fail) if where == "read" else panel._replace(facts=fail)


def _gap(incident: Incident) -> None:
    Resource.objects.create(
        incident=incident, key="gap/group/dba", kind="gap", label="@dba is empty", since_at=timezone.now()
    )


def _channel(incident: Incident) -> None:
    external = {"id": "C1", "name": incident.codename, "url": "https://chat.example/C1"}
    given = {"label": incident.codename, "external": external, "external_id": "C1", "room": incident.room}
    Resource.objects.create(
        incident=incident, key=f"channel/{incident.room}", kind="channel", since_at=timezone.now(), **given
    )
