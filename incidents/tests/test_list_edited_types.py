"""If a type is edited while incidents have it, the list shows each one's own version, like its page and Slack."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person
from incidents.policies import types
from incidents.search import IncidentFilters, find, jumps, open_now
from incidents.tests.conftest import Open
from incidents.views.lists import list_rows

EDITS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.just("Another word"),
        "colour": st.just("grey"),
        "customer_facing": st.booleans(),
        "internal": st.booleans(),
        "update_every_min": st.sampled_from([None, 30, 600]),
    },
)


@given(st.dictionaries(st.sampled_from(["ambiguous", "internal", "major", "time-bomb"]), EDITS, min_size=1))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_list_says_of_each_incident_what_it_goes_by_itself(
    shipped: dict[str, IncidentType], ada: Person, edits: dict[str, dict[str, Any]]
) -> None:
    at = timezone.now()
    with transaction.atomic():
        for slug in ("ambiguous", "internal", "major", "time-bomb"):
            lifecycle.declare(f"Checkout is slow, {slug}", by=ada, at=at - timedelta(hours=3), type=shipped[slug])
        for slug, edit in edits.items():
            edited = IncidentType.objects.select_related("current").get(slug=slug)
            types.edit(edited, policy=replace(edited.policy, **edit), by=ada, at=at)

        own = {one.codename: one for one in Incident.objects.select_related("policy_version")}
        now = {one.pk: one for one in IncidentType.objects.select_related("current")}
        listed = list_rows.rows(find(IncidentFilters(), person=ada).rows, now, at=at, hits={})
        for row in listed.active:
            policy = own[row.codename].policy
            assert (row.called, row.colour) == (policy.name, policy.colour)
            assert row.overdue == own[row.codename].is_overdue(at=at)
        assert len(listed.active) == len(own)
        assert open_now.of(ada, now, at=at).overdue == sum(row.overdue for row in listed.active)
        transaction.set_rollback(True)


def test_the_palette_calls_an_incident_what_its_page_does(
    shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    incident = lifecycle.declare("Checkout is slow", by=ada, at=timezone.now())
    types.edit(incident.type, policy=replace(incident.policy, name="Another word"), by=ada, at=timezone.now())
    assert [one.codename for one in jumps("checkout", person=ada)] == [incident.codename]
    (found,) = browse(ada).get("/jump", {"q": "checkout"}).json()["incidents"]
    assert found["type"] == incident.policy.name
