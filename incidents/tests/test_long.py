"""Long text, or a time far away, must not cause trouble for anyone later."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from incidents import lifecycle, search
from incidents.forms import TypeForm
from incidents.models import Incident
from incidents.policies import policy_file
from incidents.policies.policy_file import BadTypesFile
from incidents.views.page import read_place


def test_entries_are_written_however_many_words_an_incident_has_already(incident: Incident) -> None:
    half = "(SELECT strip(to_tsvector(string_agg(md5(i::text), ' '))) FROM generate_series(%s::int, %s::int) i)"
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE incidents_incident SET words = {half} || {half} WHERE id = %s",  # noqa: S608  # constants
            [1, 16_000, 16_001, 32_000, incident.pk],
        )
    logs = [" ".join(uuid4().hex for _ in range(300)) for _ in range(4)]
    for log in logs:
        lifecycle.note(incident, text=log, by=None, at=timezone.now())
    lifecycle.resolve(incident, by=None, at=timezone.now())
    assert list(incident.events.values_list("kind", flat=True).order_by("-n")[:1]) == ["resolved"]


def test_a_role_has_a_name_that_fits_where_it_is_kept() -> None:
    role = "the one who " * 20
    form = TypeForm(data={"one_of": f"{role}: @support"})  # type: ignore[arg-type]  # a plain mapping will do
    assert "at most 80 characters" in str(form.errors["one_of"])
    with pytest.raises(BadTypesFile, match="at most 80"):
        policy_file.parse(f"types: [{{slug: ab, name: A, says: b, one_of: [{{role: {role}, group: x}}]}}]", file="t")
    with pytest.raises(BadTypesFile, match="at most 200"):
        policy_file.parse(f"types: [{{slug: ab, name: A, says: b, checklist: [{role}]}}]", file="t")


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-01-01", ""])
def test_a_time_that_no_database_takes_is_no_place_in_a_list(at: str) -> None:
    assert read_place(f"{at}_1") is None
    assert not search.is_cursor(f"1.{at}.amber-otter")


def test_more_services_than_fit_are_refused_and_none_is_dropped(incident: Incident) -> None:
    fifty = [f"service {number}" for number in range(50)]
    lifecycle.serve(incident, services=[*fifty, "service  0"], by=None, at=timezone.now())
    with pytest.raises(lifecycle.BadInput, match="You named 51"):
        lifecycle.serve(incident, services=[*fifty, "Checkout"], by=None, at=timezone.now())
    assert Incident.objects.get(pk=incident.pk).services == fifty
