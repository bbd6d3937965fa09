"""Prebuilt SQL for what plans read and effects write does what Django's own statements do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Count
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.claiming.leases import Leases
from incidents.lifecycle import circle
from incidents.models import Event, Incident, IncidentType, Participant, Person
from incidents.tests.held_rows import all_held, held
from incidents.written_rows import WrittenInsert
from workflows.channels import rooms
from workflows.effects import effect_queue
from workflows.loading import incident_rows
from workflows.models import DirectoryRead, Effect, Group, GroupRule, Page, Resource
from workflows.usergroups import workspace_cache

pytestmark = pytest.mark.django_db

NOW = timezone.now()
WORDS = 'Größe 😀 "quoted" \\ and\nanother line, a tab\t and {braces}, 100 %s'


def effect(incident: Incident, key: str, **values: Any) -> Effect:
    stands = {"incident": incident, "key": key, "thing": key, "kind": "post", "verb": "create", "revision": 1}
    stands |= {
        "sentence": WORDS,
        "sign": "+",
        "method": "chat.postMessage",
        "rank": 3,
        "due_at": NOW,
        "created_at": NOW,
    }
    return Effect(**stands | values)


def effects(incident: Incident) -> list[Effect]:
    """Effects with as much, and as little, as any may hold."""
    full = {
        "spec": {"a": [1, None, {"b": WORDS}]},
        "labels": {WORDS: "x"},
        "needs": ["a,b", 'c"d', ""],
        "after": ["{}"],
    }
    full |= {"room": 2, "unsure": True, "abandoned": True, "begun_at": NOW - timedelta(microseconds=1), "mark": "m"}
    return [effect(incident, "full", **full), effect(incident, "bare", sentence="")]


@pytest.fixture
def many(shipped: dict[str, IncidentType], ada: Person, ben: Person, eve: Person) -> list[Incident]:
    """Two incidents with everything that plans read, and one with nothing."""
    made = []
    for n, slug in enumerate(("major", "security")):
        one = lifecycle.declare(WORDS, by=ada, at=NOW, type=shipped[slug])
        lifecycle.set_lead(one, lead=ben, by=ada, at=NOW)
        lifecycle.update(one, text=WORDS, by=ben, at=NOW)
        note = lifecycle.note(one, text=WORDS, by=ben, at=NOW)
        lifecycle.edit(one, n=note.n, text="Otherwise", by=ben, at=NOW)
        Participant.objects.create(
            incident=one, person=eve, by=ada, reason="invited", since_at=NOW + timedelta(seconds=1), left_at=NOW
        )
        Effect.objects.bulk_create([*effects(one), effect(one, "again", thing="full", state="done", ended_at=NOW)])
        Resource.objects.create(
            incident=one,
            key="channel/1",
            kind="channel",
            room=1,
            since_at=NOW,
            external={"id": WORDS},
            external_id=f"C{n}",
        )
        for m, by in enumerate((None, eve)):
            page = Page.objects.create(
                incident=one,
                key=f"page/{m}",
                target=f"policy/P{m}",
                name=WORDS,
                dedup_key=f"{n}/{m}",
                status_at=NOW,
                opened_at=NOW,
                ack_asked_by=by,
                now_ids=["PX"],
            )
            page.rung.add(ada, eve)
        made.append(one)
    made.append(lifecycle.declare("Bare", by=None, at=NOW, type=shipped["ambiguous"]))
    return [Incident.objects.get(pk=one.pk) for one in made]


def drawers(drawer: dict[int, list[Any]], *joined: str) -> dict[int, list[object]]:
    return {pk: all_held(rows, *joined) for pk, rows in drawer.items() if rows}


def in_order(events: Iterable[Event]) -> dict[int, list[Any]]:
    drawer: dict[int, list[Any]] = defaultdict(list)
    for one in events:
        drawer[one.incident_id].append(one)
    return drawer


def filed(rows: Any, *joined: str) -> dict[int, list[object]]:
    drawer: dict[int, list[Any]] = defaultdict(list)
    for one in rows:
        drawer[one.incident_id].append(one)
    return drawers(drawer, *joined)


@pytest.mark.parametrize("which", [[0], [1], [2], [0, 1, 2]], ids=["public", "private", "bare", "all"])
def test_a_plan_reads_what_django_reads(many: list[Incident], which: list[int]) -> None:
    incidents = [many[n] for n in which]
    rows = incident_rows.read(incidents)
    incident_rows.read_outside(incidents, rows)
    of = {"incident__in": incidents}
    taking_part = Participant.objects.filter(**of).order_by("since_at", "pk")
    assert drawers(rows.participants, "person", "by") == filed(taking_part, "person", "by")
    told = Event.objects.filter(**of, kind__in=incident_rows.NEWS, incident__last_n__gt=1).order_by("n")
    assert drawers(rows.events, "by") == filed(told, "by")
    changes = Event.objects.filter(**of, about_n__isnull=False)
    assert drawers(in_order(rows.changes.values()), "by") == filed(changes.order_by("n"), "by")
    assert drawers(rows.pages, "ack_asked_by") == filed(Page.objects.filter(**of).order_by("pk"), "ack_asked_by")
    rung = [sorted(one.pk for one in page.rung.all()) for pages in rows.pages.values() for page in pages]
    assert rung == [sorted(page.rung.values_list("pk", flat=True)) for page in Page.objects.filter(**of).order_by("pk")]
    owed = Effect.objects.filter(**of, state__in=["waiting", "running", "failed"]).order_by("pk")
    assert drawers(rows.effects) == filed(owed)
    assert drawers(rows.resources) == filed(Resource.objects.filter(**of).order_by("pk"))
    counted = Effect.objects.filter(**of).values_list("incident", "thing").annotate(times=Count("pk"))
    assert {(pk, thing, n) for pk, some in rows.counts.items() for thing, n in some.items()} == set(counted)


@pytest.mark.parametrize("n", [0, 1])
def test_a_channel_is_read_with_its_incident(many: list[Incident], n: int) -> None:
    read = rooms.channel_row(f"C{n}")
    assert read is not None
    joined = ("type", "policy_version", "lead", "declared_by")
    by_django = Resource.objects.select_related("incident").get(external_id=f"C{n}")
    assert all_held([read], "incident") == all_held([by_django], "incident")
    assert all_held([read.incident], *joined) == all_held([by_django.incident], *joined)
    assert rooms.channel_row("C-none") is None


@pytest.mark.parametrize("ruled", [True, False])
def test_groups_are_read_with_whether_a_rule_keeps_them(workspace: None, ada: Person, ben: Person, ruled: bool) -> None:
    Group.objects.filter(handle="security").update(members=[ada.chat_id, "U-unknown"])
    rule = GroupRule.objects.create(handle="security", active=ruled, created_at=NOW)
    rule.permanent.add(ben)
    read = workspace_cache.members(["security", "support", "none"])
    inside = {one.person_id for one in read["security"] or ()}
    assert inside == ({ben.pk} if ruled else {ada.pk})
    assert (read["support"], read["none"]) == ((), None)
    Group.objects.all().delete()
    DirectoryRead.objects.all().delete()
    assert workspace_cache.members(["security"]) == {}


def test_what_is_inserted_is_what_django_inserts(incident: Incident) -> None:
    WrittenInsert(Effect).add(effects(incident))
    written = all_held(Effect.objects.order_by("pk"), but=("id",))
    Effect.objects.all().delete()
    Effect.objects.bulk_create(effects(incident))
    assert written == all_held(Effect.objects.order_by("pk"), but=("id",))
    WrittenInsert(Effect).add([])
    assert Effect.objects.count() == len(written)


def upserted(add: Callable[[list[Resource]], object], incident: Incident) -> list[object]:
    Resource.objects.all().delete()
    for label, at in (("#before", NOW), ("#after", NOW + timedelta(hours=1))):
        stands: dict[str, Any] = {"incident": incident, "kind": "channel", "label": label, "since_at": at}
        add([Resource(key=key, spec={label: [WORDS]}, external={"at": label}, **stands) for key in ("a", label)])
    return all_held(Resource.objects.order_by("key"), but=("id",))


def test_what_is_there_takes_on_what_django_has_it_take_on(incident: Incident) -> None:
    def by_django(rows: list[Resource]) -> object:
        keep = effect_queue.KEEP
        return Resource.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=keep.unique, update_fields=keep.update
        )

    assert upserted(effect_queue.KEEP.add, incident) == upserted(by_django, incident)


def test_who_comes_in_again_is_in_anew(incident: Incident, ada: Person, eve: Person) -> None:
    Participant.objects.filter(incident=incident).delete()
    gone = {"left_at": NOW, "went": True, "by": ada}
    Participant.objects.create(incident=incident, person=eve, reason="invited", since_at=NOW, **gone)
    entries = [circle.Entrant(one.pk, one.name, "group", "g" * 130) for one in (ada, eve)]
    circle.admit(incident, circle.Admission(entries=tuple(entries)), by=None, at=NOW, source="system")
    for one in Participant.objects.filter(incident=incident):
        assert (one.reason, one.detail, one.by_id, one.left_at, one.went) == ("group", "g" * 120, None, None, False)
    assert Participant.objects.filter(incident=incident).count() == 2


@pytest.mark.parametrize(
    "moved",
    [{}, {"token": 8}, {"state": "waiting"}, {"token": 8, "state": "done"}],
    ids=["mine", "token", "state", "both"],
)
def test_only_its_holder_records_what_came_of_a_row(incident: Incident, moved: dict[str, Any]) -> None:
    leases = Leases(Effect.objects, working=Effect.State.RUNNING, length=lambda: timedelta(seconds=1), beats=3)
    row = effect(incident, "a", state="running", token=7)
    row.save()
    other = effect(incident, "b", state="running", token=7)
    other.save()
    Effect.objects.filter(pk=row.pk).update(**moved)
    by_django = leases.mine(row).exists()
    says = {"state": Effect.State.DONE, "ended_at": NOW, "spec": {"x": [WORDS]}, "needs": ["a", "b"], "error": WORDS}
    recorded = leases.record(row, asking="state = 'done'", **says)
    assert recorded is (True if by_django else None)
    assert by_django is not bool(moved)
    after = Effect.objects.get(pk=row.pk)
    assert all(getattr(after, name) == value for name, value in says.items()) is by_django
    assert held(Effect.objects.get(pk=other.pk)) == held(other)


def test_an_incident_that_is_not_there_is_read_as_none() -> None:
    assert visibility.one(visibility.OPERATOR, "i.id = %s", [0]) is None
