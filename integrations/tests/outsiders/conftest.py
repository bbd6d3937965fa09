from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from incidents.live import live_stream
from incidents.models import Incident
from integrations.slack.interaction import soon
from integrations.tests.outsiders import laying
from integrations.tests.outsiders.laying import Laid
from integrations.tests.outsiders.scene import Scene


@pytest.fixture(autouse=True)
def kept_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a stream's door keep the connection, which here is the test's own."""
    monkeypatch.setattr(live_stream, "let_go", lambda: None)


@pytest.fixture(autouse=True)
def patient_doors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a door wait for its call to Slack, however busy the machine is: its modal is open when it answers."""
    monkeypatch.setattr(soon, "WAIT_S", 30.0)


@pytest.fixture(scope="module")
def laid(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Laid[Incident]]:
    """An incident that was public and has some of everything, then retyped to security. Built once per module."""
    with laying.laid(django_db_blocker, turned_private) as made:
        yield made


def turned_private(scene: Scene) -> Incident:
    incident = scene.furnish(scene.declare("The xylographic printer leaks"))
    scene.alarm(incident)
    return scene.retype(incident)


@pytest.fixture
def copied(laid: Laid[object], db: None) -> Iterator[Laid[object]]:
    """What the module laid out, untouched by other tests."""
    with laying.copied(laid) as made:
        yield made


@pytest.fixture
def scene(copied: Laid[object]) -> Scene:
    """The house with its doors open and the cast in it."""
    return copied[0]


@pytest.fixture
def hidden(copied: Laid[Incident]) -> Incident:
    """The incident that is now private."""
    return copied[1]
