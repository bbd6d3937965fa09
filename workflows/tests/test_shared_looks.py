"""Looks that one process takes for all: each once per interval, however many processes ask."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from workflows.models import SharedLook
from workflows.status import shared_looks

EVERY_S = {"seal": 5.0, "members": 45.0, "remind": 3600.0}


def pass_by(seconds: float) -> None:
    """Advance the clock for due looks."""
    SharedLook.objects.update(due_at=F("due_at") - timedelta(seconds=seconds))


@pytest.mark.django_db
def test_each_is_taken_once_in_its_time() -> None:
    assert shared_looks.claim(EVERY_S) == [], "the first who asks writes them down"
    assert sorted(shared_looks.claim(EVERY_S)) == sorted(EVERY_S)
    taken = Counter[str]()
    for _ in range(90):
        pass_by(1)
        for _ in range(3):
            taken.update(shared_looks.claim(EVERY_S))
    assert 16 <= taken["seal"] <= 18
    assert (taken["members"], taken["remind"]) == (2, 0)


@pytest.mark.django_db
def test_of_others_looks_nothing_is_said() -> None:
    shared_looks.claim(EVERY_S)
    assert shared_looks.claim({"seal": 5.0}) == ["seal"]
    assert sorted(shared_looks.claim(EVERY_S)) == ["members", "remind"]


@pytest.mark.django_db
def test_a_clock_that_was_put_back_holds_nothing_up() -> None:
    shared_looks.claim(EVERY_S)
    SharedLook.objects.update(due_at=timezone.now() + timedelta(days=30))
    assert sorted(shared_looks.claim(EVERY_S)) == sorted(EVERY_S)
    assert shared_looks.claim(EVERY_S) == []


@pytest.mark.django_db
def test_while_nothing_is_due_it_costs_one_query(django_assert_num_queries: Any) -> None:
    shared_looks.claim(EVERY_S)
    shared_looks.claim(EVERY_S)
    with django_assert_num_queries(1):
        assert shared_looks.claim(EVERY_S) == []


def test_of_many_who_ask_at_once_one_has_it(erasable: None, transactional_db: None) -> None:
    shared_looks.claim(EVERY_S)

    def ask(_: int) -> list[str]:
        try:
            return shared_looks.claim(EVERY_S)
        finally:
            connection.close()

    for _ in range(5):
        with ThreadPoolExecutor(8) as several:
            taken = Counter(name for names in several.map(ask, range(16)) for name in names)
        assert taken == dict.fromkeys(EVERY_S, 1)
        pass_by(3600)
