"""The summary of a review agrees with the incident's row about its end, in whatever order it ended and was reopened."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import product
from typing import Final

import pytest
from django.db import transaction

from incidents import lifecycle
from incidents.lifecycle import ending
from incidents.models import Incident, Person, Status
from reviews import reading
from reviews.composing import document

STEPS: Final = (lifecycle.mitigate, lifecycle.resolve, lifecycle.cancel, lifecycle.reopen)


@pytest.mark.parametrize("first", STEPS[:3])
def test_a_summary_says_what_holds(first: Callable[..., Incident], incident: Incident, ada: Person) -> None:
    for steps in product([first], STEPS, STEPS, STEPS[1:3]):
        with transaction.atomic():
            says_what_holds(incident, ada, steps)
            transaction.set_rollback(True)


def says_what_holds(incident: Incident, ada: Person, steps: tuple[Callable[..., Incident], ...]) -> None:
    at = incident.declared_at
    now = Incident.objects.get(pk=incident.pk)
    for step in steps:
        at += timedelta(hours=1)
        if ending.may_step(now, step.__name__):
            now = step(now, by=ada, at=at)
    (summary,) = (one for one in reading.of(now, reader=ada).parts if one.kind.key == "summary")
    said = {one.text: one.took_s for one in document.sentences(summary.passages) if one.took_s is not None}
    ended = {Status.RESOLVED: "resolved it", Status.CANCELLED: "cancelled it"}
    holds = {"mitigated it": now.mitigated_at, ended[Status(now.status)]: now.ended_at}
    assert said == {what: since(now, moment) for what, moment in holds.items() if moment is not None}


def since(incident: Incident, moment: datetime) -> float:
    """Return the seconds since the declaration."""
    return (moment - incident.declared_at).total_seconds()
