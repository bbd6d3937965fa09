"""The panel with the plan's progress, and the retry button."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.models import Incident, Person
from workflows.models import Effect, Limit
from workflows.tests.test_views_retype import Open


@pytest.fixture
def failed(incident: Incident) -> Effect:
    """Record an effect that the vendor refused."""
    return _effect(incident, state=Effect.State.FAILED, error="The channel is gone. Press retry.")


def _effect(incident: Incident, **values: object) -> Effect:
    at = timezone.now()
    given: dict[str, object] = {
        "key": "topic/1#1",
        "thing": "topic/1",
        "kind": "topic",
        "verb": "create",
        "sentence": "set the topic",
        "sign": "+",
        "method": "conversations.setTopic",
        "rank": 5,
        "room": 1,
        "revision": 1,
        "due_at": at,
        "created_at": at,
    }
    return Effect.objects.create(incident=incident, **(given | values))


def progress_page(incident: Incident, more: str = "") -> str:
    return f"/incidents/{incident.codename}/progress{more}"


def test_what_failed_stands_first_in_the_vendors_words(failed: Effect, ada: Person, browse: Open) -> None:
    page = browse(ada).get(progress_page(failed.incident)).content.decode()
    assert "1 failed" in " ".join(page.split())
    assert "The channel is gone. Press retry." in page
    assert "Retry" in page


def test_a_failed_effect_is_tried_again(failed: Effect, ada: Person, browse: Open) -> None:
    address = f"/incidents/{failed.incident.codename}/retry/{failed.pk}"
    assert browse(ada).post(address).status_code == 302
    failed.refresh_from_db()
    assert failed.state == Effect.State.WAITING
    assert browse(ada).post(address).status_code == 404


def test_an_effect_of_another_incident_is_not_there(
    failed: Effect, secret: Incident, ada: Person, browse: Open
) -> None:
    assert browse(ada).post(f"/incidents/{secret.codename}/retry/{failed.pk}").status_code == 404
    failed.refresh_from_db()
    assert failed.state == Effect.State.FAILED


def test_waiting_for_slack_says_until_when(incident: Incident, ada: Person, browse: Open) -> None:
    _effect(incident, needs=[])
    until = timezone.now() + timedelta(seconds=90)
    Limit.objects.create(vendor="slack", method="conversations.setTopic", blocked_until=until)
    assert "waiting for Slack until" in browse(ada).get(progress_page(incident)).content.decode()


def test_nothing_moved_is_no_content(failed: Effect, ada: Person, browse: Open) -> None:
    client, headers = browse(ada), {"HX-Request": "true"}
    panels = client.get(progress_page(failed.incident), headers=headers).content.decode()
    seen = panels.split("?seen=", 1)[1].split('"', 1)[0]
    assert client.get(progress_page(failed.incident, f"?seen={seen}"), headers=headers).status_code == 204
    _effect(failed.incident, key="topic/1#2")
    assert client.get(progress_page(failed.incident, f"?seen={seen}"), headers=headers).status_code == 200


def test_everybody_is_named_with_why_they_are_here(secret: Incident, ada: Person, browse: Open) -> None:
    page = browse(ada).get(progress_page(secret)).content.decode()
    assert "declared it" in page
    assert "Ben" in page
