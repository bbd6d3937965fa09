"""When many read at once, no one receives anything read before they asked, or anything that is not theirs."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections, transaction
from django.utils import timezone

from incidents import lifecycle, timeline
from incidents.live import shared_reading
from incidents.live.shared_reading import SharedReadings
from incidents.models import Incident, IncidentType, Person
from incidents.reading import catch_up_reading
from incidents.tests.conftest import Open, someone
from incidents.tests.shipped import bring

WAIT_S = 20


class Slow:
    """Something to read that takes as long as a test wants, and changes in the meantime."""

    def __init__(self, *, fails: bool = False) -> None:
        self.version, self.read_times, self.fails = 0, 0, fails
        self.begun, self.may_end = threading.Semaphore(0), threading.Event()

    def read(self) -> int:
        self.read_times += 1
        found, fails = self.version, self.fails
        self.begun.release()
        assert self.may_end.wait(WAIT_S)
        if fails:
            raise LookupError
        return found


def all_wait_behind(slow: Slow, readings: SharedReadings, several: ThreadPoolExecutor, *, count: int) -> list[int]:
    """Ask once, then ``count`` times during that reading and after a change; return what the later ones received."""
    first = several.submit(readings.of, "it", slow.read)
    assert slow.begun.acquire(timeout=WAIT_S)
    slow.version, slow.fails = 1, False
    asking = threading.Barrier(count + 1)

    def ask() -> int:
        asking.wait(WAIT_S)
        return readings.of("it", slow.read)

    later = [several.submit(ask) for _ in range(count)]
    asking.wait(WAIT_S)
    all_are_there(readings, count)
    slow.may_end.set()
    with suppress(LookupError):
        assert first.result(WAIT_S) == 0
    return [one.result(WAIT_S) for one in later]


def all_are_there(readings: SharedReadings, count: int) -> None:
    """Wait until this many wait for a reading that has not begun."""
    for _ in range(WAIT_S * 1000):
        if readings.waiting("it") >= count:
            return
        threading.Event().wait(0.001)
    pytest.fail("they do not wait for the next reading")


def test_who_asks_while_it_is_read_shares_the_next_reading() -> None:
    slow, readings = Slow(), SharedReadings()
    with ThreadPoolExecutor(9) as several:
        assert all_wait_behind(slow, readings, several, count=8) == [1] * 8
    assert slow.read_times == 2
    assert readings.of("it", lambda: 2) == 2, "nothing is kept"


def test_a_failed_reading_fails_who_made_it_alone() -> None:
    slow, readings = Slow(fails=True), SharedReadings()
    with ThreadPoolExecutor(4) as several:
        assert all_wait_behind(slow, readings, several, count=3) == [1] * 3

    def fail() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        readings.of("it", fail)
    assert readings.of("it", lambda: 3) == 3


def test_who_joined_a_reading_that_fails_reads_for_themselves() -> None:
    slow, readings, tries = Slow(), SharedReadings(), []

    def fails_once() -> int:
        tries.append(threading.current_thread())
        if len(tries) == 1:
            raise LookupError
        return 7

    with ThreadPoolExecutor(4) as several:
        first = several.submit(readings.of, "it", slow.read)
        assert slow.begun.acquire(timeout=WAIT_S)
        later = [several.submit(readings.of, "it", fails_once) for _ in range(3)]
        all_are_there(readings, 3)
        slow.may_end.set()
        assert first.result(WAIT_S) == 0
        outcomes = [one.exception(WAIT_S) or one.result() for one in later]
    assert sorted(map(str, outcomes)) == ["", "7", "7"]


def test_whatever_the_order_nobody_is_given_what_was_there_before_they_asked() -> None:
    readings, version, lock = SharedReadings(), [0], threading.Lock()

    def read() -> int:
        found = version[0]
        threading.Event().wait(0.0005)
        return found

    def act(n: int) -> bool:
        with lock:
            version[0] += n % 3 == 0
            mine = version[0]
        return readings.of("it", read) >= mine

    with ThreadPoolExecutor(12) as several:
        assert all(several.map(act, range(1500)))


def test_what_looks_different_is_read_apart(incident: Incident, ada: Person, ben: Person) -> None:
    """Readers who found another state of the incident, or use another time zone, share nothing."""

    def key(*, zone: str = "UTC", what: str = "page") -> object:
        with timezone.override(zone):
            return shared_reading.key_of(Incident.objects.select_related("lead").get(pk=incident.pk), what)

    keys = [key()]
    assert key() == keys[0], "the same incident, found twice"
    keys += [key(zone="Asia/Kathmandu"), key(what="panels")]
    lifecycle.update(incident, text="Rolling back", by=ada, at=timezone.now())
    keys.append(key())
    lifecycle.set_lead(incident, lead=ben, by=ada, at=timezone.now())
    keys.append(key())
    Person.objects.filter(pk=ben.pk).update(name="Benjamin")
    keys.append(key())
    assert len(set(keys)) == len(keys)


def test_inside_a_transaction_nothing_is_shared(incident: Incident, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SharedReadings, "of", pytest.fail)
    with transaction.atomic():
        assert shared_reading.of(incident, "page", lambda: 1) == 1


def test_entries_that_several_read_are_named_for_each_alone(
    incident: Incident, shipped: dict[str, IncidentType], ada: Person, eve: Person
) -> None:
    other = lifecycle.declare("Checkout is down", by=ada, at=timezone.now())
    lifecycle.duplicate(incident, of=other, by=ada, at=timezone.now())
    lifecycle.retype(other, to=shipped["security"], because="a leak", by=ada, at=timezone.now())
    together = catch_up_reading.read_with_latest(incident, limit=9)
    said = {
        who.name: [one.sentence for one in timeline.naming_in(together, reader=who) if one.event.kind == "duplicated"]
        for who in (ada, eve)
    }
    assert other.codename in said["Ada"][0]
    assert other.codename not in said["Eve"][0]
    assert all("names" not in one.event.data for one in together)


class Watched:
    """A public incident that many look at while its lead writes to it, and that then turns private."""

    def __init__(self, incident: Incident, browse: Open) -> None:
        self.incident, self.browse = incident, browse
        self.committed, self.is_closed, self.is_over = 0, False, threading.Event()

    def write(self, steps: int, *, by: Person, private: IncidentType) -> None:
        try:
            for n in range(1, steps + 1):
                if n == steps // 2:
                    lifecycle.retype(self.incident, to=private, because="a leak", by=by, at=timezone.now())
                    self.is_closed = True
                lifecycle.update(self.incident, text=f"Step {n}.", by=by, at=timezone.now())
                self.committed = n
        finally:
            self.is_over.set()
            connections.close_all()

    def look(self, who: Person, *, is_outside: bool) -> list[str]:
        client = self.browse(who)
        wrong = []
        try:
            while not self.is_over.is_set():
                step, was_closed = self.committed, self.is_closed
                answer = client.get(self.incident.get_absolute_url())
                wrong.append(_wrong(answer, step, has_access=not (was_closed and is_outside), may_lose=is_outside))
        finally:
            connections.close_all()
        return [one for one in wrong if one]


def _wrong(answer: Any, step: int, *, has_access: bool, may_lose: bool) -> str:
    """Return what is wrong with an answer to a reader who asked after this step was committed; empty if nothing is."""
    if not has_access:
        return "" if answer.status_code == 404 else "an outsider was shown it"
    if answer.status_code != 200:
        return "" if may_lose else f"answered {answer.status_code}"
    text = answer.content.decode()
    return "" if not step or any(f"Step {n}." in text for n in range(step, 99)) else f"step {step} is missing"


def test_pages_read_at_once_show_what_was_committed_before_each_and_only_to_who_may_see(
    erasable: None, transactional_db: None, browse: Open
) -> None:
    types, (ada, eve) = bring(), map(someone, ("Ada", "Eve"))
    made = lifecycle.declare("Checkout is slow", by=ada, at=timezone.now() - timedelta(hours=1))
    watched = Watched(made, browse)
    with ThreadPoolExecutor(8) as several:
        looking = [several.submit(watched.look, who, is_outside=who is eve) for who in (ada, eve) * 3]
        watched.write(24, by=ada, private=types["security"])
        assert [wrong for one in looking for wrong in one.result()] == []
