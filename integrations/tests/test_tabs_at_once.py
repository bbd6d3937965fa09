"""Two Home tabs of one person are drawn at once: whatever the moment, neither forgets what the other shows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from incidents import lifecycle
from integrations.slack.listeners import late_tabs
from integrations.slack.models import OnHome
from integrations.tests.house import House, house

AT_MOST = 20  # statements
STARTS_S = 1.0  # until the other tab has done its work, or waits


@pytest.fixture
def built(erasable: None, transactional_db: None) -> Iterator[House]:
    """A house in a database that others write to concurrently."""
    with house() as made:
        yield made


@pytest.mark.parametrize("is_known", [True, False])
def test_what_a_tab_shows_is_not_forgotten_by_another_without_it(built: House, is_known: bool) -> None:
    on_it, elsewhere = (
        lifecycle.declare(title, by=built.person("dee"), at=timezone.now(), type=built.type("ambiguous")).pk
        for title in ("one", "two")
    )
    known = [on_it, elsewhere] if is_known else []
    for statement in range(AT_MOST):
        OnHome.objects.all().delete()
        OnHome.objects.bulk_create(OnHome(chat_id="U1", incident_id=pk) for pk in known)
        other = Other(lambda: late_tabs.forget("U1", but={elsewhere}), before=statement)
        with connection.execute_wrapper(other):
            late_tabs.send("U1", {}, shown={on_it}, at=timezone.now())
        if statement >= other.statements:
            return
        other.thread.join()
        assert OnHome.objects.filter(chat_id="U1", incident=on_it, unconfirmed_until__isnull=False).exists(), statement


class Other:
    """Something that another process does before one of our statements."""

    def __init__(self, acts: Callable[[], None], *, before: int) -> None:
        self.thread = threading.Thread(target=self._act, args=(acts,))
        self.statements = 0
        self._before = before

    def __call__(self, execute: Callable[..., Any], *given: Any) -> Any:
        """Run a statement, after the other if it is its turn."""
        if self.statements == self._before:
            self.thread.start()
            self.thread.join(STARTS_S)
        self.statements += 1
        return execute(*given)

    def _act(self, acts: Callable[[], None]) -> None:
        try:
            acts()
        finally:
            connection.close()
