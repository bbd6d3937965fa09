"""What handwritten SQL reads is what Django's own statement reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.lifecycle import declaring
from incidents.models import Codename, Incident, IncidentType, Person, SavedView
from incidents.people import person_matching
from incidents.people.accounts import AccountBackend
from incidents.policies import current_types
from incidents.search import saved_views
from incidents.tests import shipped
from incidents.tests.held_rows import held
from incidents.visibility import EVERYONE, OPERATOR, Actor

JOINED = ("type", "policy_version", "lead", "declared_by")


@pytest.fixture
def incidents(db: None) -> list[Incident]:
    """Return a public and a private incident with every field set, one with as few as possible, and a replay."""
    shipped.bring()
    ada = person_matching.by_chat_id("UADA", name="Ada")
    now = timezone.now()
    made = []
    for slug in ("major", "security"):
        type = IncidentType.objects.get(slug=slug)
        one = lifecycle.declare(
            "Slow", by=ada, at=now, type=type, summary="Since noon", services=["checkout", "search"]
        )
        lifecycle.set_lead(one, lead=ada, by=ada, at=now)
        made.append(one)
    bare = lifecycle.declare("Bare", by=None, at=now, type=IncidentType.objects.get(slug="ambiguous"))
    Incident.objects.filter(pk=bare.pk).update(declared_by=None, lead=None, roles={"scribe": ada.pk})
    replay = lifecycle.declare("Again", by=None, at=now, type=IncidentType.objects.get(slug="ambiguous"))
    Incident.objects.filter(pk=replay.pk).update(replays=made[1])
    return [*made, bare, replay]


def people() -> dict[str, Actor]:
    out = Person.objects.create(chat_id="UOUT", name="Out")
    partner = Person.objects.create(chat_id="UPARTNER", name="Partner", is_external=True)
    guest = Person.objects.create(chat_id="UGUEST", name="Guest", is_guest=True)
    left = Person.objects.create(chat_id="ULEFT", name="Left", deactivated=True)
    ada = Person.objects.get(chat_id="UADA")
    known = {"ada": ada, "out": out, "partner": partner, "guest": guest, "left": left}
    return known | {"all": EVERYONE, "operator": OPERATOR, "none": None}


def whole(incident: Incident | None) -> object:
    if incident is None:
        return None
    assert incident.get_deferred_fields() == {"words"}
    assert all(name in incident._state.fields_cache for name in JOINED)
    return held(incident), {name: held(getattr(incident, name)) for name in JOINED}


BY_KEY: tuple[str, Callable[[Incident], Any]] = ("i.id = %s", lambda one: one.pk)
BY_NAME: tuple[str, Callable[[Incident], Any]] = (visibility.OF_CODENAME, lambda one: one.codename)


@pytest.mark.parametrize("who", ["ada", "out", "partner", "guest", "left", "all", "operator", "none"])
@pytest.mark.parametrize(("where", "named"), [BY_KEY, BY_NAME], ids=["key", "codename"])
def test_an_incident_is_read_as_django_reads_it(
    incidents: list[Incident], who: str, where: str, named: Callable[[Incident], Any]
) -> None:
    actor = people()[who]
    for one in incidents:
        read = visibility.one(actor, where, [named(one)])
        by_django = visibility.visible_to(actor).select_related(*JOINED).filter(pk=one.pk).first()
        assert whole(read) == whole(by_django)


def test_what_was_read_can_be_changed_and_saved(incidents: list[Incident]) -> None:
    read = visibility.find(OPERATOR, incidents[0].codename)
    read.title = "Slower"
    read.save(update_fields=["title"])
    assert Incident.objects.get(pk=read.pk).title == "Slower"
    assert not read._state.adding


def test_a_codename_of_no_incident_names_none(db: None) -> None:
    Codename.objects.create(name="amber-otter")
    for name in ("amber-otter", "no-such"):
        with pytest.raises(Incident.DoesNotExist):
            visibility.find(OPERATOR, name)


def test_a_person_is_read_as_django_reads_them(db: None) -> None:
    made = person_matching.by_chat_id("UADA", name="Ada")
    assert held(person_matching.by_chat_id("UADA"), but=()) == held(Person.objects.get(pk=made.pk), but=())
    assert Person.objects.count() == 1


@pytest.mark.parametrize("has_person", [True, False])
def test_an_account_is_read_with_its_person_as_django_reads_both(
    db: None, django_assert_num_queries: Any, *, has_person: bool
) -> None:
    user = User.objects.create_user("ada", "ada@firekind.test", password="of-no-use-elsewhere")
    if has_person:
        Person.objects.create(name="Ada", email="ada@firekind.test", user=user)
    by_django = User.objects.select_related("person").get(pk=user.pk)
    with django_assert_num_queries(1):
        read = AccountBackend().get_user(user.pk)
        assert read is not None
        assert held(read) == held(by_django)
        assert held(getattr(read, "person", None)) == held(getattr(by_django, "person", None))
        assert not has_person or read.person.user is read


def test_an_account_that_was_switched_off_or_is_not_there_is_nobody(db: None) -> None:
    user = User.objects.create_user("ada", is_active=False)
    assert AccountBackend().get_user(user.pk) is None
    assert AccountBackend().get_user(user.pk + 1) is None


def test_views_are_read_as_django_reads_them(db: None) -> None:
    ada, ben = (Person.objects.create(name=name) for name in ("Ada", "Ben"))
    for by, name in ((ada, "Z"), (ada, "a"), (ben, "b")):
        SavedView.objects.create(person=by, name=name, query=f"?q={name}")
    by_django = SavedView.objects.filter(person=ada).order_by("name")
    assert [held(one) for one in saved_views.of(ada)] == [held(one) for one in by_django]


def test_types_are_read_as_django_reads_them(db: None) -> None:
    assert current_types.default() is None
    shipped.bring()
    IncidentType.objects.filter(slug="security").update(archived_at=timezone.now())
    by_django = IncidentType.objects.filter(current__isnull=False).select_related("current")
    for read, those in (
        (current_types.every(), by_django),
        (current_types.private(), by_django.filter(current__body__private=True)),
        ([current_types.default()], by_django.filter(is_default=True)),
    ):
        assert [(held(one), held(one and one.current)) for one in read] == [(held(o), held(o.current)) for o in those]
    assert [one.slug for one in current_types.private()] == ["security"]


ODD = 'Größe 😀 "quoted" \\ and\na tab\t, {braces}, 100 %s, checkout.charge_card and CamelCase'
WORDS = """
    SELECT words = strip(to_tsvector('english', title || ' ' || summary)) || words, words @@ plainto_tsquery('camel')
      FROM incidents_incident WHERE id = %s
"""


@pytest.mark.parametrize("full", [True, False])
def test_an_incident_is_inserted_as_django_inserts_it(incidents: list[Incident], *, full: bool) -> None:
    now, of = timezone.now(), incidents[1]
    stands: dict[str, Any] = {"type": of.type, "policy_version": of.policy_version, "declared_at": now, "typed_at": now}
    more: dict[str, Any] = {
        "lead": of.lead,
        "declared_by": of.lead,
        "summary": ODD,
        "services": [ODD, 'a,b"{}'],
        "replays": of,
    }
    more |= {"services": [ODD[:80], 'a,b"{}'], "checked": [""], "room": 2, "revision": 3, "traceparent": "00-a"}
    more |= {"roles": {ODD: 1}, "is_drill": True, "private": True, "clear_at": now, "update_due_at": now, "last_n": 1}
    by_django, written = (
        Incident(pk=1_000_000 + n, codename=f"odd-{n}", title=ODD, **stands, **(more if full else {})) for n in (1, 2)
    )
    by_django.save(force_insert=True)
    declaring.INCIDENT.add([written])
    there = declaring.INCIDENT.there(written, active=True)
    own = ("id", "codename", "words")
    assert held(Incident.objects.get(pk=written.pk), but=own) == held(by_django, but=own) == held(there, but=own)
    with connection.cursor() as cursor:
        cursor.execute(WORDS, [written.pk])
        assert cursor.fetchone() == (True, True)


def test_an_incident_that_was_declared_is_one_that_was_read(incidents: list[Incident]) -> None:
    ada, type = Person.objects.get(chat_id="UADA"), IncidentType.objects.get(slug="security")
    made = lifecycle.declare(ODD, by=ada, at=timezone.now(), type=type)
    assert made == Incident.objects.get(pk=made.pk)
    assert held(made) == held(Incident.objects.get(pk=made.pk))
    assert not made._state.adding
    made.save()
    with connection.cursor() as cursor:
        cursor.execute("SELECT words @@ plainto_tsquery('braces') FROM incidents_incident WHERE id = %s", [made.pk])
        assert cursor.fetchone() == (True,), "saving it leaves its words alone"
