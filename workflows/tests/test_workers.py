"""Whether any worker is running, as the plan's page says it and leads are told."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.claiming.shared_clock import SharedClock
from incidents.models import Incident, Participant, Person
from incidents.outages import breaker, database_watch
from workflows import ports
from workflows.models import WorkerProcess
from workflows.ports import VendorError
from workflows.status import workers
from workflows.status.workers import WorkersNow
from workflows.tests.test_views_progress import progress_page
from workflows.tests.test_views_retype import Open

NOW = timezone.now()


class Told:
    """A chat that remembers who was told."""

    def __init__(self) -> None:
        self.people: list[str] = []

    def tell(self, person: str, card: Any, *, mark: str) -> None:
        self.people.append(person)


def alive(kind: str, *, ago_s: float = 0, alone_since: datetime | None = None, name: str = "") -> None:
    at = timezone.now() - timedelta(seconds=ago_s)
    workers.say_alive(name or f"{kind}@host:1", kind=kind, alone_since=alone_since, at=at)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("seen", "gone"),
    [
        ([], False),
        ([("worker", 1)], False),
        ([("worker", 60), ("evidence", 1)], True),
        ([("worker", 60), ("worker", 1)], False),
        ([("worker", 60), ("worker", 90)], True),
    ],
)
def test_workers_are_gone_once_none_was_seen_for_a_while(seen: list[tuple[str, float]], *, gone: bool) -> None:
    for n, (kind, ago_s) in enumerate(seen):
        alive(kind, ago_s=ago_s, name=f"{kind}@host:{n}")
    since = workers.now(at=timezone.now()).gone_since
    assert (since is not None) is gone
    assert since is None or since == max(one.seen_at for one in WorkerProcess.objects.filter(kind="worker"))


@pytest.mark.django_db
def test_no_worker_is_taken_for_gone_before_it_can_report_again_after_an_outage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise people are told to page by hand as soon as the database is back."""
    clock = [1000.0]
    monkeypatch.setattr(breaker, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(database_watch, "database", breaker.Breaker(probe_s=0.5))
    monkeypatch.setattr(workers, "REPORTED_S", 30.0)
    alive("worker", ago_s=60)
    database_watch.database.failed()
    database_watch.database.worked()
    assert workers.now(at=timezone.now()) == WorkersNow()
    clock[0] += 30.0
    assert workers.now(at=timezone.now()).gone_since is not None


@pytest.mark.django_db
def test_what_a_process_said_last_counts_and_what_is_old_is_forgotten() -> None:
    alive("worker", ago_s=2 * 24 * 3600, name="worker@host:0")
    alive("beat", ago_s=60)  # a kind of process that an older version had
    alive("worker", alone_since=NOW)
    assert workers.now(at=timezone.now()) == WorkersNow(alone_since=NOW)
    alive("worker")
    workers.forget_old(at=timezone.now())
    assert workers.now(at=timezone.now()) == WorkersNow()
    assert WorkerProcess.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("ago_s", [60, 2 * 24 * 3600, 90 * 24 * 3600])
def test_that_the_workers_are_gone_is_known_for_as_long_as_they_are(ago_s: float) -> None:
    alive("worker", ago_s=ago_s + 50, name="worker@host:0")
    alive("worker", ago_s=ago_s, name="worker@host:1")
    last = WorkerProcess.objects.get(name="worker@host:1").seen_at
    alive("evidence", name="evidence@host:2")
    workers.forget_old(at=timezone.now())
    assert workers.now(at=timezone.now()).gone_since == last


def test_the_plan_says_who_carries_nothing_out(incident: Incident, ada: Person, browse: Open) -> None:
    def said() -> str:
        return browse(ada).get(progress_page(incident)).content.decode()

    alive("worker")
    assert "Nothing has been carried out" not in said()
    assert "broker" not in said()
    alive("worker", alone_since=NOW)
    assert "broker has not answered" in said()
    alive("worker", ago_s=60)
    assert "Nothing has been carried out" in said()


def test_whoever_leads_is_told_once(incident: Incident, ada: Person) -> None:
    Person.objects.filter(pk=ada.pk).update(chat_id="UADA")
    Incident.objects.filter(pk=incident.pk).update(lead=ada)
    chat = Told()
    with ports.using(chat=chat):  # type: ignore[arg-type]  # it has the one call that is needed
        for since in (NOW, NOW, NOW + timedelta(hours=1)):
            workers.tell_leads(since)
    assert chat.people == ["UADA", "UADA"]


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (VendorError("", code="connection_failed", method="m", retryable=True), 2),
        (VendorError("", code="ratelimited", method="m", retryable=True, retry_after=1.0), 2),
        (VendorError("", code="connection_lost", method="m", retryable=True, unknown=True), 1),
        (VendorError("", code="user_not_found", method="m"), 1),
    ],
)
def test_whoever_leads_and_was_surely_not_told_is_told_at_the_next_look(
    incident: Incident, ada: Person, error: VendorError, tries: int
) -> None:
    Person.objects.filter(pk=ada.pk).update(chat_id="UADA")
    Incident.objects.filter(pk=incident.pk).update(lead=ada)
    chat, faults = Told(), [error]
    tells = chat.tell

    def tell(person: str, card: Any, *, mark: str) -> None:
        tells(person, card, mark=mark)
        if faults:
            raise faults.pop()

    with ports.using(chat=chat), pytest.MonkeyPatch.context() as patch:  # type: ignore[arg-type]  # as above
        patch.setattr(chat, "tell", tell)
        for _ in range(3):
            workers.tell_leads(NOW)
    assert chat.people == ["UADA"] * tries
    assert workers.is_told(NOW)


@pytest.mark.parametrize("breaks", [0, 1, 2], ids=["as they are read", "at the first", "at the second"])
def test_whom_an_outage_of_the_database_kept_from_being_told_is_told_at_the_next_look(
    breaks: int, incident: Incident, ada: Person
) -> None:
    """Someone who may have been told is not told twice."""
    bob = Person.objects.create(name="Bob", chat_id="UBOB")
    Person.objects.filter(pk=ada.pk).update(chat_id="UADA")
    Incident.objects.filter(pk=incident.pk).update(lead=ada)
    lifecycle.set_lead(lifecycle.declare("Search", by=bob, at=NOW), lead=bob, by=bob, at=NOW)
    chat = Told()
    tells, sees = chat.tell, visibility.who_may_see

    def tell(person: str, card: Any, *, mark: str) -> None:
        tells(person, card, mark=mark)
        if len(chat.people) == breaks:
            raise OperationalError

    def see(incident: int, *, among: Collection[int]) -> set[int]:
        if not breaks:
            raise OperationalError
        return sees(incident, among=among)

    with ports.using(chat=chat):  # type: ignore[arg-type]  # it has the one call that is needed
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(chat, "tell", tell)
            patch.setattr(visibility, "who_may_see", see)
            with pytest.raises(OperationalError):
                workers.tell_leads(NOW)
        workers.tell_leads(NOW)
    assert sorted(chat.people) == ["UADA", "UBOB"]
    assert workers.is_told(NOW)


@pytest.mark.django_db
def test_who_lost_sight_of_what_they_led_is_not_told_that_it_goes_on(incident: Incident, ada: Person) -> None:
    """Removing the lead does not take the lead from them: they stay the lead until someone else is."""
    Person.objects.filter(pk=ada.pk).update(chat_id="UADA")
    Incident.objects.filter(pk=incident.pk).update(lead=ada, private=True)
    Participant.objects.filter(incident=incident, person=ada).update(left_at=NOW)
    chat = Told()
    with ports.using(chat=chat):  # type: ignore[arg-type]  # it has the one call that is needed
        workers.tell_leads(NOW)
        assert chat.people == []
        Participant.objects.filter(incident=incident, person=ada).update(left_at=None)
        workers.tell_leads(NOW + timedelta(hours=1))
    assert chat.people == ["UADA"]


@contextmanager
def host(off_s: float) -> Iterator[None]:
    """Be a process on a host whose clock is off, having asked the database for its time as every process does."""
    true_time, true_now = time.time, timezone.now
    with pytest.MonkeyPatch.context() as off:
        off.setattr(time, "time", lambda: true_time() + off_s)
        off.setattr(timezone, "now", lambda: true_now() + timedelta(seconds=off_s))
        own = SharedClock()
        own.measure()
        off.setattr(workers, "clock", own)
        yield


@pytest.mark.django_db
@pytest.mark.parametrize(("worker_s", "web_s"), [(3600, 0), (-3600, 0), (0, 3600), (0, -3600), (3600, -3600)])
def test_an_hour_between_two_hosts_neither_ends_a_worker_nor_keeps_a_gone_one(worker_s: float, web_s: float) -> None:
    with host(worker_s):
        alive("worker", name="worker@here")
        alive("evidence", ago_s=60, name="evidence@here")
        workers.forget_old(at=timezone.now())
    with host(web_s):
        assert workers.now(at=timezone.now()) == WorkersNow()
        assert workers.living(at=timezone.now()) == {"worker"}
    with host(worker_s):
        alive("worker", ago_s=60, name="worker@here")
    with host(web_s):
        gone_since = workers.now(at=timezone.now()).gone_since
    assert gone_since is not None
    assert timedelta(seconds=55) < timezone.now() - gone_since < timedelta(minutes=5)


def test_while_no_process_reads_evidence_nobody_is_told_that_it_is_being_read(
    incident: Incident, ada: Person, browse: Open
) -> None:
    client = browse(ada)
    client.post(
        f"/incidents/{incident.codename}/evidence/add", {"file": SimpleUploadedFile("cpu.folded", b"main;work 4")}
    )
    addresses = (f"/incidents/{incident.codename}/evidence/1/", f"/incidents/{incident.codename}/evidence/")
    for ago_s, says, unsaid in ((0, "Processing…", "Nothing has"), (300, "Nothing has", "Processing…")):
        alive("evidence", ago_s=ago_s)
        for address in addresses:
            page = client.get(address).content.decode()
            assert says in page
            assert unsaid not in page
