"""A source of files may be unresponsive; evidence that is already stored is still read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest
from django.db import connection
from django.utils import timezone

from evidence import tasks
from evidence.intake import digesting, fetching
from evidence.models import Evidence
from evidence.models.evidence import State
from evidence.tests.conftest import FOLDED, Bring
from incidents.models import Incident, Person

TASKS: Final = 6  # of a worker, at once
SHARED: Final = tasks.FETCH_AT_ONCE + tasks.READ_AT_ONCE + TASKS + 1
PATIENCE_S: Final = 60


def until(done: Callable[[], bool]) -> bool:
    """Wait until it is done, for as long as a busy machine may take."""
    patience = time.monotonic() + PATIENCE_S
    while not (found := done()) and time.monotonic() < patience:
        time.sleep(0.1)
    return found


def read(*found: Evidence) -> int:
    return Evidence.objects.filter(pk__in=[one.pk for one in found], state=State.READY).count()


def test_what_is_stored_is_read_however_many_files_are_waited_for(
    erasable: None,
    transactional_db: None,
    incident: Incident,
    bring: Bring,
    ada: Person,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = threading.Event()

    def silent(_: Mapping[str, Any]) -> Iterator[bytes]:
        assert answers.wait(2 * PATIENCE_S)
        yield FOLDED

    monkeypatch.setitem(fetching._fetchers, "silent", silent)
    elsewhere = list[Evidence]()
    for n in range(SHARED):
        expected = fetching.expect(incident, ref=f"F{n}", title=f"N{n}", by=ada, via="silent", at=timezone.now())
        assert expected
        elsewhere.append(expected)
    stored = bring(incident, read=False)

    def task(one: Evidence) -> None:
        try:
            tasks.read(one.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(TASKS) as worker:
        for one in (*elsewhere, stored):
            worker.submit(task, one)
        try:
            assert until(lambda: read(stored) == 1)
            assert not read(*elsewhere)
        finally:
            answers.set()

        def all_read() -> bool:
            for one in digesting.waiting(at=timezone.now()):
                tasks.read(one)
            return read(*elsewhere) == SHARED

        assert until(all_read)
