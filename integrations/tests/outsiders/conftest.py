from __future__ import annotations

from collections.abc import Iterator

import pytest

from incidents import live
from incidents.models import Incident
from integrations.tests.outsiders import scene as building
from integrations.tests.outsiders.scene import Scene


@pytest.fixture(autouse=True)
def kept_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a stream's door keep the connection, which is the test's own here."""
    monkeypatch.setattr(live, "let_go", lambda: None)


@pytest.fixture
def scene(db: None) -> Iterator[Scene]:
    """The house with its doors open and the cast in it."""
    with building.scene() as made:
        yield made


@pytest.fixture
def hidden(scene: Scene) -> Incident:
    """An incident that was public, and has everything; then it was retyped to security."""
    incident = scene.furnish(scene.declare("The xylographic printer leaks"))
    scene.alarm(incident)
    return scene.retype(incident)
