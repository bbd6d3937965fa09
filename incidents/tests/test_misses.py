"""Codenames cannot be guessed: five misses per hour and person, whether or not the incident exists."""

from __future__ import annotations

import random
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import Entry
from incidents import lifecycle, visibility
from incidents.lifecycle import misses
from incidents.models import Incident, Miss, Person
from incidents.models.people import Role
from incidents.tests.conftest import Open
from incidents.tests.test_access import told

BECAUSE = "Our keys are on a public page and I can revoke them."


def broke(codename: str, who: Person, *, at: datetime) -> str:
    """Break glass, and return the outcome."""
    try:
        lifecycle.break_glass(codename, by=who, because=BECAUSE, at=at)
    except lifecycle.TooManyMisses:
        return "too many"
    except lifecycle.Refused:
        return "miss"
    return "in"


@pytest.mark.parametrize("seed", range(5))
def test_nobody_is_answered_more_than_five_misses_in_any_hour(
    secret: Incident, eve: Person, ben: Person, seed: int
) -> None:
    """Whatever is tried and when: no hour of anyone's contains six misses, and no further attempt is answered."""
    by_chance, at = random.Random(seed), timezone.now()
    missed: dict[int, list[datetime]] = {eve.pk: [], ben.pk: []}
    for turn in range(60):
        at += timedelta(minutes=by_chance.choice([0, 1, 3, 20]))
        who = by_chance.choice([eve, eve, eve, ben])
        before = [one for one in missed[who.pk] if one > at - timedelta(hours=1)]
        said = broke(by_chance.choice([f"quiet-heron-{turn}", "Ünsinn | x", " "]), who, at=at)
        assert said == ("too many" if len(before) >= 5 else "miss")
        if said == "miss":
            missed[who.pk].append(at)
    assert Miss.objects.count() == sum(map(len, missed.values()))
    assert Entry.objects.filter(kind="glass-broken", data__found=False).count() == Miss.objects.count()


def test_who_used_them_up_is_answered_alike_with_the_same_work(secret: Incident, eve: Person, browse: Open) -> None:
    for n in range(5):
        assert broke(f"quiet-heron-{n}", eve, at=timezone.now()) == "miss"
    client, answers, work = browse(eve), [], []
    client.get("/")  # the first request of a session records that it is used
    for name in (secret.codename, "quiet-heron"):
        with CaptureQueriesContext(connection) as queries:
            answers.append(told(client.post(f"/access/{name}/now", {"because": BECAUSE}), name))
        work.append([one["sql"][:60] for one in queries.captured_queries if "SAVEPOINT" not in one["sql"]])
    assert answers[0] == answers[1]
    assert answers[0][0] == 429
    assert re.search(r"Try again after \d\d:\d\d UTC\.", answers[0][2])
    assert work[0] == work[1]
    assert not visibility.may_see(eve, secret)


def test_a_hit_costs_nothing_and_an_hour_later_one_may_try_again(secret: Incident, eve: Person) -> None:
    at = timezone.now()
    for n in range(4):
        broke(f"quiet-heron-{n}", eve, at=at)
    assert broke(secret.codename, eve, at=at) == "in"
    assert broke("quiet-heron", eve, at=at) == "miss"
    assert broke("quiet-heron", eve, at=at + timedelta(minutes=59)) == "too many"
    assert broke("quiet-heron", eve, at=at + timedelta(minutes=61)) == "miss"


def test_asking_to_be_let_in_is_rarer_still_and_tells_managers_nothing(secret: Incident, eve: Person) -> None:
    """What managers are told would reveal to them, and to the person who asked, which incidents exist."""
    at, sent = timezone.now(), 0
    for minute in range(60):
        try:
            lifecycle.ask_in(f"quiet-{minute}", person=eve, because="x", at=at + timedelta(minutes=minute))
            sent += 1
        except lifecycle.Refused:
            pass
        lifecycle.carry(at=at + timedelta(minutes=minute))
    assert sent == 4
    assert not Miss.objects.exists()


def test_tries_at_once_are_all_counted(erasable: None, transactional_db: None) -> None:
    eve, at, ready = Person.objects.create(name="Eve"), timezone.now(), Barrier(8)

    def one(n: int) -> str:
        try:
            ready.wait(60)
            return broke(f"quiet-{n}", eve, at=at)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        said = sorted(pool.map(one, range(8)))
    assert said == ["miss"] * 5 + ["too many"] * 3


def test_each_miss_is_taken_on_by_one_worker_until_managers_were_told(db: None, eve: Person, ben: Person) -> None:
    at = timezone.now()
    broke("quiet-heron", eve, at=at)
    (mine,) = misses.untold(at=at)
    assert not misses.untold(at=at)
    assert misses.untold(at=at + timedelta(minutes=2)) == [mine], "who took it on was not heard of again"
    misses.over(mine)
    assert not misses.untold(at=at + timedelta(days=1))


def test_managers_read_it_on_the_page_of_roles_and_nobody_else_does(
    secret: Incident, eve: Person, ben: Person, browse: Open
) -> None:
    broke("quiet-heron", eve, at=timezone.now())
    Person.objects.filter(pk=ben.pk).update(role=Role.MANAGER)
    page = browse(ben).get("/people/roles").content.decode()
    assert "tried to break glass for “quiet-heron”" in page
    assert "quiet-heron" not in browse(eve).get("/people/roles").content.decode()
