"""A form that declares counts once: submitted twice, or gone back to, it leads to the incident it declared."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person
from incidents.tests import shipped
from incidents.tests.conftest import Open, someone

NOW = timezone.now


def form_of(client: Client) -> dict[str, str]:
    """Return the hidden fields of the page's form before anyone typed."""
    page = client.get("/declare").content.decode()
    return dict(re.findall(r'<input type="hidden" name="(since)" value="([^"]*)">', page))


@pytest.mark.usefixtures("shipped")
def test_the_same_form_leads_to_the_same_incident_whether_it_was_kept_or_fetched_again(
    ada: Person, browse: Open
) -> None:
    client = browse(ada)
    kept, title = form_of(client), {"title": "Checkout is slow", "type": "isolated"}
    first = client.post("/declare", kept | title)["Location"]
    for again in (kept, form_of(client), kept):
        answer = client.post("/declare", again | title)
        assert answer["Location"] == first
        assert "You already declared this" in client.get(first).content.decode()
    assert Incident.objects.count() == 1


steps = st.tuples(
    st.sampled_from(["Ada", "Ben"]),
    st.sampled_from(["Checkout is slow", "Search is slow"]),
    st.booleans(),
    st.sampled_from(["press", "end", "wait"]),
)


class Declared(TestCase):
    @settings(max_examples=25, deadline=None)
    @given(story=st.lists(steps, min_size=1, max_size=8))
    def test_nobody_gets_another_of_what_they_declared_just_now_and_everybody_else_does(
        self, story: list[tuple[str, str, bool, str]]
    ) -> None:
        shipped.bring()
        people = {name: someone(name) for name in ("Ada", "Ben")}
        type, at = IncidentType.objects.get(slug="ambiguous"), NOW()
        active: dict[tuple[str, str, bool], Incident] = {}
        for name, title, drill, after in story:
            at += timedelta(seconds=1)
            who, key = people[name], (name, title, drill)
            found = lifecycle.declare(title, by=who, at=at, type=type, is_drill=drill, since=at)
            assert (found == active[key]) if key in active else (found not in active.values())
            active[key] = found
            if after == "end":
                lifecycle.resolve(active.pop(key), by=who, at=at)
            if after == "wait":
                at += lifecycle.declaring.GOES_BACK
                active.clear()
        apart = lifecycle.declare("Checkout is slow", by=people["Ada"], at=at, type=type)
        assert apart not in active.values(), "what no form sent is declared as often as it is said"
