"""The sample incidents of the demo: created by the verbs, honest about what they are, and without outside effects."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import call_command

from evidence.models import Evidence, Finding
from incidents.models import Event, Followup, Incident, IncidentType, Person, Source
from incidents.reading import last_said
from reviews.models import SectionText
from stack.samples import making, sample_file
from workflows.reconcile import reconcile

pytestmark = pytest.mark.slow

NOW = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)


@pytest.fixture
def made(db: None) -> list[Incident]:
    call_command("load_types", stdout=StringIO())
    samples = sample_file.read()
    steps = [step for one in samples for step in one.steps]
    handles = {one.by for one in samples} | {step.by for step in steps}
    handles |= {who for step in steps for who in step.more.get("who", ())}
    for handle in sorted(handles):
        Person.objects.create(chat_id=f"U0{handle.upper()}", name=handle.capitalize(), email=f"{handle}@example.com")
    return making.make(samples, now=NOW)


def test_every_entry_says_that_it_is_sample_data(made: list[Incident]) -> None:
    assert {one.source for one in Event.objects.exclude(source=Source.SYSTEM)} == {Source.SAMPLE}
    assert all("Sample data" in one.summary for one in Incident.objects.all())


def test_nothing_happens_later_than_now_and_each_timeline_goes_forward(made: list[Incident]) -> None:
    for incident in made:
        at = list(Event.objects.filter(incident=incident).order_by("n").values_list("at", flat=True))
        assert at == sorted(at), incident.title
        assert at[-1] <= NOW, incident.title


def test_there_is_something_of_everything(made: list[Incident]) -> None:
    active = {one.type.slug for one in Incident.objects.filter(active=True).select_related("type")}
    assert (
        {"ambiguous", "isolated", "internal", "time-bomb"} <= active <= {one.slug for one in IncidentType.objects.all()}
    )
    assert Incident.objects.filter(active=False, private=True).exists()
    assert Evidence.objects.count() >= 4
    assert Finding.objects.filter(verdict="root_cause").exists()
    assert Followup.objects.filter(incident__active=False, owner__isnull=False).exists()
    assert SectionText.objects.exclude(text="").exists()


def test_the_open_ones_say_whom_it_hurts_and_what_is_done_next_by_whom(made: list[Incident]) -> None:
    for incident in Incident.objects.filter(active=True):
        stated = last_said.of([incident]).get(incident.pk, {})
        assert {"impact", "next_step"} <= set(stated), incident.title
        assert stated["next_step"].event.data["owner"], incident.title


def test_who_ended_asks_for_nothing_outside(made: list[Incident]) -> None:
    for incident in Incident.objects.filter(active=False):
        assert reconcile.reconcile(incident.pk, at=NOW).is_empty, incident.title


def test_they_are_made_once(made: list[Incident]) -> None:
    assert made
    assert not making.make(sample_file.read(), now=NOW)
