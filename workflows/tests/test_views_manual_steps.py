"""Manual steps on the page: words, a button that checks first, and what stays in the old channel."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person
from workflows import ports
from workflows.models import Effect, Resource
from workflows.tests.test_views_retype import Open, retype_page


@pytest.fixture
def moved(incident: Incident, ada: Person, shipped: dict[str, IncidentType]) -> Incident:
    """An incident that became private, with something left to do in its old channel."""
    to = IncidentType.objects.select_related("current").get(slug="security")
    lifecycle.retype(incident, to=to, by=ada, at=timezone.now())
    incident.refresh_from_db()
    at = timezone.now()
    counted = {"authors": {"U9": 3}, "files": 1, "more": False}
    values = {"incident": incident, "room": 1, "label": "#old", "since_at": at}
    Resource.objects.create(key="channel/1", kind="channel", external={"id": "C1", "name": "old"}, **values)
    Resource.objects.create(key="counted/1", kind="counted", external=counted, **values)
    Effect.objects.create(
        incident=incident,
        key="archived/1#1",
        thing="archived/1",
        kind="archived",
        verb="create",
        spec={"room": 1},
        sentence="archive #old",
        sign="-",
        method="conversations.archive",
        rank=6,
        room=1,
        revision=1,
        state=Effect.State.FAILED,
        error="A workspace setting forbids this.",
        due_at=at,
        created_at=at,
    )
    return incident


def panels(client: Client, incident: Incident, **headers: str) -> str:
    page: str = client.get(f"{incident.get_absolute_url()}progress", headers=headers).content.decode()
    return page


def test_it_stands_at_the_top_of_the_incidents_page(moved: Incident, ada: Person, browse: Open) -> None:
    page = panels(browse(ada), moved, **{"HX-Request": "true"})
    top = page[page.index('id="trouble"') :]
    assert "Manual action required" in top
    assert "Archive #old in Slack" in top
    assert "Mark as done" in top


def test_without_scripts_it_stands_on_the_plans_page(moved: Incident, ada: Person, browse: Open) -> None:
    assert "Archive #old in Slack" in panels(browse(ada), moved)


def test_what_others_wrote_is_listed_by_number_and_author(moved: Incident, ada: Person, browse: Open) -> None:
    page = panels(browse(ada), moved)
    assert "3 messages and 1 file that others posted stay in #old" in page


def test_a_word_that_nobody_can_check_is_not_believed(moved: Incident, ada: Person, browse: Open) -> None:
    effect = moved.effects.get(kind="archived")
    address = f"{moved.get_absolute_url()}by-hand/{effect.pk}"
    with ports.using():
        page = browse(ada).post(address, follow=True).content.decode()
    assert "Nothing is connected, so this could not be checked" in page
    effect.refresh_from_db()
    assert effect.state == Effect.State.FAILED


def test_to_those_who_may_not_see_it_there_is_nothing(moved: Incident, ben: Person, browse: Open) -> None:
    effect = moved.effects.get(kind="archived")
    for path in (f"by-hand/{effect.pk}", "by-hand/999999"):
        assert browse(ben).post(f"{moved.get_absolute_url()}{path}").status_code == 404
    assert browse(ben).get(f"{moved.get_absolute_url()}retype/remains").status_code == 404


def test_what_turning_private_means_is_said_in_full(incident: Incident, ada: Person, browse: Open) -> None:
    page = browse(ada).get(retype_page(incident, "?to=security")).content.decode()
    assert "What closes immediately" in page
    assert "What moves" in page
    assert "Count what others posted" in page
    assert not re.search(r' (href|action)="[^"]*remains', page), "nothing leads away from what was chosen"


def test_without_a_channel_nothing_is_counted(incident: Incident, ada: Person, browse: Open) -> None:
    page = browse(ada).get(f"{incident.get_absolute_url()}retype/remains").content.decode()
    assert "count messages" in page


def test_the_sign_in_page_tells_nothing_of_where_one_was_going(moved: Incident, client: Client) -> None:
    page = client.get(moved.get_absolute_url(), follow=True).content.decode()
    assert moved.title not in page
    assert "og:" not in page
