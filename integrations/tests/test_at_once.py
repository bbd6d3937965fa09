"""Two people act at the same moment: both are answered, as if one had come after the other."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import permutations
from pathlib import Path

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evidence.intake import digesting, receiving, withdrawing
from evidence.models import Evidence
from incidents import lifecycle, timeline
from incidents.lifecycle import Refused
from incidents.models import Event, Incident, IncidentType, Person
from incidents.models.people import Role
from incidents.people import roles
from incidents.policies import types
from integrations.tests.house import House, house
from integrations.tests.lock_order import assert_the_incident_is_held_first
from integrations.tests.outsiders.waiting import WAITING, behind
from workflows.alerts import declare_rules
from workflows.models import DeclareRule, Effect, GroupRule
from workflows.reconcile import reconcile
from workflows.usergroups import group_rules

BOTH_WAYS = list(permutations(range(2)))
ROOT = Path(__file__).resolve().parents[2]
OURS = ("audit", "evidence", "incidents", "insights", "integrations", "reviews", "workflows")


@pytest.fixture
def built(erasable: None, transactional_db: None) -> Iterator[House]:
    """A house in a database that others write to concurrently."""
    with house() as made:
        yield made


def declared(built: House, title: str = "Slow", *, type: str = "ambiguous") -> Incident:
    return lifecycle.declare(title, by=built.person("dee"), at=timezone.now(), type=built.type(type))


def tried(act: Callable[[], object]) -> Callable[[], str]:
    """Return an act that returns what its person is told."""

    def answered() -> str:
        try:
            act()
        except Refused as refused:
            return str(refused)
        return ""

    return answered


@pytest.mark.parametrize("order", BOTH_WAYS)
def test_what_is_withdrawn_while_it_is_read_is_told_to_nobody(built: House, order: tuple[int, ...]) -> None:
    incident, dee = declared(built), built.person("dee")
    brought = receiving.receive(
        incident, body=io.BytesIO(b"main;hash 61\nmain;idle 9\n"), title="CPU", by=dee, via="upload", at=timezone.now()
    )
    seen = Evidence.objects.select_related("incident").get(pk=brought.pk)
    acts = (
        lambda: withdrawing.withdraw(seen, by=dee, at=timezone.now()),
        lambda: digesting.digest(brought.pk, at=timezone.now()),
    )
    behind(lambda: timeline.hold(incident.pk), *(acts[n] for n in order))
    assert Evidence.objects.get(pk=brought.pk).state == "withdrawn"
    entries = timeline.entries(Event.objects.filter(incident=incident).order_by("n"))
    assert not [one.sentence for one in entries if one.event.kind == "evidence" and one.retracted is None]


def test_a_duplicate_and_what_it_is_of_wait_for_nobody_in_a_circle(built: House) -> None:
    """Marking it again locks the duplicate and then the original; a retype locks them the other way round."""
    lower, higher = declared(built, "Mail is slow"), declared(built)
    dee, ann, to = built.person("dee"), built.person("ann"), built.type("security")

    def mark(by: Person) -> Callable[[], object]:
        return lambda: lifecycle.duplicate(lower, of=higher, by=by, at=timezone.now())

    retype = tried(lambda: lifecycle.retype(higher, to=to, by=dee, at=timezone.now()))
    again, closed = behind(mark(dee), tried(mark(ann)), retype)
    assert "already a duplicate: Dee" in again
    assert closed == ""


def test_who_is_given_a_role_is_brought_in_at_once(built: House) -> None:
    """A referenced person is locked when the reference commits, so giving them a role must not block that."""
    incident, at = declared(built), timezone.now()
    dee, sam = built.person("dee"), built.person("sam")
    roles.give(dee, role=Role.MANAGER, by=None)

    def refer_to_sam() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT FROM incidents_person WHERE id = %s FOR KEY SHARE", [sam.pk])

    give = tried(lambda: roles.give(sam, role=Role.MANAGER, by=dee))
    bring = tried(lambda: lifecycle.bring_in(incident, people=[sam], by=dee, at=at))
    assert behind(refer_to_sam, give, bring) == ["", ""]


def test_what_failed_is_looked_for_with_its_incident_held(built: House) -> None:
    """A retry locks the incident before its effects."""
    incident, dee = built.settle(declared(built)), built.person("dee")
    lifecycle.update(incident, text="It is the cache", by=dee, at=timezone.now())
    reconcile.reconcile(incident.pk, at=timezone.now())
    assert Effect.objects.filter(incident=incident, kind="post", state="waiting").update(state="failed", unsure=True)
    lifecycle.retype(incident, to=built.type("security"), by=dee, at=timezone.now())
    with CaptureQueriesContext(connection) as asked:
        assert reconcile.reconcile(incident.pk, at=timezone.now()).doubts
    assert_the_incident_is_held_first(asked)


def test_who_takes_a_role_that_somebody_just_took_is_told(built: House) -> None:
    incident, dee = declared(built), built.person("dee")

    def take(who: str, role: str = "Scribe") -> Callable[[], object]:
        holder, seen = built.person(who), incident.last_n
        return lambda: lifecycle.set_role(
            incident, role=role, holder=holder, by=dee, at=timezone.now(), since=seen, source="web"
        )

    mine, same, other = behind(take("ann"), *map(tried, (take("ben"), take("ann"), take("ben", "Liaison"))))
    assert "Dee made Ann Scribe" in mine
    assert (same, other) == ("", "")
    assert Incident.objects.get(pk=incident.pk).role_holder_id("Scribe") == built.person("ann").pk


@pytest.mark.parametrize("order", BOTH_WAYS)
def test_the_default_type_is_one_that_is_in_use(built: House, order: tuple[int, ...]) -> None:
    dee, now = built.person("dee"), timezone.now()
    major, isolated = built.type("major"), built.type("isolated")
    acts = (tried(lambda: types.archive(major, by=dee, at=now)), tried(lambda: types.make_default(isolated, by=dee)))
    said = behind(lambda: types.make_default(major, by=dee), *(acts[n] for n in order))
    default = IncidentType.objects.get(is_default=True)
    assert (default.slug, default.archived_at) == ("isolated", None)
    assert said == (["Make another type the default before you archive this one.", ""] if order[0] == 0 else ["", ""])


def test_rules_that_are_added_at_once_have_places_of_their_own(built: House) -> None:
    dee, type = built.person("dee"), built.type("major")

    def add(name: str) -> Callable[[], object]:
        return lambda: declare_rules.add({"name": name, "type": type}, by=dee, at=timezone.now())

    behind(add("one"), add("two"))
    assert sorted(DeclareRule.objects.values_list("position", flat=True)) == [0, 1]


def test_a_rule_that_is_deleted_meanwhile_is_said_to_be_with_what_was_typed(built: House) -> None:
    dee, type = built.person("dee"), built.type("major")
    dee.user, dee.role = User.objects.create(username="dee"), Role.MANAGER
    dee.save()
    rule = declare_rules.add({"name": "one", "type": type}, by=dee, at=timezone.now())
    address, browser = reverse("oncall-rule", args=[rule.pk]), Client(raise_request_exception=False)
    browser.force_login(dee.user)
    typed = {"name": "Checkout is down", "type": "major", "window_min": "30"}
    (answer,) = behind(lambda: declare_rules.remove(rule, by=dee), lambda: browser.post(address, typed))
    assert answer.status_code == 422
    assert "The rule “one” was deleted while you were editing." in answer.text
    assert 'value="Checkout is down"' in answer.text


def test_a_locked_row_may_still_be_referred_to() -> None:
    """``FOR UPDATE`` would make every reference to the row wait, since it is checked at commit, in any order."""
    modules = (path for folder in OURS for path in (ROOT / folder).rglob("*.py") if "tests" not in path.parts)
    calls = (call for path in modules for call in re.findall(r"select_for_update\(.*", path.read_text()))
    assert [call for call in calls if "no_key=True" not in call] == []


def test_a_group_that_is_let_go_as_it_is_changed_is_let_go(built: House) -> None:
    dee, at = built.person("dee"), timezone.now()
    rule = group_rules.add("support", sources=[], permanent=[dee], by=dee, at=at)
    assert rule is not None
    edit = partial(group_rules.edit, rule, sources=[], permanent=[built.person("ann"), dee], by=dee, at=at)
    remove = partial(group_rules.remove, GroupRule.objects.get(pk=rule.pk), by=dee, at=at)
    behind(edit, remove, remove)
    assert not GroupRule.objects.exists()


def test_whoever_waits_in_another_database_is_not_taken_for_one_of_ours(erasable: None, transactional_db: None) -> None:
    given = connection.settings_dict
    where = {"host": given["HOST"], "port": given["PORT"], "user": given["USER"], "password": given["PASSWORD"]}
    address = psycopg.conninfo.make_conninfo(dbname="postgres", **{name: one for name, one in where.items() if one})
    with psycopg.connect(address, autocommit=True) as holds, psycopg.connect(address, autocommit=True) as waits:
        holds.execute("SELECT pg_advisory_lock(46, 75)")
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(waits.execute, "SELECT pg_advisory_lock(46, 75)")
            until = time.monotonic() + 30
            while holds.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone() == (0,):
                assert time.monotonic() < until
            with connection.cursor() as cursor:
                cursor.execute(WAITING)
                assert cursor.fetchone() == (0,)
            holds.execute("SELECT pg_advisory_unlock(46, 75)")
            asked.result(30)
