"""What an incident's progress shows when someone changes something between two of the look's statements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

from django.db import connection

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.house import House
from workflows.reconcile import reconcile
from workflows.status import progress


class Meanwhile:
    """Do something once, after this many statements of a block."""

    def __init__(self, do: Callable[[], object], *, after: int) -> None:
        self._do, self._left, self.done = do, after, False

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        answer = execute(*arguments)
        self._left -= 1
        if not self._left:
            self.done = True
            self._do()
        return answer


def looked(incident: Incident, do: Callable[[], object], *, after: int) -> tuple[progress.Progress, bool]:
    """Look at an incident while ``do`` happens after this many statements; return whether there were that many."""
    meanwhile = Meanwhile(do, after=after)
    with connection.execute_wrapper(meanwhile):
        return progress.of(incident), meanwhile.done


def test_a_plan_that_is_made_at_any_moment_of_a_look_is_not_taken_for_carried_out(house: House) -> None:
    dee, major = house.person("dee"), house.type("major")
    for after in count(1):
        incident = lifecycle.declare(f"Lamp {after}", by=dee, at=house.now(), type=major)
        now, was_made = looked(incident, partial(reconcile.reconcile, incident.pk, at=house.now()), after=after)
        if not was_made:
            break
        assert not now.settled, f"planned after {after} statements, it says that all is done"
    assert after > 3
