"""Capture now, from the page of an incident's evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from incidents.models import Event, Incident, Person
from workflows import ports
from workflows.models import Effect
from workflows.planning.captures import ProfileSource
from workflows.ports import Captured
from workflows.tests.test_views_progress import _effect
from workflows.tests.test_views_retype import Open


@dataclass
class Listed:
    """A list with one source, which these tests never ask."""

    kinds: tuple[str, ...] = ("cpu", "heap")

    def sources(self) -> Sequence[ProfileSource]:
        """Return it."""
        return [ProfileSource("checkout-api", self.kinds, seconds=5)]

    def capture(self, source: str, kind: str, *, seconds: int, at: datetime) -> Captured:
        """Refuse."""
        raise NotImplementedError


@pytest.fixture(autouse=True)
def listed() -> Iterator[None]:
    with ports.using(profiler=Listed()):
        yield


def url(incident: Incident, more: str = "") -> str:
    return f"/incidents/{incident.codename}/evidence/captures{more}"


def test_one_press_asks_for_a_capture(incident: Incident, ada: Person, browse: Open) -> None:
    response = browse(ada).post(url(incident), {"what": "checkout-api/cpu", "seconds": "10"}, follow=True)
    assert "Requested: capture 10 s of CPU from checkout-api." in response.content.decode()
    event = Event.objects.get(incident=incident, kind="asked")
    assert (event.by, event.data["seconds"]) == (ada, 10)


def test_without_seconds_it_takes_as_many_as_are_usual(incident: Incident, ada: Person, browse: Open) -> None:
    browse(ada).post(url(incident), {"what": "checkout-api/heap", "seconds": ""})
    assert Event.objects.get(incident=incident, kind="asked").text == "capture the heap from checkout-api"


def test_without_seconds_the_operators_list_says_how_many(incident: Incident, ada: Person, browse: Open) -> None:
    browse(ada).post(url(incident), {"what": "checkout-api/cpu", "seconds": ""})
    assert Event.objects.get(incident=incident, kind="asked").data["seconds"] == 5


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"what": "http://169.254.169.254/latest/cpu"}, "Select a valid choice"),
        ({"what": "checkout-api/mutex"}, "Select a valid choice"),
        ({"what": "checkout-api/cpu", "seconds": "0"}, "Use a number of seconds from 1 to 300."),
        ({"what": "checkout-api/cpu", "seconds": "301"}, "less than or equal to 300"),
    ],
)
def test_what_cannot_be_captured_is_said(
    given: dict[str, str], says: str, incident: Incident, ada: Person, browse: Open
) -> None:
    response = browse(ada).post(url(incident), given)
    assert (response.status_code, says in response.content.decode()) == (422, True), response.content.decode()
    assert not Event.objects.filter(incident=incident, kind="asked").exists()


def test_a_capture_counts_down_without_a_script_too(incident: Incident, ada: Person, browse: Open) -> None:
    at = timezone.now() - timedelta(seconds=6)
    _effect(
        incident,
        key="capture/1/checkout-api/cpu#1",
        thing="capture/1/checkout-api/cpu",
        kind="capture",
        sentence="capture 15 s of CPU from checkout-api",
        spec={"seconds": 15},
        state=Effect.State.RUNNING,
        tried_at=at,
    )
    said = browse(ada).get(url(incident)).content.decode()
    assert "Capturing 15 s of CPU from checkout-api (<time" in said
    assert ">9 s left</time>" in said


def test_while_nothing_moves_the_page_is_not_sent_again(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    page = client.get(url(incident), headers={"HX-Request": "true"}).content.decode()
    seen = page.split("?seen=")[1][:16]
    assert client.get(url(incident, f"?seen={seen}"), headers={"HX-Request": "true"}).status_code == 204


def test_without_a_list_the_page_says_where_sources_are_named(incident: Incident, ada: Person, browse: Open) -> None:
    with ports.using():
        assert "PROFILE_SOURCES_FILE" in browse(ada).get(url(incident)).content.decode()


def test_an_outsider_finds_nothing(secret: Incident, browse: Open, eve: Person) -> None:
    client = browse(eve)
    assert client.get(url(secret)).status_code == 404
    assert client.post(url(secret), {"what": "checkout-api/cpu"}).status_code == 404
