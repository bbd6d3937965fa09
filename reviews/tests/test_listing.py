"""The list of reviews counts all of them, however many it shows."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Person
from incidents.tests.conftest import Open
from reviews import editing
from reviews.views import listing


@pytest.mark.usefixtures("shipped")
def test_a_heading_counts_more_than_are_shown(ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST", 2)
    for number in range(4):
        incident = lifecycle.declare(f"Slow {number}", by=ada, at=timezone.now())
        lifecycle.resolve(incident, by=ada, at=timezone.now())
        editing.publish(incident, by=ada, at=timezone.now())
    page = browse(ada).get("/reviews").content.decode()
    assert re.findall(r'class="number">(\d+)<', page) == ["4"]
    assert "The 2 that changed last." in page
