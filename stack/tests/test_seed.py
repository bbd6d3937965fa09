"""What is written in bulk keeps the same promises as the verbs."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import Count, F, Max, Min
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import Codename, Event, Incident, Participant, Person
from incidents.search import IncidentFilters, find
from stack import seed
from workflows.effects import effect_queue
from workflows.planning.actions import KINDS
from workflows.reconcile import sweep

pytestmark = pytest.mark.django_db


@pytest.fixture
def seeded() -> seed.Seeded:
    call_command("load_types", verbosity=0)
    Person.objects.create(name="Ada", chat_id="U0ADA")
    connection.ensure_connection()
    database: Any = connection.connection
    return seed.fill(database, seed.Amount(incidents=60, events=12, people=30, active=0.3, in_all_private="U0ADA"))


def test_events_are_numbered_without_gaps(seeded: seed.Seeded) -> None:
    counted = Incident.objects.annotate(first=Min("events__n"), last=Max("events__n"), count=Count("events")).filter(
        first=1, last=12, count=12, last_n=12
    )
    assert counted.count() == 60


def test_codenames_are_in_their_registry(seeded: seed.Seeded) -> None:
    named = Codename.objects.filter(incident__codename=F("name"), incident__private=F("private"))
    assert set(named.values_list("name", flat=True)) == set(seeded.codenames)


def test_words_are_found(seeded: seed.Seeded) -> None:
    incident = Incident.objects.get(codename=seeded.codenames[0])
    note = Event.objects.filter(incident=incident, kind="noted").latest("n")
    # Verbatim, because PostgreSQL parses a number after a hyphen as negative.
    rare = next(one.rstrip(".") for one in note.text.split() if "-" in one)
    found = find(IncidentFilters(q=f"{incident.title} {rare}"), person=Person.objects.get(chat_id="U0ADA"))
    assert incident in found.rows


def test_private_ones_are_seen_by_their_people_alone(seeded: seed.Seeded) -> None:
    inside, outside = Person.objects.get(chat_id="U0ADA"), Person.objects.create(name="Outsider")
    assert visibility.visible_to(inside).count() == 60
    assert visibility.visible_to(outside).filter(private=True).count() == 0
    assert 0 < len(seeded.private) == Participant.objects.filter(person=inside).count()


def test_nothing_is_owed_outside(seeded: seed.Seeded) -> None:
    assert sweep.unplanned(at=timezone.now()) == []
    assert effect_queue.ready_incidents(at=timezone.now(), kinds=list(KINDS)) == {}


def test_verbs_go_on_where_the_seed_ended(seeded: seed.Seeded) -> None:
    incident = Incident.objects.filter(active=True).earliest("pk")
    assert lifecycle.note(incident, text="looks odd", by=None, at=timezone.now()).n == 13


def test_a_timeline_is_lengthened(seeded: seed.Seeded) -> None:
    database: Any = connection.connection
    seed.lengthen(database, seeded.codenames[3], events=40)
    incident = Incident.objects.get(codename=seeded.codenames[3])
    assert list(incident.events.order_by("n").values_list("n", flat=True)) == list(range(1, 41))
    assert incident.last_n == 40
