"""Prewritten SQL for pages returns what Django would, and reads no more rows as incidents accumulate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from evidence.findings import findings
from evidence.models import Evidence, Finding
from evidence.views import listing
from incidents import timeline
from incidents.followups import followup_lists
from incidents.models import Event, Followup, Incident, Person, Proposal
from incidents.models.people import Role
from incidents.people import person_matching
from incidents.reading import catch_up_reading
from incidents.second_manager import proposals
from incidents.tests import shipped
from incidents.tests.held_rows import all_held
from stack import seed
from stack.tests.test_growth import fill
from workflows.loading import incident_rows
from workflows.models import Effect, Page, Resource
from workflows.status import page_status

pytestmark = pytest.mark.django_db
FEW, MORE = 60, 600
# There are thirty people for any number of incidents: a plan may read all of them or each member individually.
ROWS_READ = (
    "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables"
    " WHERE relname <> 'incidents_person'"
)
Read = Callable[[Incident], Iterable[Model]]
# How a page reads some part of an incident, how Django reads it, and which fields are joined.
BOTH: dict[str, tuple[Read, Read, tuple[str, ...]]] = {
    "events": (
        lambda one: timeline.read("e.incident_id = %s ORDER BY e.n", [one.pk]),
        lambda one: Event.objects.filter(incident=one).select_related("by").order_by("n"),
        ("by",),
    ),
    "latest": (
        lambda one: [entry.event for entry in catch_up_reading.read_with_latest(one, limit=500)],
        lambda one: Event.objects.filter(incident=one).exclude(kind__in=timeline.ABOUT_OTHERS).order_by("n"),
        ("by",),
    ),
    "effects": (
        incident_rows.effects_of,
        lambda one: Effect.objects.filter(incident=one).order_by("pk"),
        (),
    ),
    "resources": (
        incident_rows.resources_of,
        lambda one: Resource.objects.filter(incident=one).order_by("pk"),
        (),
    ),
    "pages": (
        lambda one: page_status.PAGE.read(page_status.NEWEST_FIRST, [one.pk]),
        lambda one: Page.objects.filter(incident=one).order_by("-opened_at", "-pk"),
        ("asked_by",),
    ),
    "evidence": (
        listing.newest,
        lambda one: Evidence.objects.filter(incident=one).exclude(state="withdrawn").order_by("-n"),
        ("added_by",),
    ),
    "findings": (
        lambda one: sorted(findings.of(one), key=lambda found: found.n),
        lambda one: Finding.objects.filter(incident=one).order_by("n"),
        ("by",),
    ),
    "followups": (
        followup_lists.of_incident,
        lambda one: Followup.objects.filter(incident=one).order_by("n"),
        ("owner",),
    ),
}


@pytest.mark.parametrize("what", sorted(BOTH))
def test_a_page_reads_as_django_reads(what: str) -> None:
    _full()
    read, by_django, along = BOTH[what]
    seen = 0
    for incident in Incident.objects.all():
        ours, theirs = list(read(incident)), list(by_django(incident))
        assert all(name in one._state.fields_cache for one in ours for name in along)
        assert all_held(ours, *along, but=()) == all_held(theirs, *along, but=())
        seen += len(ours)
    assert seen, "there is something to read"


def test_a_manager_confirms_what_another_proposed() -> None:
    ada, ben = (person_matching.by_chat_id(f"U{name}", name=name) for name in ("ADA", "BEN"))
    Person.objects.filter(pk__in=[ada.pk, ben.pk]).update(role=Role.MANAGER)
    ada.refresh_from_db()
    for by, state in ((ada, "waiting"), (ben, "waiting"), (ben, "confirmed"), (ben, "withdrawn")):
        Proposal.objects.create(kind="group", payload={}, about="a", says="b", by=by, at=timezone.now(), state=state)
    assert proposals.to_confirm(ada) == 1


def test_a_page_reads_no_more_rows_as_incidents_add_up() -> None:
    """Whatever values PostgreSQL plans for: after enough executions, a prepared statement gets a generic plan."""
    shipped.bring()
    fill(FEW)
    ada = Client()
    ada.force_login(User.objects.create_user("ada", password="of-no-use-elsewhere"))
    incident = Incident.objects.filter(private=False).latest("pk")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    few = _rows_read(ada, incident)
    fill(MORE - FEW)
    more = _rows_read(ada, incident)
    assert 0 < more <= few + 5


def _rows_read(client: Client, incident: Incident) -> int:
    """Count the rows that a page's statements read, once they are prepared."""
    address = incident.get_absolute_url()
    for _ in range(8):
        assert client.get(address).status_code == 200
    before = _counted()
    client.get(address)
    return _counted() - before


def _counted() -> int:
    with connection.cursor() as cursor:
        cursor.execute(ROWS_READ)
        (rows,) = cursor.fetchone() or (0,)
    return int(rows)


def _full() -> None:
    shipped.bring()
    connection.ensure_connection()
    database: Any = connection.connection
    amount = seed.Amount(incidents=20, events=8, people=9, active=0.5, lives=True)
    seed.fill(database, amount, at=timezone.now())
    someone = Person.objects.first()
    Page.objects.filter(pk__in=list(Page.objects.values_list("pk", flat=True)[::2])).update(asked_by=someone)
    Followup.objects.filter(n=1).update(owner=someone)
    Finding.objects.filter(n=1).update(by=someone)
    Evidence.objects.filter(n=1).update(added_by=someone)
